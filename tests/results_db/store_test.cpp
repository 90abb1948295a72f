#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "results_db/connection.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "results_db/trial_name.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

TEST_CASE("rows of one content get one id") {
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    Code code = a_code();
    const auto first = writer.add_code(code);
    CHECK(writer.add_code(code) == first);
    code.dirty = true;
    code.diff = "--- a\n+++ b\n";
    code.diff_sha256 = "d1";
    CHECK(writer.add_code(code) != first);
    Host host = a_host();
    const auto node = writer.add_host(host);
    CHECK(writer.add_host(host) == node);
    // Properties that do not affect speed make no other host, and the row shows the last seen.
    host.kernel = "6.2";
    host.hostname = "container-7f3a";
    host.mem_bytes -= 300 << 20;
    CHECK(writer.add_host(host) == node);
    CHECK(Connection(folder / "results.db", Connection::Mode::read).text("SELECT kernel FROM host") == "6.2");
    for (const auto& change : std::vector<std::function<void(Host&)>>{
             [](Host& other) { other.cpu_model = "Another CPU"; }, [](Host& other) { other.cores = 8; },
             [](Host& other) { other.mem_bytes *= 2; }, [](Host& other) { other.extra_json = R"({"isa":["avx2"]})"; },
             [](Host& other) { other.extra_json = R"({"gpus":["H200"]})"; },
             [](Host& other) { other.extra_json = R"({"name":"the old one"})"; }}) {
        Host other = a_host();
        change(other);
        CHECK(writer.add_host(other) != node);
    }
    const auto trial_id = writer.add_trial(a_trial("aa"));
    CHECK(writer.add_trial(a_trial("aa")) == trial_id);
    CHECK(writer.add_trial(a_trial("ab")) != trial_id);
}

TEST_CASE("a diff is stored compressed, also where its hash alone came first") {
    const TemporaryFolder folder;
    {
        Writer writer(folder / "results.db");
        Code code = a_code();
        code.dirty = true;
        code.diff = std::string(100000, '+');
        code.diff_sha256 = "d1";
        Code hash_alone = code;  // as a benchmark leaves it
        hash_alone.diff.clear();
        const std::int64_t id = writer.add_code(hash_alone);
        CHECK(writer.add_code(code) == id);
        CHECK(writer.add_code(hash_alone) == id);
    }
    Connection connection(folder / "results.db", Connection::Mode::read);
    const auto bytes = connection.integer("SELECT length(diff_zst) FROM code");
    CHECK(bytes > 0);
    CHECK(bytes < 1000);
}

TEST_CASE("the newest spec of a sweep is shown, and using an older one makes it the newest") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    Writer writer(file);
    const auto one = writer.add_trial(a_trial("aa"));
    const auto two = writer.add_trial(a_trial("bb"));
    const Sweep older{"quick", "s1", "a", "[]"}, newer{"quick", "s2", "b", "[]"};
    const auto first = writer.add_sweep(older);
    writer.add_place(first, one, {0, "baseline", "{}"});
    const auto second = writer.add_sweep(newer);
    CHECK(second != first);
    writer.add_place(second, two, {0, "baseline", "{}"});
    writer.add_sweep({"other", "s3", "c", "[]"});

    const Reader reader(file);
    CHECK(reader.sweep("quick").spec_sha256 == "s2");
    CHECK(reader.sweep("quick").trials.at(0).config_hash == hash_of("bb"));
    CHECK(reader.sweep_names() == std::vector<std::string>{"other", "quick"});

    CHECK(writer.add_sweep(older) == first);
    CHECK(reader.sweep("quick").spec_sha256 == "s1");
    CHECK(reader.sweep("quick").trials.at(0).config_hash == hash_of("aa"));
    CHECK(reader.sweep_names() == std::vector<std::string>{"quick", "other"});
}

TEST_CASE("a sweep keeps the claims that it first ran under") {
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    Sweep sweep{"quick", "s1", "a", "[]"};
    sweep.claims_json = R"({"margin":1})";
    writer.add_sweep(sweep);
    sweep.claims_json = R"({"margin":2})";
    writer.add_sweep(sweep);
    CHECK(Reader(folder / "results.db").sweep("quick").claims_json == R"({"margin":1})");
    sweep.spec_sha256 = "s2";
    writer.add_sweep(sweep);
    CHECK(Reader(folder / "results.db").sweep("quick").claims_json == R"({"margin":2})");
    sweep.claims_json = "no json";
    CHECK_THROWS_AS(writer.add_sweep(sweep), Error);
}

