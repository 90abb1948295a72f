// One cell back to what it rests on.

#include "reporting/analysis/trace/trace.h"

#include <cmath>

#include "base/json.h"
#include "reporting/analysis/results/configuration_diff.h"
#include "reporting/analysis/trace/origins.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;
using results_db::AttemptRow;

namespace {

// Trained by one commit, scored by another.
Trial traced(const char* recipe, const char* axes, std::int64_t seed, double loss) {
    Trial trial = a_finished_trial(recipe, axes, seed, loss);
    trial.code.git_sha = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    trial.code.binary_sha256 = "cafe";
    trial.code.compiler = "GNU 12.2.0";
    trial.code.build_type = "Release";
    trial.host.hostname = "node1";
    trial.host.cpu_model = "Example CPU";
    trial.host.extra_json = R"({"isa":["avx2","fma"]})";
    trial.dataset_name = "books";
    trial.dataset_sha256 = "d00d";
    trial.workdir = "runs/abc.1";
    trial.result =
        results_db::Checkpoint{trial.config_hash, "checkpoints/abc/model.safetensors", "5afe", 10, 99, "final"};
    AttemptRow attempt;
    attempt.number = 1;
    attempt.state = "ok";
    attempt.workdir = "runs/abc.1";
    attempt.counts = true;
    attempt.code = trial.code;
    attempt.host = trial.host;
    trial.attempt_rows = {attempt};
    trial.scores[0].score_key = "key0";
    trial.scores[0].git_sha = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    trial.scores[0].task_version = "1";
    return trial;
}

Results a_sweep() {
    Results sweep = a_sweep_of({traced("baseline", kFullBudget, 1, 3.0), traced("baseline", kFullBudget, 2, 3.2),
                                traced("CL", kHalfBudget, 1, 0.1), traced("CL", kHalfBudget, 2, 0.2)});
    sweep.spec_sha256 = "0123456789abcdef";
    for (Trial& trial : sweep.trials)
        set_configuration(trial, trial.recipe == "CL"
                                     ? R"({"model":{"seqlen":64},"train":{"budget_fraction":0.5},"seed":1})"
                                     : R"({"model":{"seqlen":64},"train":{"budget_fraction":1.0},"seed":2})");
    return sweep;
}

SweepAbout about() {
    SweepAbout about;
    about.baseline = "baseline";
    about.points = "sweeps/quick.toml --set a=1";
    return about;
}

TraceQuestion question(const char* row, const char* column) {
    return {row, column, "my runs", "again", "--slots gpu:1"};
}

}  // namespace

TEST_CASE("a traced cell has its exact value, each seed's, and the configuration's difference to the baseline") {
    const Results sweep = a_sweep();
    const Trace trace = trace_cell(sweep, about(), question("CL at 50%", "validation loss"));
    CHECK(trace.sweep == "quick@0123456789ab");
    CHECK(trace.row == "CL[budget_fraction=0.5]");
    CHECK(trace.column == "validation loss");
    CHECK(trace.unit == "nats/token");
    CHECK(trace.cell == "0.150 ± 0.071");
    CHECK(*trace.value == (0.1 + 0.2) / 2);
    CHECK(*trace.spread == Approx(std::sqrt(0.005)));
    CHECK_THAT(trace.how, ContainsSubstring("mean of 2 seeds"));
    REQUIRE(trace.trials.size() == 2);
    CHECK(*trace.trials[0].value == 0.1);
    CHECK(*trace.trials[1].value == 0.2);
    CHECK(trace.trials[1].name == "CL[budget_fraction=0.5]/2");
    REQUIRE(trace.trials[0].scores.size() == 1);
    CHECK(trace.baseline == "baseline[budget_fraction=1.0]");
    CHECK(trace.differences == std::vector<std::string>{"train.budget_fraction: 1.0 -> 0.5"});
    CHECK(trace.waits_for.empty());
    CHECK(trace_cell(sweep, about(), question("baseline", "loss")).baseline.empty());
    CHECK(exact_text(0.1) == "0.1");
    CHECK(exact_text(0.1 + 0.2) == "0.30000000000000004");
}

TEST_CASE("a traced cell's command repeats its row in a root of its own, and says what it rests on") {
    const Results sweep = a_sweep();
    const Trace trace = trace_cell(sweep, about(), question("CL at 50%", "validation loss"));
    REQUIRE(trace.repeat.size() == 3);
    CHECK(trace.repeat[0].line == "git checkout aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    CHECK(trace.repeat[1].line ==
          "./deft run sweeps/quick.toml --set a=1 --only CL --set train.budget_fraction=0.5 --seeds 1,2 --slots gpu:1 "
          "--root again");
    CHECK(shell_words(trace.repeat[2].line) == std::vector<std::string>{"./deft", "trace", "quick",
                                                                        "CL[budget_fraction=0.5]", "validation loss",
                                                                        "--root", "again"});
    CHECK_THAT(trace.commands.front().line, ContainsSubstring("--root 'my runs'"));
    const std::string text = render_trace(trace);
    for (const char* says :
         {"0.15000000000000002 nats/token", "runs/abc.1/log.txt", "5afe", "d00d", "scored by commit bbbbbbbbbbbb",
          "Scored by another commit than it was trained by: bbbbbbbbbbbb", "Example CPU with avx2, fma", "GNU 12.2.0",
          "step 10", "score key key0"}) {
        INFO(says);
        CHECK_THAT(text, ContainsSubstring(says));
    }
    CHECK(text.find("uncommitted") == std::string::npos);
}

