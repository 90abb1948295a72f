// A sweep's results as a text, and back.

#include <cmath>

#include "base/error.h"
#include "results_db/evidence/thinned.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "results_db/trial_name.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

std::vector<Merged> merge_into(const std::filesystem::path& file, const std::vector<NamedEvidence>& texts,
                               const std::string& suffix = {}) {
    Writer writer(file);
    return writer.merge(texts, suffix);
}

std::vector<std::string> names_of_trials(const StoredSweep& sweep) {
    std::vector<std::string> names;
    for (const StoredTrial& trial : sweep.trials) names.push_back(trial_name(trial));
    return names;
}

}  // namespace

TEST_CASE("evidence made twice has the same bytes, and so has that of a database which took it in") {
    const MeasuredSweep measured;
    const std::string text = measured.text();
    CHECK(measured.text() == text);
    const TemporaryFolder folder;
    const auto merged = merge_into(folder / "results.db", {{"a.jsonl", text}});
    REQUIRE(merged.size() == 1);
    CHECK(merged[0].trials == 4);
    CHECK(merged[0].places == 4);
    CHECK(merged[0].attempts == 8);
    CHECK(merged[0].verdicts == 1);
    CHECK(merged[0].known == 0);
    CHECK_FALSE(merged[0].is_joined);
    const Reader reader(folder / "results.db");
    // The command has this machine's root where it had another's.
    CHECK(reader.sweep("quick").command == "deft run quick.toml --scale proxy --seeds 1,2 --threads 2");
    CHECK(reader.evidence("quick").text == text);
    // Each line is a record and its kind, sorted within the kinds; a seed more adds lines.
    const MeasuredSweep more({.seeds = {1, 2, 3}});
    const Records before(text), after(more.text());
    CHECK(before.all.size() < after.all.size());
    CHECK(before.all.front().at("record") == "evidence");
}

TEST_CASE("what is merged is read as it was measured") {
    const MeasuredSweep measured;
    const TemporaryFolder folder;
    merge_into(folder / "results.db", {{"a.jsonl", measured.text()}}, " --root here");
    const Reader there(measured.file()), here(folder / "results.db");
    const StoredSweep a = there.sweep("quick"), b = here.sweep("quick");
    CHECK(b.command == "deft run quick.toml --scale proxy --seeds 1,2 --threads 2 --root here");
    CHECK(b.created_ms == a.created_ms);
    CHECK(b.claims_json == a.claims_json);
    CHECK(b.title == a.title);
    CHECK(names_of_trials(a) == names_of_trials(b));
    REQUIRE(b.trials.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        const StoredTrial &x = a.trials[i], &y = b.trials[i];
        CHECK(x.config_hash == y.config_hash);
        CHECK(x.label == y.label);
        CHECK(x.ordinal == y.ordinal);
        CHECK(x.state == y.state);
        CHECK(x.device_seconds == y.device_seconds);
        CHECK(x.last_point->loss == y.last_point->loss);
        CHECK(x.last_point->flops == y.last_point->flops);
        CHECK(x.parameters == y.parameters);
        CHECK(x.dataset_sha256 == y.dataset_sha256);
        CHECK(x.code.git_sha == y.code.git_sha);
        CHECK(x.code.diff_sha256 == y.code.diff_sha256);
        CHECK(y.host.hostname == "node7");
        CHECK(y.host.kernel == "6.9");
        CHECK(x.host.cpu_model == y.host.cpu_model);
        CHECK(x.unscored() == y.unscored());
        CHECK(y.unscored() == 0);
        REQUIRE(y.scores.size() == 2);
        for (std::size_t k = 0; k < 2; ++k) {
            CHECK(x.scores[k].measure == y.scores[k].measure);
            CHECK(x.scores[k].value == y.scores[k].value);
            CHECK(x.scores[k].n == y.scores[k].n);
            CHECK((x.scores[k].standard_error == y.scores[k].standard_error || std::isnan(y.scores[k].standard_error)));
            CHECK((x.scores[k].chance == y.scores[k].chance || std::isnan(y.scores[k].chance)));
            CHECK(x.scores[k].model_sha256 == y.scores[k].model_sha256);
            CHECK(x.scores[k].task_sha256 == y.scores[k].task_sha256);
            CHECK(x.scores[k].definition_sha256 == y.scores[k].definition_sha256);
            CHECK(x.scores[k].cut_share == y.scores[k].cut_share);
        }
        CHECK(std::isinf(y.scores[1].value));
        CHECK(y.result->sha256 == x.result->sha256);
        CHECK(y.result->role == "final");
        CHECK(y.is_merged());
        CHECK_FALSE(x.is_merged());
        REQUIRE(y.attempt_rows.size() == 1);
        CHECK(y.attempt_rows[0].shape.devices == 2);
        CHECK(y.attempt_rows[0].libraries_json == R"({"oneDNN":"2.6.3"})");
        CHECK(y.scoring_rows.at(0).error == "warned: cannot read x.txt: gone");
        CHECK(here.items(y.config_hash, "piqa", 0).empty());
        CHECK_FALSE(there.items(y.config_hash, "piqa", 0).empty());
        const auto curve = here.curve(y.config_hash);
        REQUIRE(curve.size() == 5);
        CHECK(std::isnan(curve[1].loss));
        CHECK(curve[4].loss == there.curve(y.config_hash)[4].loss);
        const auto loads = here.expert_loads(y.config_hash);
        REQUIRE(loads.size() == 5);
        CHECK(loads[0].load == there.expert_loads(y.config_hash)[0].load);
        CHECK(loads[0].entropy == 0.6);
    }
    const auto curves = here.curves(b), curves_there = there.curves(a);
    CHECK(curves.size() == 4);
    for (const auto& [hash, curve] : curves) {
        CHECK(curve.validation_losses == curves_there.at(hash).validation_losses);
        CHECK(curve.sampling.size() == 5);
        CHECK(curve.sampling[4].drawn == 20);
        CHECK(curve.epochs == std::vector<double>{1.5, 0.5});
    }
    const auto verdicts = here.verdicts();
    REQUIRE(verdicts.size() == 1);  // that on the claim alone
    CHECK(verdicts[0].effect == 0.125);
    CHECK(verdicts[0].text == "It holds.");
    CHECK_FALSE(verdicts[0].p_value.has_value());
}