TEST_CASE("an experiment may belong to two recipes of one sweep") {
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    const auto shared = writer.add_trial(a_trial("aa"));
    const auto sweep = writer.add_sweep({"quick", "s1", "", "[]"});
    writer.add_place(sweep, shared, {1, "ltd", "{}"});
    writer.add_place(sweep, shared, {0, "baseline", "{}"});
    writer.add_place(sweep, shared, {0, "baseline", "{}"});
    const Reader reader(folder / "results.db");
    const StoredSweep results = reader.sweep("quick");
    REQUIRE(results.trials.size() == 2);
    CHECK(results.trials[0].recipe == "baseline");
    CHECK(results.trials[1].recipe == "ltd");
    CHECK(reader.trial(hash_of("aa")).config_hash == hash_of("aa"));
}

TEST_CASE("an attempt goes from leased to running to its end, once") {
    const TemporaryFolder folder;
    OneAttempt one(folder / "results.db");
    Writer& writer = one.writer;
    const Reader reader(folder / "results.db");
    CHECK(reader.trial("baseline/1").state == "leased");
    writer.set_running(one.attempt, {123, 456, "boot"}, 5000);
    const auto live = writer.live_attempts();
    REQUIRE(live.size() == 1);
    CHECK(live[0].id == one.attempt);
    CHECK(live[0].config_hash == hash_of("cafe01"));
    CHECK(live[0].workdir == "runs/a1");
    CHECK(live[0].process.pid == 123);
    CHECK(live[0].process.start_ticks == 456);
    CHECK(live[0].process.boot_id == "boot");

    // One live attempt a trial.
    CHECK_THROWS_WITH(writer.begin_attempt(one.trial_id, one.code, one.host, an_attempt("a2", 2)),
                      ContainsSubstring("still live"));
    CHECK(writer.next_attempt_number(one.trial_id) == 2);
    CHECK_FALSE(writer.is_trained(one.trial_id));

    Outcome failed;
    failed.state = "failed";
    failed.fail_class = "nan";
    failed.exit_code = 1;
    failed.error = "loss is NaN at step 3";
    writer.end_attempt(one.attempt, failed);
    CHECK(writer.live_attempts().empty());
    CHECK_FALSE(writer.is_trained(one.trial_id));
    StoredTrial row = reader.trial(hash_of("cafe01").substr(0, 8));
    CHECK(row.state == "failed");
    CHECK(row.fail_class == "nan");
    CHECK(row.error == "loss is NaN at step 3");
    CHECK(row.started_ms == 5000);
    CHECK(row.ended_ms > 5000);

    // An attempt that has ended does not change.
    CHECK_THROWS_WITH(writer.end_attempt(one.attempt, ended_ok()), ContainsSubstring("already ended as 'failed'"));
    CHECK_THROWS_WITH(writer.end_attempt(one.attempt, failed), ContainsSubstring("already ended"));
    CHECK_THROWS_WITH(writer.set_running(one.attempt, {}, 1), ContainsSubstring("already ended"));
    CHECK_THROWS_AS(writer.end_attempt(999, ended_ok()), Error);

    const auto second = writer.begin_attempt(one.trial_id, one.code, one.host, an_attempt("a2", 2));
    writer.end_attempt(second, ended_ok());
    CHECK(writer.is_trained(one.trial_id));
    // An attempt that ended ok represents its trial, whatever comes later.
    const auto third = writer.begin_attempt(one.trial_id, one.code, one.host, an_attempt("a3", 3));
    writer.end_attempt(third, failed);
    row = reader.trial(hash_of("cafe01"));
    CHECK(row.state == "ok");
    CHECK(row.workdir == "runs/a2");
    CHECK(row.attempts == 3);
}

