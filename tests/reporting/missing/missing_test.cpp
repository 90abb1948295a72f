// The runs that the empty cells of a table wait for.

#include "reporting/analysis/missing/missing_runs.h"

#include "base/json.h"
#include "reporting/analysis/trace/origins.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Trial done(const char* recipe, const char* axes, std::int64_t seed, double seconds, double usd, double flops) {
    Trial trial = a_finished_trial(recipe, axes, seed, 3.0);
    trial.train_seconds = seconds;
    trial.usd = usd;
    trial.last_point->flops = flops;
    trial.asked = {{"validation", 0, "k", true}, {"lambada", 0, "l", true}};
    trial.eval_seconds = 4;
    return trial;
}

Trial unfinished(const char* recipe, const char* axes, std::int64_t seed, const char* state, const char* fail = "") {
    Trial trial = a_finished_trial(recipe, axes, seed, 3.0);
    trial.state = state;
    trial.fail_class = fail;
    trial.last_point.reset();
    trial.scores.clear();
    trial.asked = {{"lambada", 0, "l", false}};
    return trial;
}

// Six seeds finished of three asked; of CL at half the data none, of LTD one task not scored.
Results a_sweep() {
    Trial unscored = done("LTD", kFullBudget, 1, 20, 0.2, 2e9);
    unscored.asked[1].is_scored = false;
    Results sweep = a_sweep_of(
        {done("baseline", kFullBudget, 1, 10, 0.1, 1e9), done("baseline", kFullBudget, 2, 10, 0.1, 1e9),
         unfinished("baseline", kFullBudget, 3, "failed", "oom"), unscored, done("LTD", kFullBudget, 2, 20, 0.2, 2e9),
         done("LTD", kFullBudget, 3, 20, 0.2, 2e9), unfinished("CL", kHalfBudget, 1, "pending"),
         unfinished("CL", kHalfBudget, 2, "failed", "nan"), unfinished("CL", kHalfBudget, 3, "pending")});
    sweep.spec_sha256 = "0123456789abcdef";
    return sweep;
}

MissingEstimates planned(double flops) {
    MissingEstimates estimates;
    estimates.root = "r";
    for (std::int64_t seed : {1, 2, 3})
        estimates.planned_flops[std::string("CL") + kHalfBudget + std::to_string(seed)] = flops;
    return estimates;
}

const MissingRun& run_named(const MissingRuns& missing, const std::string& name) {
    for (const MissingRun& run : missing.runs)
        if (run.name == name) return run;
    FAIL("no run is named " + name);
    return missing.runs.front();
}

}  // namespace

TEST_CASE("what a table waits for is named with its reason and its cost, cheapest first") {
    const Results sweep = a_sweep();
    const MissingRuns missing = missing_runs(sweep, {}, planned(1.5e9));
    REQUIRE(missing.runs.size() == 5);
    std::vector<std::string> names;
    for (const MissingRun& run : missing.runs) names.push_back(run.name);
    CHECK(names == std::vector<std::string>{"LTD[budget_fraction=1.0]/1", "baseline[budget_fraction=1.0]/3",
                                            "CL[budget_fraction=0.5]/1", "CL[budget_fraction=0.5]/2",
                                            "CL[budget_fraction=0.5]/3"});
    const MissingRun& scoring = missing.runs[0];
    CHECK(scoring.lack == Lack::scoring);
    CHECK(scoring.why == "lambada not evaluated");
    CHECK(*scoring.seconds == Approx(20.0 / 9));  // five scorings of 4 s are of nine tasks
    CHECK_FALSE(scoring.usd);
    const MissingRun& failed = missing.runs[1];
    CHECK(failed.lack == Lack::training);
    CHECK(failed.why == "failed, oom");
    CHECK(*failed.seconds == 10);  // of its row's other seeds
    CHECK(*failed.usd == 0.1);
    CHECK(*failed.flops == 1e9);
    const MissingRun& pending = missing.runs[2];  // 8e9 FLOP in 80 s for 0.8 dollars
    CHECK(*pending.flops == 1.5e9);
    CHECK(*pending.seconds == Approx(15));
    CHECK(*pending.usd == Approx(0.15));
    CHECK_THAT(missing.runs[3].why, ContainsSubstring("diverges again"));
    CHECK(shell_words(pending.command) == std::vector<std::string>{"./deft", "run", "--for-table", "quick@0123456789ab",
                                                                   "--only", "CL[budget_fraction=0.5]/1", "--root",
                                                                   "r"});
    CHECK(missing.command == "./deft run --for-table quick@0123456789ab --root r");
}