TEST_CASE("evidence names no folder of the machine that it is from") {
    const std::string text = MeasuredSweep().text();
    for (const char* part : {"\"/", " /", "=/", "/home", "/proc", "my texts", "driver/0", "--root"})
        CHECK_THAT(text, !ContainsSubstring(part));
    CHECK_THAT(text, ContainsSubstring("node7") && ContainsSubstring("a.txt") && ContainsSubstring("x.txt"));
}

TEST_CASE("merging the same again changes nothing and says so") {
    const MeasuredSweep measured;
    const TemporaryFolder folder;
    merge_into(folder / "results.db", {{"a.jsonl", measured.text()}});
    const std::string before = dump_of(folder / "results.db");
    const Merged again = merge_into(folder / "results.db", {{"a.jsonl", measured.text()}}, " --root x").at(0);
    CHECK(again.is_nothing());
    CHECK(again.known == 8);
    CHECK(dump_of(folder / "results.db") == before);
    // Nor is the database that it is from changed.
    const std::string own = dump_of(measured.file());
    CHECK(merge_into(measured.file(), {{"a.jsonl", measured.text()}}).at(0).is_nothing());
    CHECK(dump_of(measured.file()) == own);
}

TEST_CASE("an attempt that is under way is left out, and the trial with it is merged later") {
    const MeasuredSweep measured({.has_live_attempt = true});
    const Evidence evidence = Reader(measured.file()).evidence("quick");
    CHECK(evidence.running == 4);
    CHECK(evidence.attempts == 8);
    CHECK(evidence.text.find("-3\"") == std::string::npos);
}

TEST_CASE("a price that was stated later comes along, and one that was not is kept") {
    const MeasuredSweep measured;
    const std::string without = measured.text();
    {
        Writer writer(measured.file());
        const SweepHead head = Reader(measured.file()).sweeps().front();
        writer.price_unpriced(head.id, {"cpu core", 86400000, 0.0123, "a price list"});
    }
    const std::string priced = measured.text();
    const TemporaryFolder folder;
    merge_into(folder / "results.db", {{"a.jsonl", without}});
    CHECK_FALSE(Reader(folder / "results.db").sweep("quick").trials[0].usd.has_value());
    merge_into(folder / "results.db", {{"a.jsonl", priced}});
    const StoredTrial trial = Reader(folder / "results.db").sweep("quick").trials[0];
    REQUIRE(trial.usd.has_value());
    CHECK(*trial.usd == 10.1 * 2 / 1 / 3600 * 0.0123);
    CHECK(trial.attempt_rows[0].price == Price{"cpu core", 86400000, 0.0123, "a price list"});
    merge_into(folder / "results.db", {{"a.jsonl", without}});
    CHECK(Reader(folder / "results.db").evidence("quick").text == priced);
}

