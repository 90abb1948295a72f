// Cost breakdown of a trial's attempts, each at its own worker and price: worked out by hand.

#include "results_db/cost_parts.h"

#include "results_db/connection.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

constexpr std::int64_t kBegan = 1'000'000;  // ms, of every attempt

// The attempts of one trial, one after another.
struct Attempts {
    explicit Attempts(const TemporaryFolder& at) : folder(at), writer(at / "results.db") {
        code = writer.add_code(a_code());
        host = writer.add_host(a_host());
        trial_id = writer.add_trial(hashed_trial(1, 1.0));
        Sweep sweep{"quick", sha256("quick"), "name = \"quick\"\n", "[]"};
        sweep.title = "A quick sweep";
        sweep_id = writer.add_sweep(sweep);
        TrialPlace place{0, "plain", "{}"};
        place.seeds = "1";
        writer.add_place(sweep_id, trial_id, place);
    }

    std::int64_t begin(const Shape& shape, const std::optional<Price>& price, Work work = Work::train) {
        ++number;
        NewAttempt attempt = an_attempt("a" + std::to_string(number), number);
        attempt.shape = shape;
        attempt.price = price;
        attempt.work = work;
        if (shape.device == "cuda") attempt.slots_json = R"({"device":"cuda","gpu_name":"Example GPU"})";
        const std::int64_t id = writer.begin_attempt(trial_id, code, host, attempt);
        writer.set_running(id, {1, 1, "boot"}, kBegan);
        return id;
    }

    // An attempt that resumed from a step, with the training seconds spent by then.
    static std::string started(std::int64_t step, double seconds) {
        journal::Started line_of;
        line_of.time_ms = kBegan + 1000;
        line_of.resume_step = step;
        line_of.resume_seconds = seconds;
        return line(line_of);
    }
    static std::string trained(std::int64_t step, std::int64_t wall_ms) {
        journal::TrainPoint point = a_point(step);
        point.wall_ms = wall_ms;
        return line(point);
    }
    static std::string saved(std::int64_t step, double elapsed, double train, double eval, double waited) {
        return line(journal::Spent{kBegan + static_cast<std::int64_t>(1000 * elapsed), step, train, eval, waited});
    }
    static std::string ended(const char* state, double train, double eval, double waited) {
        journal::Ended end;
        end.state = state;
        end.train_seconds = train;
        end.eval_seconds = eval;
        end.waited_seconds = waited;
        return line(end);
    }

    void end(std::int64_t id, const std::string& journal, const char* state, std::optional<double> own,
             std::optional<double> held) {
        write_text(folder / "journal.jsonl", journal);
        writer.ingest(id, folder / "journal.jsonl");
        Outcome outcome;
        outcome.state = state;
        outcome.fail_class = state == std::string("ok") ? "" : "crash";
        outcome.own_seconds = own;
        outcome.held_seconds = held;
        outcome.ended_ms = kBegan + 60'000;
        writer.end_attempt(id, outcome);
    }

    StoredTrial trial() const { return Reader(folder / "results.db").sweep("quick").trials.at(0); }

    const TemporaryFolder& folder;
    Writer writer;
    std::int64_t code, host, trial_id, sweep_id, number = 0;
};

const Price kCheap{"a thread", 1000, 0.36, "list A"},
    kDear{"a GPU", 2000, 2.88, "list B"};  // 0.1 and 0.8 mUSD a second