TEST_CASE("the database itself keeps ended attempts and experiments as they are") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    {
        OneAttempt one(file);
        one.writer.end_attempt(one.attempt, ended_ok());
    }
    Connection connection(file, Connection::Mode::write);
    CHECK_THROWS_WITH(connection.execute("UPDATE attempt SET state = 'failed'"), ContainsSubstring("already ended"));
    CHECK_THROWS_WITH(connection.execute("UPDATE experiment SET seed = 9"), ContainsSubstring("immutable"));
    // Two live attempts cannot be written past the program either.
    const char* live =
        "INSERT INTO attempt (uid, experiment_id, number, state, code_id, host_id, worker, argv_json, workdir,"
        " created_ms) VALUES (?1, 1, ?2, 'leased', 1, 1, 'w', '[]', 'r', 0)";
    Statement(connection, live).bind("x2", 2).run();
    CHECK_THROWS_AS(Statement(connection, live).bind("x3", 3).run(), Error);
}

TEST_CASE("text from outside is data, never SQL") {
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    const std::string evil = "x'); DROP TABLE attempt; --";
    const auto trial_id = writer.add_trial(a_trial(evil));
    const auto sweep = writer.add_sweep({evil, evil, evil, "[]"});
    writer.add_place(sweep, trial_id, {0, evil, "{}"});
    const Reader reader(folder / "results.db");
    CHECK(reader.sweep(evil).trials.at(0).label == evil + " label");
    CHECK(reader.trial(evil + "/1").config_hash == hash_of(evil));
    CHECK(writer.live_attempts().empty());
}

namespace {

// Begins an attempt at the one trial of `one`.
std::int64_t begin(OneAttempt& one, const std::string& uid, std::int64_t number, const Shape& shape,
                   const std::optional<Price>& price) {
    NewAttempt attempt = an_attempt(uid, number);
    attempt.shape = shape;
    attempt.price = price;
    return one.writer.begin_attempt(one.trial_id, one.code, one.host, attempt);
}

// Its journal says where it went on from; then it ends so.
void train(OneAttempt& one, const TemporaryFolder& folder, std::int64_t attempt, std::int64_t from, std::int64_t to,
           Outcome outcome, double own_seconds) {
    const auto journal = folder.path() / ("journal" + std::to_string(attempt));
    journal::Started started;
    started.resume_step = from;
    std::string text = line(started);
    for (std::int64_t step = from + 1; step <= to; ++step) text += line(a_point(step));
    write_text(journal, text);
    one.writer.ingest(attempt, journal);
    outcome.own_seconds = own_seconds;
    one.writer.end_attempt(attempt, outcome);
}

Outcome ended_as(const char* state, const char* fail_class) {
    Outcome outcome;
    outcome.state = state;
    outcome.fail_class = fail_class;
    return outcome;
}

}  // namespace

TEST_CASE("a trial costs what the attempts used that its result was built on, each at its own shape and price") {
    const TemporaryFolder folder;
    OneAttempt one(folder / "results.db");
    const Reader reader(folder / "results.db");
    const Price cheap{"cpu4", 1000, 0.10, "list A"}, dear{"cpu8", 2000, 0.40, "list B"};
    one.writer.end_attempt(one.attempt, ended_as("failed", "crash"));  // it never began to train
    // Stopped at step 10: 2 s on one thread. Killed at step 14, of which nothing was kept: 1 s on four threads. Went on
    // from step 10 to 12 and was stopped: 3 s on two threads, of a GPU's third to the end: 6 s.
    train(one, folder, begin(one, "a2", 2, {"cpu", 1, 1}, cheap), 0, 10, ended_as("preempted", "preempt"), 2);
    train(one, folder, begin(one, "a3", 3, {"cpu", 4, 1}, cheap), 10, 14, ended_as("failed", "crash"), 1);
    train(one, folder, begin(one, "a4", 4, {"cpu", 2, 1}, dear), 10, 12, ended_as("cancelled", "user"), 3);
    const auto last = begin(one, "a5", 5, {"cuda", 1, 3}, dear);
    CHECK(reader.trial(hash_of("cafe01")).device_seconds == Approx(2 + 6));
    train(one, folder, last, 12, 20, ended_ok(), 6);
    StoredTrial row = reader.trial(hash_of("cafe01"));
    CHECK(row.device_seconds == Approx(2 * 1 + 3 * 2 + 6.0 / 3));
    REQUIRE(row.usd);
    CHECK(*row.usd == Approx((2 * 0.10 + 3 * 2 * 0.40 + 2 * 0.40) / 3600));
    REQUIRE(row.attempt_rows.size() == 5);
    std::string counted;
    for (const AttemptRow& attempt : row.attempt_rows) counted += attempt.counts ? "1" : "0";
    CHECK(counted == "01011");
    CHECK(row.attempt_rows[4].shape.trials_per_device == 3);
    CHECK(row.attempt_rows[4].device_seconds == Approx(2.0));
    CHECK(row.attempt_rows[3].price == dear);
    // A later attempt that failed neither represents the trial nor adds to its cost.
    train(one, folder, begin(one, "a6", 6, {"cpu", 8, 1}, dear), 0, 3, ended_as("failed", "nan"), 100);
    row = reader.trial(hash_of("cafe01"));
    CHECK(row.device_seconds == Approx(10));
    CHECK_FALSE(row.attempt_rows[5].counts);
}