TEST_CASE("without a plan a run has no estimate, and follows those that have") {
    const MissingRuns missing = missing_runs(a_sweep(), {}, {"r", {}});
    CHECK_FALSE(missing.runs.back().seconds);
    CHECK_FALSE(missing.runs.back().flops);
    const Table table = missing_table(missing, a_sweep());
    CHECK(table.rows.size() == 5);
    CHECK_THAT(table.notes.front(), ContainsSubstring("Total: 5 runs, 1.00 GFLOP, about 12s"));
    CHECK_THAT(table.notes.front(), ContainsSubstring("3 without an estimate"));
    // Nothing has been measured: FLOPs alone put runs into order.
    Results fresh =
        a_sweep_of({unfinished("CL", kFullBudget, 1, "pending"), unfinished("CL", kHalfBudget, 1, "pending")});
    MissingEstimates estimates{"r", {{fresh.trials[0].config_hash, 2e9}, {fresh.trials[1].config_hash, 1e9}}};
    const MissingRuns by_flops = missing_runs(fresh, {}, estimates);
    CHECK(by_flops.runs.front().name == "CL[budget_fraction=0.5]/1");
    CHECK_FALSE(by_flops.runs.front().seconds);
}

TEST_CASE("a row of fewer than three seeds waits for those that a verdict needs") {
    Results sweep = a_sweep_of({done("baseline", "{}", 4, 10, 0.1, 1e9), done("LTD", "{}", 1, 20, 0.2, 2e9),
                                done("LTD", "{}", 2, 20, 0.2, 2e9), done("three", "{}", 1, 1, 0.1, 1e9),
                                done("three", "{}", 2, 1, 0.1, 1e9), done("three", "{}", 3, 1, 0.1, 1e9)});
    const MissingRuns missing = missing_runs(sweep, {}, {"r", {}});
    REQUIRE(missing.runs.size() == 2);
    const MissingRun& one = run_named(missing, "LTD: 1 more seed");
    CHECK(one.lack == Lack::seeds);
    CHECK(*one.seconds == 20);
    CHECK_THAT(one.command, ContainsSubstring("--only LTD --seeds 1,2,3 "));
    const MissingRun& two = run_named(missing, "baseline: 2 more seeds");
    CHECK(*two.seconds == 20);
    CHECK(*two.flops == 2e9);
    CHECK_THAT(two.command, ContainsSubstring("--seeds 4,1,2 "));
    CHECK(missing.command.empty());  // the sweep itself has nothing left
    // The first of nested seeds is the unit: four trials are two units, and a third takes two trials.
    Results nested = a_sweep_of({done("CL", "{}", 1, 10, 0.1, 1e9), done("CL", "{}", 2, 10, 0.1, 1e9),
                                 done("CL", "{}", 3, 10, 0.1, 1e9), done("CL", "{}", 4, 10, 0.1, 1e9)});
    const char* seeds[] = {"1.1", "1.2", "2.1", "2.2"};
    for (std::size_t i = 0; i < 4; ++i) nested.trials[i].seeds = seeds[i];
    CHECK(*run_named(missing_runs(nested, {}, {"r", {}}), "CL: 1 more seed").seconds == 20);
}