TEST_CASE("a row that does not count, or is stale, is traced all the same, with its command") {
    Results sweep = a_sweep();
    for (Trial& trial : sweep.trials)
        if (trial.recipe == "CL") {
            trial.last_point->step = 100;
            trial.stale = "data: the training data has changed";
        }
    const Trace trace = trace_cell(sweep, about(), question("CL at 50%", "validation loss"));
    CHECK(trace.cell == "0.150 ± 0.071");
    CHECK_THAT(trace.flag, ContainsSubstring("fewer than 200"));
    CHECK(trace.stale == "data: the training data has changed");
    REQUIRE(trace.value);
    CHECK(*trace.value == (0.1 + 0.2) / 2);
    CHECK(*trace.spread == Approx(std::sqrt(0.005)));
    CHECK(trace.repeat.size() == 3);
    CHECK_THAT(render_trace(trace), ContainsSubstring("0.150 ± 0.071 † ¶") && ContainsSubstring("¶ stale") &&
                                        ContainsSubstring("0.15000000000000002 nats/token"));
    CHECK(Json::parse(render_trace_json(trace)).at("stale") == "data: the training data has changed");
}

TEST_CASE("what no repetition gives back is said") {
    Results sweep = a_sweep();
    const auto rests = [&](const char* column) {
        std::string all;
        for (const std::string& one : trace_cell(sweep, about(), question("CL at 50%", column)).rests_on)
            all += one + "\n";
        return all;
    };
    CHECK_THAT(rests("train time"), ContainsSubstring("read off a clock"));
    CHECK(rests("loss").find("clock") == std::string::npos);
    CHECK(rests("loss").find("ranks") == std::string::npos);
    for (std::size_t i : {2u, 3u}) {
        sweep.trials[i].code.dirty = true;
        sweep.trials[i].code.diff_sha256 = "d1ff";
        sweep.trials[i].attempt_rows[0].shape.ranks = 2;
        sweep.trials[i].attempt_rows[0].shape.device = "cuda";
    }
    CHECK_THAT(rests("loss"), ContainsSubstring("diff sha256 d1ff"));
    CHECK_THAT(rests("loss"), ContainsSubstring("Trained on 2 ranks"));
    CHECK_THAT(rests("loss"), ContainsSubstring("GPU"));
    AttemptRow earlier = sweep.trials[2].attempt_rows[0];
    earlier.shape.ranks = 4;
    sweep.trials[2].attempt_rows.push_back(earlier);
    CHECK_THAT(rests("loss"), ContainsSubstring("2, 4 ranks, one after the other"));
    sweep.trials[2].attempt_rows[1].counts = false;
    CHECK_THAT(rests("loss"), ContainsSubstring("Trained on 2 ranks"));
    SweepAbout unknown = about();
    unknown.points.clear();
    const Trace trace = trace_cell(sweep, unknown, question("CL at 50%", "loss"));
    CHECK(trace.repeat.empty());
    CHECK_THAT(trace.rests_on.back(), ContainsSubstring("No command repeats it"));
}

TEST_CASE("an empty cell says what it waits for") {
    Results sweep = a_sweep();
    Trial& failed = sweep.trials[2];
    failed.state = "failed";
    failed.fail_class = "oom";
    failed.error = "out of memory\nmore";
    Trial& pending = sweep.trials[3];
    pending.state = "pending";
    Trace trace = trace_cell(sweep, about(), question("CL at 50%", "validation loss"));
    CHECK_FALSE(trace.value);
    CHECK(trace.cell == "-");
    CHECK(trace.repeat.empty());
    CHECK(trace.rests_on.empty());
    CHECK(trace.waits_for == std::vector<std::string>{"CL[budget_fraction=0.5]/1: failed, oom: out of memory",
                                                      "CL[budget_fraction=0.5]/2: it has not been started"});
    CHECK_THAT(trace.commands.back().line, ContainsSubstring("--for-table quick@0123456789ab"));
    CHECK_THAT(render_trace(trace), ContainsSubstring("nothing is measured yet"));
    pending.state = "ok";  // half of it
    trace = trace_cell(sweep, about(), question("CL at 50%", "validation loss"));
    CHECK(*trace.value == 0.2);
    CHECK(trace.waits_for.size() == 1);
    CHECK_THAT(trace.how, ContainsSubstring("1 of 2 trials"));
    // A task that is asked for and not scored anywhere.
    for (Trial& trial : sweep.trials) trial.asked = {{"lambada", 0, "k", false}};
    trace = trace_cell(sweep, about(), question("baseline", "lambada"));
    CHECK_FALSE(trace.value);
    CHECK_THAT(trace.waits_for.front(), ContainsSubstring("not yet evaluated on lambada"));
    // One that this row was not asked for.
    sweep.trials[3].scores.push_back(a_score("lambada", "acc", 0.5));
    for (Trial& trial : sweep.trials) trial.asked.clear();
    trace = trace_cell(sweep, about(), question("baseline", "lambada acc"));
    CHECK_THAT(trace.waits_for.front(), ContainsSubstring("does not ask it for lambada"));
    // A failed trial's validation on the way does not count.
    sweep.trials[3].state = "failed";
    CHECK_FALSE(trace_cell(sweep, about(), question("CL at 50%", "validation loss")).value);
}