TEST_CASE("a price that a sweep states later is that of its unpriced attempts") {
    const TemporaryFolder folder;
    OneAttempt one(folder / "results.db");
    const Reader reader(folder / "results.db");
    Outcome outcome = ended_ok();
    outcome.own_seconds = 1800;
    one.writer.end_attempt(one.attempt, outcome);
    CHECK(reader.trial(hash_of("cafe01")).device_seconds == 1800);
    CHECK_FALSE(reader.trial(hash_of("cafe01")).usd.has_value());
    const auto other = one.writer.add_sweep({"other", "s2", "", "[]"});
    one.writer.price_unpriced(other, {"x", 1, 9, "not this sweep's"});
    CHECK_FALSE(reader.trial(hash_of("cafe01")).usd.has_value());
    CHECK_THROWS_AS(one.writer.price_unpriced(one.sweep, {"cpu4", 1, -1.0, "x"}), Error);
    // A price from a day after the attempt counts too: it states when the price was looked up.
    one.writer.price_unpriced(one.sweep, {"cpu4", 4102444800000, 0.20, "list A"});
    CHECK(*reader.trial(hash_of("cafe01")).usd == Approx(0.10));
    one.writer.price_unpriced(one.sweep, {"cpu4", 4102444800000, 0.80, "list B"});
    CHECK(*reader.trial(hash_of("cafe01")).usd == Approx(0.10));
    CHECK(reader.trial(hash_of("cafe01")).attempt_rows.at(0).price->source == "list A");
}

TEST_CASE("sweeps of one name are distinguished by their hashes") {
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    const auto add = [&](const char* sha256, const char* hash, const char* overrides) {
        const auto sweep = writer.add_sweep({"quick", sha256, "", overrides});
        writer.add_place(sweep, writer.add_trial(a_trial(hash)), {0, "baseline", "{}"});
    };
    add("abc1230000000", "aa", "[]");
    add("abd4560000000", "bb", R"([{"path":"train.learning_rate","value":0.001},{"path":"data.corpus","value":"x"}])");
    const Reader reader(folder / "results.db");
    CHECK(reader.sweep("quick").trials.at(0).config_hash == hash_of("bb"));
    CHECK(reader.sweep("quick@abc").trials.at(0).config_hash == hash_of("aa"));
    CHECK(reader.sweep("quick@abd4560000000").trials.at(0).config_hash == hash_of("bb"));
    CHECK(full_name(reader.sweep("quick@abc")) == "quick@abc123000000");
    CHECK(overrides_text(reader.sweep("quick@abc")).empty());
    CHECK(overrides_text(reader.sweep("quick")) == "train.learning_rate=0.001, data.corpus=x");
    CHECK(reader.sweep_names() == std::vector<std::string>{"quick"});
    CHECK(reader.sweeps().size() == 2);
    CHECK_THROWS_WITH(reader.sweep("quick@ab"),
                      ContainsSubstring("quick@abc123000000") && ContainsSubstring("train.learning_rate=0.001"));
    CHECK_THROWS_WITH(reader.sweep("quick@f"),
                      ContainsSubstring("no run of sweep quick") && ContainsSubstring("quick@abd456000000"));
    CHECK_THROWS_WITH(reader.sweep("quick@"), ContainsSubstring("no sweep 'quick@'"));
    CHECK_THROWS_WITH(reader.sweep("quikc@abc"), ContainsSubstring("did you mean quick?"));
}