TEST_CASE("what is published and not in the sweep is an edit, not a run") {
    SweepAbout about;
    about.published = read_published_table(DEFT_SOURCE_DIR "/reporting/paper/data_efficiency_gpt_combined.toml");
    Results sweep = a_sweep_of(
        {done("baseline", kFullBudget, 1, 10, 0.1, 1e9), done("CL+random-LTD", kFullBudget, 1, 10, 0.1, 1e9)});
    const MissingRuns missing = missing_runs(sweep, about, {"r", {}});
    const MissingRun& row = run_named(missing, "row CL at 50%");
    CHECK(row.lack == Lack::edit);
    CHECK_THAT(row.command, ContainsSubstring("[[case]] named \"CL\""));
    CHECK_THAT(run_named(missing, "row baseline at 50%").command,
               ContainsSubstring("add 0.5 to train.budget_fraction"));
    CHECK_THAT(run_named(missing, "column average 10-shot").command, ContainsSubstring("with 10 shots"));
    for (const MissingRun& run : missing.runs) CHECK(run.name != "column average 0-shot");  // lambada is asked for
    CHECK(missing.runs.front().lack != Lack::edit);
    CHECK(missing.runs.back().lack == Lack::edit);
    const std::string fills = run_named(missing, "CL+random-LTD[budget_fraction=1.0]: 2 more seeds").fills;
    CHECK_THAT(fills, ContainsSubstring("all_of_the_data_is_best"));
    CHECK_THAT(fills, ContainsSubstring("all_of_the_data_improves"));
    CHECK(fills.find("half_of_the_time") == std::string::npos);
    const Table table = missing_table(missing, sweep);
    CHECK_THAT(table.notes.front(), ContainsSubstring("Total: 2 runs, 4.00 GFLOP, about 40s"));
    CHECK_THAT(table.notes.front(), ContainsSubstring("$0.40"));
}

TEST_CASE("a row that does not count waits for an edit") {
    Results sweep = a_sweep_of({a_finished_trial("base", "{}", 1, 3), a_finished_trial("short", "{}", 1, 3)});
    sweep.trials[1].last_point->step = 100;
    const MissingRuns missing = missing_runs(sweep, {}, {"r", {}});
    std::vector<std::string> edits;
    for (const MissingRun& run : missing.runs)
        if (run.lack == Lack::edit) edits.push_back(run.name + ": " + run.why);
    CHECK(edits == std::vector<std::string>{"short: it ran 100 steps, fewer than 200 (seed 1)"});
}

TEST_CASE("the missing runs as JSON") {
    const Json json = parse_json(render_missing_json(missing_runs(a_sweep(), {}, planned(1.5e9)), a_sweep()));
    CHECK(json.at("schema") == "deft-missing/1");
    CHECK(json.at("runs").size() == 5);
    CHECK(json.at("runs").at(0).at("to_do") == "score");
    CHECK(json.at("runs").at(0).at("usd").is_null());
    CHECK(json.at("runs").at(1).at("usd") == 0.1);
    CHECK(json.at("total").at("runs") == 5);
    CHECK(json.at("total").at("flops").get<double>() == Approx(1e9 + 3 * 1.5e9));
    CHECK_THAT(json.at("command").get<std::string>(), ContainsSubstring("--for-table"));
    const Results whole =
        a_sweep_of({done("x", "{}", 1, 1, 0.1, 1e9), done("x", "{}", 2, 1, 0.1, 1e9), done("x", "{}", 3, 1, 0.1, 1e9)});
    const MissingRuns none = missing_runs(whole, {}, {"r", {}});
    CHECK(none.runs.empty());
    CHECK(missing_table(none, whole).notes.front() == "Nothing is left to run.");
}

TEST_CASE("two places of a sweep that share a training wait for one of them") {
    Trial first = unfinished("a", "{}", 1, "pending"), second = unfinished("b", "{}", 1, "pending");
    second.config_hash = first.config_hash;
    const Results sweep = a_sweep_of({first, second, done("c", "{}", 1, 10, 0.1, 1e9)});
    const MissingRuns missing = missing_runs(sweep, {}, {"r", {{first.config_hash, 2e9}}});
    CHECK(*run_named(missing, "a/1").seconds == Approx(20));
    CHECK(*run_named(missing, "b/1").seconds == 0);
    CHECK_THAT(run_named(missing, "b/1").why, ContainsSubstring("shares the training"));
}