TEST_CASE("long curves are thinned until all fits, and what does not fit without them is refused") {
    const MeasuredSweep measured({.points = 300});
    const Evidence whole = Reader(measured.file()).evidence("quick", 0);
    CHECK(whole.curve_points == 300);
    const Evidence thin = Reader(measured.file()).evidence("quick");
    CHECK(thin.text.size() <= kMostEvidenceBytes);
    CHECK(thin.curve_points == 64);
    CHECK_THAT(evidence_note(thin.text), ContainsSubstring("at most 64 points") && ContainsSubstring("thinned"));
    const Evidence thinner = Reader(measured.file()).evidence("quick", 30'000);
    CHECK(thinner.text.size() <= 30'000);
    CHECK(thinner.curve_points < 64);
    CHECK(thinner.curve_points >= 8);  // no thinner than it has to be
    const Reader merged(std::vector<NamedEvidence>{{"thin", thinner.text}});
    const StoredTrial trial = merged.sweep("quick").trials[0];
    CHECK(merged.curve(trial.config_hash).front().step == 1);
    CHECK(trial.last_point->step == 300);
    CHECK(merged.curves(merged.sweeps()[0]).at(trial.config_hash).validation_losses.back().first == 300);
    refusal(
        ErrorKind::usage, [&] { (void)Reader(measured.file()).evidence("quick", 5'000); }, "deft db merge");
    // Two thinned in different ways are of one attempt all the same.
    const TemporaryFolder folder;
    merge_into(folder / "results.db", {{"thinner", thinner.text}});
    const Merged fuller = merge_into(folder / "results.db", {{"thin", thin.text}}).at(0);
    CHECK(fuller.attempts == 0);
    CHECK(fuller.points > 0);
    CHECK(merge_into(folder / "results.db", {{"thin", thin.text}, {"thinner", thinner.text}}).at(1).is_nothing());
}

TEST_CASE("of an attempt that another went on from the last step that counts is kept") {
    const MeasuredSweep measured({.seeds = {1}, .budgets = {1.0}, .points = 300});
    {
        // The training ended after step 137, where the second attempt went on, and was killed before it logged a step.
        Connection connection(measured.file(), Connection::Mode::write);
        connection.execute("DELETE FROM attempt WHERE kind = 'score'");
        connection.execute(
            "INSERT INTO attempt (uid, experiment_id, number, state, code_id, host_id, worker, argv_json, workdir,"
            " created_ms, ended_ms, resume_step) SELECT 'next', experiment_id, 2, 'ok', code_id, host_id, '', '[]',"
            " 'runs/next', 1, 2, 137 FROM attempt");
    }
    const Reader there(measured.file()), here(std::vector<NamedEvidence>{{"x", there.evidence("quick", 20'000).text}});
    const StoredTrial a = there.sweep("quick").trials[0], b = here.sweep("quick").trials[0];
    REQUIRE(a.last_point->step == 137);
    CHECK(b.last_point->step == 137);
    CHECK(here.curve(b.config_hash).size() < there.curve(a.config_hash).size());
    // Where it restarted from step 0, nothing of the first one is shown.
    Connection(measured.file(), Connection::Mode::write).execute("UPDATE attempt SET resume_step = 0 WHERE number = 2");
    Records records(there.evidence("quick").text);
    CHECK(records.find("curve").at("train").at("step") == Json({1, 300}));
}

TEST_CASE("Evidence that git or an editor gave other line ends or a byte order mark is the same evidence") {
    const MeasuredSweep measured({.seeds = {1}});
    const std::string text = measured.text(), mark = "\xef\xbb\xbf";
    std::string crlf;
    for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
    for (const std::string& changed : {crlf, mark + text, mark + crlf, text + "\n", crlf + "\r\n",
                                       text.substr(0, text.size() - 1), crlf.substr(0, crlf.size() - 2)}) {
        const Reader merged(std::vector<NamedEvidence>{{"x.jsonl", changed}});
        CHECK(merged.evidence("quick", 0).text == text);
    }
}

TEST_CASE("thinned steps have the first, the last and the last that counts") {
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 1; step <= 101; ++step) steps.push_back(step * 10);
    CHECK(thinned(steps, 0) == steps);
    CHECK(thinned(steps, 101) == steps);
    CHECK(thinned(steps, 3) == std::vector<std::int64_t>{10, 510, 1010});
    CHECK(thinned(steps, 1) == std::vector<std::int64_t>{10, 1010});
    CHECK(thinned(steps, 2, 455) == std::vector<std::int64_t>{10, 450, 1010});
    CHECK(thinned(steps, 2, 450) == std::vector<std::int64_t>{10, 450, 1010});
    CHECK(thinned(steps, 2, 5) == std::vector<std::int64_t>{10, 1010});
    CHECK(thinned({}, 5).empty());
}