TEST_CASE("a trial is found by hash prefix or by case and seed") {
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    const auto sweep = writer.add_sweep({"quick", "s1", "", "[]"});
    const auto add = [&](const char* hash, std::int64_t seed, const TrialPlace& place) {
        writer.add_place(sweep, writer.add_trial(a_trial(hash, seed)), place);
    };
    add("ab19", 1, {0, "baseline", R"({"train.budget_fraction":1.0})"});
    add("ab02", 1, {1, "baseline", R"({"train.budget_fraction":0.5})"});
    add("cd03", 2, {2, "ltd/half", "{}"});
    const Reader reader(folder / "results.db");
    REQUIRE(
        (hash_of("ab19").starts_with("3") && hash_of("ab02").starts_with("3") && !hash_of("cd03", 2).starts_with("3")));
    CHECK(reader.trial(hash_of("cd03", 2).substr(0, 4)).recipe == "ltd/half");
    CHECK(reader.trial("ltd/half/2").config_hash == hash_of("cd03", 2));
    CHECK(reader.trial(hash_of("ab02")).axes_json == R"({"train.budget_fraction":0.5})");
    CHECK(reader.trial(hash_of("ab02")).state == "pending");
    const auto kind = [&](const char* selector) {
        try {
            (void)reader.trial(selector);
        } catch (const Error& error) {
            return error.kind();
        }
        return ErrorKind::memory;
    };
    // Printed names are accepted, and shorter ones where they are unique.
    CHECK(trial_name(reader.trial(hash_of("ab02"))) == "baseline[budget_fraction=0.5]/1");
    CHECK(trial_name(reader.trial(hash_of("cd03", 2))) == "ltd/half/2");
    for (const char* name :
         {"baseline[budget_fraction=0.5]/1", "baseline[train.budget_fraction=.50]/1", "baseline[budget_fraction=0.5]"})
        CHECK(reader.trial(name).config_hash == hash_of("ab02"));
    CHECK(reader.trial("baseline[budget_fraction=1]/1").config_hash == hash_of("ab19"));
    CHECK(reader.trial("ltd/half").config_hash == hash_of("cd03", 2));
    for (const char* name : {"baseline[]/1", "baseline[budget_fraction]/1", "baseline[budget_fraction=0.5]/2",
                             "baseline[budget_fraction=0.5", "baseline[layers=2]/1", "base/1"})
        CHECK(kind(name) == ErrorKind::usage);
    CHECK(kind("baseline") == ErrorKind::usage);
    CHECK_THROWS_WITH(reader.trial("baseline/1"),
                      ContainsSubstring("baseline[budget_fraction=0.5]/1 (" + short_hash(hash_of("ab02")) + ")"));
    CHECK(kind("3") == ErrorKind::usage);
    CHECK(kind("baseline/1") == ErrorKind::usage);
    CHECK(kind("") == ErrorKind::usage);
    CHECK(kind("baseline/x") == ErrorKind::usage);
    CHECK(kind("ef") == ErrorKind::usage);
    CHECK(kind("%") == ErrorKind::usage);
    CHECK(kind("baseline/9") == ErrorKind::usage);
    CHECK_THROWS_WITH(reader.sweep("slow"), ContainsSubstring("no sweep 'slow'") && ContainsSubstring("quick"));
    CHECK_THROWS_WITH(reader.trial("ltd/haf/2"), ContainsSubstring("did you mean ltd/half/2?"));
    CHECK_THROWS_WITH(Reader(folder / "absent.db"), ContainsSubstring("no results"));
    CHECK_FALSE(std::filesystem::exists(folder / "absent.db"));
}