TEST_CASE("fine-tuning seeds are averaged within the pretraining seed they nest in") {
    Results sweep = a_sweep_of({traced("CL", "{}", 1, 1.0), traced("CL", "{}", 2, 2.0), traced("CL", "{}", 3, 6.0)});
    const char* seeds[] = {"1.1", "1.2", "2.1"};
    for (std::size_t i = 0; i < 3; ++i) sweep.trials[i].seeds = seeds[i];
    SweepAbout own = about();
    own.baseline = "CL";
    const Trace trace = trace_cell(sweep, own, question("CL", "validation loss"));
    CHECK(*trace.value == (1.5 + 6.0) / 2);
    CHECK_THAT(trace.how, ContainsSubstring("mean of 2 seeds, each first the mean"));
    CHECK_THAT(trace.repeat[1].line, ContainsSubstring("--seeds 1,2 "));
}

TEST_CASE("the trace as JSON has every number to the bit, and commands by argument") {
    Results sweep = a_sweep();
    set_configuration(sweep.trials[3], "no json");
    const Json json =
        parse_json(render_trace_json(trace_cell(sweep, about(), question("CL at 50%", "validation loss"))));
    CHECK(json.at("schema") == "deft-trace/1");
    CHECK(json.at("value").at("number").get<double>() == (0.1 + 0.2) / 2);
    CHECK(std::stod(json.at("value").at("digits").get<std::string>()) == (0.1 + 0.2) / 2);
    const Json& trial = json.at("trials").at(0);
    CHECK(trial.at("value").at("number") == 0.1);
    CHECK(trial.at("checkpoint").at("sha256") == "5afe");
    CHECK(trial.at("attempts").at(0).at("code").at("commit") == sweep.trials[2].code.git_sha);
    CHECK(trial.at("attempts").at(0).at("log") == "runs/abc.1/log.txt");
    CHECK(trial.at("scores").at(0).at("commit") == sweep.trials[2].scores[0].git_sha);
    CHECK(trial.at("configuration").at("train").at("budget_fraction") == 0.5);
    CHECK(json.at("trials").at(1).at("configuration").is_null());
    CHECK(json.at("repeat").at(1).at("argv").at(1) == "run");
    sweep.trials[2].scores[0].value = std::nan("");
    CHECK(parse_json(render_trace_json(trace_cell(sweep, about(), question("CL at 50%", "loss"))))
              .at("trials")
              .at(0)
              .at("value")
              .at("number") == "NaN");
}

TEST_CASE("configurations differ in the keys of a recipe") {
    const auto texts = [](const char* from, const char* to) {
        std::vector<std::string> all;
        for (const ConfigurationDifference& one : configuration_differences(from, to)) all.push_back(to_text(one));
        return all;
    };
    CHECK(texts(R"({"a":{"b":1,"c":[1]},"seed":1,"local":{"x":1},"start":{"trial":"p"}})",
                R"({"a":{"b":2,"c":[1],"d":{}},"seed":2,"local":{"x":2},"start":{"trial":"q"}})") ==
          std::vector<std::string>{"a.b: 1 -> 2", "a.d: none -> {}"});
    CHECK(texts(R"({"a":1})", R"({})") == std::vector<std::string>{"a: 1 -> none"});
    CHECK(texts("nothing", "{}").empty());
}

TEST_CASE("words come back from a line for a shell") {
    for (const std::string& word : {std::string("plain"), std::string("it's $x"), std::string(""), std::string("a b"),
                                    std::string("''"), std::string("back\\slash"), std::string("a[b=1,c=2]/1")}) {
        INFO(word);
        CHECK(shell_words("x " + shell_word(word) + "  y") == std::vector<std::string>{"x", word, "y"});
    }
    CHECK(shell_words("").empty());
    CHECK_THAT(test::refusal(ErrorKind::database, [] { shell_words("deft run 'x"); }), ContainsSubstring("not closed"));
}