// Killed on two threads after its checkpoints, where only that of step 10 was complete; killed again from there on
// four, before it saved; from there to step 16 on half of a GPU, where it was stopped; from there to the end on one
// thread; scored on two.
void five_attempts(Attempts& attempts) {
    attempts.end(attempts.begin({"cpu", 2, 1, 1}, kCheap),
                 Attempts::started(0, 0) + Attempts::trained(10, 6000) + Attempts::saved(10, 9, 6, 1, 0.5) +
                     Attempts::saved(12, 12, 7.5, 1, 0.5) + Attempts::trained(14, 9000),
                 "failed", 9, 20);
    attempts.end(attempts.begin({"cpu", 4, 1, 1}, kCheap), Attempts::started(10, 6) + Attempts::trained(12, 9000),
                 "failed", 3, 5);
    attempts.end(attempts.begin({"cuda", 1, 2, 1}, kDear),
                 Attempts::started(10, 6) + Attempts::trained(16, 11'000) + Attempts::saved(16, 7.9, 5, 0.25, 0.75) +
                     Attempts::ended("stopped", 11, 0.25, 0.75),
                 "cancelled", 5, 8);
    attempts.end(attempts.begin({"cpu", 1, 1, 1}, kCheap),
                 Attempts::started(16, 11) + Attempts::trained(20, 21'000) + Attempts::ended("ok", 21, 0, 0), "ok", 10,
                 12);
    attempts.end(attempts.begin({"cpu", 2, 1, 1}, kCheap, Work::score),
                 Attempts::started(20, 0) + Attempts::ended("ok", 0, 3, 0.5), "ok", 0, 4);
}

void check_five(const StoredTrial& trial) {
    const CostParts& parts = trial.parts;
    CHECK(parts.training == Approx(6 * 2 + 5 * 0.5 + 10 * 1));
    CHECK(parts.scoring == Approx(1 * 2 + 0.25 * 0.5 + 3 * 2));
    CHECK(parts.start_up == Approx(1.5 * 2 + 2 * 0.5 + 2 * 1 + 0.5 * 2));
    CHECK(parts.waiting == Approx(0.5 * 2 + 0.75 * 0.5 + 0.5 * 2));
    CHECK(parts.lost == Approx((20 - 9) * 2 + 5 * 4));
    CHECK(parts.whole() == Approx(20 * 2 + 5 * 4 + 8 * 0.5 + 12 * 1 + 4 * 2));
    REQUIRE(trial.usd_parts);
    CHECK(trial.usd_parts->training == Approx(22 * 1e-4 + 2.5 * 8e-4));
    CHECK(trial.usd_parts->scoring == Approx(8 * 1e-4 + 0.125 * 8e-4));
    CHECK(trial.usd_parts->start_up == Approx(6 * 1e-4 + 1 * 8e-4));
    CHECK(trial.usd_parts->waiting == Approx(2 * 1e-4 + 0.375 * 8e-4));
    CHECK(trial.usd_parts->lost == Approx(42 * 1e-4));
    CHECK(trial.usd_parts->whole() == Approx(80 * 1e-4 + 4 * 8e-4));
    CHECK(trial.device_seconds == Approx(24.5));
    REQUIRE(trial.usd);
    CHECK(*trial.usd == Approx(4.2e-3));
    CHECK(trial.unseen_ends == 0);
    REQUIRE(trial.attempt_rows.size() >= 4);
    CHECK(trial.attempt_rows[2].gpu_name == "Example GPU");
    CHECK(trial.attempt_rows[2].seconds->lost == 0);
    CHECK(trial.attempt_rows[1].seconds->lost == 5);
}

}  // namespace

TEST_CASE("every part of a trial's cost is the sum over its attempts, each at its own slot and price") {
    const TemporaryFolder folder;
    Attempts attempts(folder);
    five_attempts(attempts);
    check_five(attempts.trial());
    // The waits of two killed attempts after their checkpoints are unknown: they are lost with the attempts.
    CHECK(attempts.trial().unmeasured_waits == 2);
    // One more that runs costs nothing yet, and once it has failed all of it is lost.
    const std::int64_t again = attempts.begin({"cpu", 8, 1, 1}, kCheap);
    check_five(attempts.trial());
    attempts.end(again, Attempts::started(0, 0) + Attempts::trained(3, 1000) + Attempts::ended("failed", 1, 0.5, 0.25),
                 "failed", 1, 2);
    CHECK(attempts.trial().parts.lost == Approx(42 + 16));
    CHECK(attempts.trial().parts.training == Approx(24.5));
}

TEST_CASE("one attempt without a price leaves the trial's cost in dollars unknown, and its training's if it counts") {
    const TemporaryFolder folder;
    Attempts attempts(folder);
    five_attempts(attempts);
    attempts.end(attempts.begin({"cpu", 8, 1, 1}, std::nullopt), Attempts::started(0, 0), "failed", 0, 2);
    const StoredTrial trial = attempts.trial();
    CHECK_FALSE(trial.usd_parts);
    REQUIRE(trial.usd);
    CHECK(*trial.usd == Approx(4.2e-3));
    CHECK(trial.parts.whole() == Approx(84 + 16));
}

TEST_CASE("evidence carries what attempts cost, and its parts are the same where it is merged") {
    const TemporaryFolder folder, elsewhere, old_file;
    Attempts attempts(folder);
    five_attempts(attempts);
    const std::string text = Reader(folder / "results.db").evidence("quick").text;
    {
        Writer writer(elsewhere / "results.db");
        writer.merge({{"x.jsonl", text}});
        CHECK(writer.merge({{"x.jsonl", text}}).at(0).is_nothing());
    }
    const Reader merged(elsewhere / "results.db");
    check_five(merged.sweep("quick").trials.at(0));
    CHECK(merged.evidence("quick").text == text);

    // A text of schema 1 has none of it.
    Records records(text);
    CHECK(records.all[0].at("schema") == 2);
    records.all[0]["schema"] = 1;
    for (Json& record : records.all)
        for (const char* key : {"held_seconds", "waited_seconds", "spent", "gpu_name"})
            if (record.at("record") == "attempt") record.erase(key);
    Writer(old_file / "results.db").merge({{"old.jsonl", records.sealed()}});
    const StoredTrial old = Reader(old_file / "results.db").sweep("quick").trials.at(0);
    CHECK(old.parts.training == Approx(24.5));
    CHECK(old.unseen_ends == 5);
    CHECK(old.unmeasured_waits == 5);
    CHECK(old.parts.waiting == 0);
    CHECK(old.parts.start_up == 0);
    CHECK(old.parts.lost == Approx(3 * 2 + 3 * 4));  // of the training that their journals record
}

TEST_CASE("evidence whose cost is none is refused, and the database stays as it was") {
    const TemporaryFolder folder, elsewhere;
    Attempts attempts(folder);
    five_attempts(attempts);
    const std::string text = Reader(folder / "results.db").evidence("quick").text;
    { Writer writer(elsewhere / "results.db"); }
    const std::string before = dump_of(elsewhere / "results.db");
    const auto refused = [&](const std::function<void(Json&)>& change, const char* why) {
        Records records(text);
        change(records.find("attempt", [](const Json& one) { return one.contains("spent"); }));
        Writer writer(elsewhere / "results.db");
        CHECK_THAT(refusal(ErrorKind::database,
                           [&] {
                               writer.merge({{"x.jsonl", records.sealed()}});
                           }),
                   ContainsSubstring(why));
        CHECK(dump_of(elsewhere / "results.db") == before);
    };
    refused([](Json& one) { one["spent"][0]["train_seconds"] = -1.0; }, "'train_seconds' is less than 0");
    refused([](Json& one) { one["spent"][0]["elapsed_seconds"] = "9"; }, "'elapsed_seconds' is not a number");
    refused([](Json& one) { one["spent"][0].erase("waited_seconds"); }, "no 'waited_seconds'");
    refused([](Json& one) { one["spent"][0]["more"] = 1; }, "unknown key 'more'");
    refused([](Json& one) { one["spent"] = 3; }, "'spent' is not an array");
    refused([](Json& one) { one["spent"].push_back(one["spent"][0]); }, "'spent' has step 10 twice");
    refused([](Json& one) { one["held_seconds"] = -2.0; }, "'held_seconds' is less than 0");
    refused([](Json& one) { one["gpu_name"] = 3; }, "no text 'gpu_name'");
}

TEST_CASE("an attempt of a program that measured less costs what the driver saw of it") {
    const TemporaryFolder folder;
    Attempts attempts(folder);
    // The driver waited for it: it has an exit code, and 60 s lie between its start and its end.
    const std::int64_t id = attempts.begin({"cpu", 2, 1, 1}, std::nullopt);
    write_text(folder / "journal.jsonl",
               Attempts::started(0, 0) + Attempts::trained(20, 40'000) + Attempts::ended("ok", 40, 5, -1));
    attempts.writer.ingest(id, folder / "journal.jsonl");
    Outcome outcome = ended_ok();
    outcome.own_seconds = 40;
    outcome.ended_ms = kBegan + 60'000;
    attempts.writer.end_attempt(id, outcome);
    StoredTrial trial = attempts.trial();
    CHECK(trial.parts == CostParts{80, 10, 30, 0, 0});
    CHECK(trial.unmeasured_waits == 1);
    CHECK(trial.unseen_ends == 0);
    // The end of this evaluation was not recorded: only its tasks are known.
    const std::int64_t scoring = attempts.begin({"cpu", 2, 1, 1}, std::nullopt, Work::score);
    journal::Scored scored{"k", "piqa", std::string(64, 'a'), 0, 200, 20, std::string(64, 'b'), 1.5, 0.25, 0};
    attempts.end(scoring, Attempts::started(20, 0) + line(scored), "failed", 0, std::nullopt);
    trial = attempts.trial();
    CHECK(trial.parts == CostParts{80, 13, 30, 0, 0});
    CHECK(trial.unseen_ends == 1);
}

TEST_CASE("a journal line without a time is damage, and the others count") {
    const TemporaryFolder folder;
    Attempts attempts(folder);
    const std::int64_t id = attempts.begin({"cpu", 1, 1, 1}, std::nullopt);
    write_text(folder / "journal.jsonl", Attempts::started(0, 0) + line(journal::Spent{kBegan, 1, -1, 0, 0}) +
                                             line(journal::Spent{kBegan, 2, 0, NAN, 0}) +
                                             Attempts::saved(3, 2.5, 1, 0, 0));
    CHECK_THAT(refusal(ErrorKind::io, [&] { attempts.writer.ingest(id, folder / "journal.jsonl"); }),
               ContainsSubstring("an invalid time; 2 damaged lines passed over, 2 lines taken in"));
    Connection connection(folder / "results.db", Connection::Mode::read);
    CHECK(connection.integer("SELECT count(*) FROM spent") == 1);
    CHECK(connection.text("SELECT elapsed_seconds FROM spent") == "2.5");
    // The newest of many checkpoints are kept.
    std::string many;
    for (std::int64_t step = 4; step <= 40; ++step) many += Attempts::saved(step, 3, 1, 0, 0);
    write_text(folder / "journal.jsonl", test::read_text(folder / "journal.jsonl") + many);
    attempts.writer.ingest(id, folder / "journal.jsonl");
    CHECK(connection.integer("SELECT count(*) FROM spent") == 16);
    CHECK(connection.integer("SELECT min(step) FROM spent") == 25);
}

TEST_CASE("what an attempt's time went into adds up to the time that it held its slot") {
    AttemptTime time;
    time.is_ok = time.records_its_end = time.is_kept = true;
    time.held = 10;
    time.training = 6;
    time.scoring = 1;
    time.waiting = 0.5;
    CHECK(parts_of(time) == CostParts{6, 1, 2.5, 0.5, 0});
    // Stopped, and all that it had done was saved.
    time.is_ok = false;
    time.is_continued = true;
    time.kept = Spent{9, 6, 1, 0.5};
    CHECK(parts_of(time) == CostParts{6, 1, 2.5, 0.5, 0});
    // A later attempt went on from an earlier checkpoint than its last.
    time.kept = Spent{5, 3, 0.5, 0.5};
    CHECK(parts_of(time) == CostParts{3, 0.5, 1, 0.5, 5});
    time.held = {};
    CHECK(parts_of(time) == CostParts{3, 0.5, 1, 0.5, 3});
    // Killed, and nothing was written at the checkpoint: two seconds were logged after it.
    time.kept = {};
    time.records_its_end = false;
    time.behind_kept = 2;
    CHECK(parts_of(time) == CostParts{4, 0, 0, 0, 2});
    time.held = 10;
    CHECK(parts_of(time) == CostParts{4, 0, 0, 0, 6});
    time.is_kept = false;
    CHECK(parts_of(time) == CostParts{0, 0, 0, 0, 10});
    time.held = {};
    CHECK(parts_of(time) == CostParts{0, 0, 0, 0, 7});
    // A clock that was set back between two readings makes no time of its own.
    AttemptTime odd;
    odd.is_ok = odd.is_kept = true;
    odd.held = 1;
    odd.training = 2;
    CHECK(parts_of(odd) == CostParts{2, 0, 0, 0, 0});
}