TEST_CASE("scores are of the newest trained model: another's bits leave its tasks unscored") {
    const TemporaryFolder folder;
    OneAttempt one(folder / "results.db");
    Writer& writer = one.writer;
    const auto ingest = [&](std::int64_t attempt, const std::string& lines) {
        write_file_atomically(folder / "journal.jsonl", lines);
        writer.ingest(attempt, folder / "journal.jsonl");
        writer.end_attempt(attempt, ended_ok());
    };
    const auto trained = [](const char* sha256) {
        return line(
            journal::Artifact{"checkpoint", "../../checkpoints/c/step_7/model.safetensors", sha256, 1, "final", 7});
    };
    const auto scored = [](const char* key, const char* sha256, double value) {
        journal::Evaluation score = a_score(7, value);
        score.score_key = key;
        journal::Scored done;
        done.score_key = key;
        done.task = "validation";
        done.model_sha256 = sha256;
        done.step = 7;
        return line(score) + line(done);
    };
    const auto begin = [&](const char* uid, std::int64_t number, Work work) {
        NewAttempt attempt = an_attempt(uid, number);
        attempt.work = work;
        return writer.begin_attempt(one.trial_id, one.code, one.host, attempt);
    };
    ingest(one.attempt, trained("first model"));
    CHECK(writer.unscored(one.trial_id, {"k1"}) == std::vector<std::string>{"k1"});
    ingest(begin("s1", 2, Work::score), scored("k1", "first model", 3.5));
    CHECK(writer.unscored(one.trial_id, {"k1", "k2"}) == std::vector<std::string>{"k2"});
    CHECK(writer.trainings(one.trial_id) == 1);

    // Scores of a task without a closing line do not count, whatever their attempt.
    const auto half = begin("s2", 3, Work::score);
    journal::Evaluation open = a_score(7, 9.5);
    open.score_key = "k1";
    ingest(half, line(open));
    const Reader reader(folder / "results.db");
    REQUIRE(reader.trial(hash_of("cafe01")).scores.size() == 1);
    CHECK(reader.trial(hash_of("cafe01")).scores[0].value == 3.5);
    CHECK(reader.trial(hash_of("cafe01")).attempts == 1);
    CHECK(reader.trial(hash_of("cafe01")).scoring_rows.size() == 2);

    ingest(begin("t2", 4, Work::train), trained("second model"));
    CHECK(writer.unscored(one.trial_id, {"k1"}) == std::vector<std::string>{"k1"});
    ingest(begin("s3", 5, Work::score), scored("k1", "second model", 2.5));
    CHECK(writer.unscored(one.trial_id, {"k1"}).empty());
    CHECK(reader.trial(hash_of("cafe01")).scores.at(0).value == 2.5);
    CHECK(reader.trial(hash_of("cafe01")).scores.at(0).model_sha256 == "second model");
}

TEST_CASE("an imported model's stated cost belongs to its place in a sweep and may be restated") {
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    const auto sweep = writer.add_sweep({"quick", "s1", "", "[]"}), other = writer.add_sweep({"slow", "s2", "", "[]"});
    const auto trial_id = writer.add_trial(a_trial("ab01"));
    ImportedModel model{"models/gpt2", "llm.c", "abc", 9e9, 2e18, 30, 44000, "its \"card\""};
    TrialPlace place{0, "gpt2", "{}"};
    place.imported = model;
    writer.add_place(sweep, trial_id, place);
    const auto attempt = writer.begin_attempt(trial_id, writer.add_code(a_code()), writer.add_host(a_host()), [] {
        NewAttempt priced = an_attempt("u1");
        priced.price = Price{"x", 0, 3600, "me"};
        return priced;
    }());
    writer.end_attempt(attempt, {"ok", "", 0, {}, "", 0, 1, 5, 0});
    const Reader reader(folder / "results.db");
    const StoredTrial trial = reader.sweep("quick").trials.at(0);
    CHECK(trial.imported == model);
    CHECK(trial.attempt_rows.at(0).usd.has_value());
    CHECK_FALSE(trial.usd.has_value());  // what storing it took
    CHECK(trial.device_seconds == 0);
    CHECK(reader.trial(hash_of("ab01")).imported == model);
    model.usd = 1;
    place.imported = model;
    writer.add_place(sweep, trial_id, place);
    CHECK(reader.sweep("quick").trials.at(0).imported == model);
    place.imported.reset();
    writer.add_place(other, trial_id, place);
    CHECK_FALSE(reader.sweep("slow").trials.at(0).imported.has_value());
    CHECK(reader.sweep("slow").trials.at(0).usd.has_value());
    CHECK(reader.sweep("quick").trials.at(0).imported == model);
}
