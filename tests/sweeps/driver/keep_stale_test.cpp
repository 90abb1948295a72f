// The stale results that a run measures again, and those that it keeps.

#include "sweeps/driver/keep_stale.h"

#include "base/json.h"
#include "tests/catch.h"
#include "tests/sweeps/files.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

const std::string kSweep =
    "name = \"x\"\nseeds = [1]\n"
    "[defaults.model]\nlayers = 2\nwidth = 16\nheads = 2\nseqlen = 16\n"
    "[defaults.data]\ncorpus = \"text\"\ntrain_files = [\"a.txt\"]\n"
    "[defaults.train]\nbatch_size = 4\nbudget_tokens = 4096\n"
    "[defaults.eval]\ntasks = [\"mine.toml\", \"embedded_last_words\"]\ndocuments = 5\n"
    "[[case]]\nname = \"plain\"\n";

constexpr const char* kTask =
    "name = \"mine\"\nversion = \"1\"\nkind = \"multiple_choice\"\nsplit = \"test\"\nmetrics = [\"acc\"]\n"
    "[records]\ngenerator = \"embedded_questions\"\ncount = 5\norder = \"file\"\n"
    "[prompt]\ntext = \"{context}\"\nchoice_list = \"choices\"\ngold = \"gold\"\n";

// A sweep's files, and what the database would say of it when all is trained and scored.
struct Measured {
    test::Folder folder;
    std::string toml;
    results_db::StoredSweep results;
    std::string also_trained, not_asked_for;

    explicit Measured(const std::string& sweep = kSweep) : toml(sweep) {
        write_corpus("a");
        folder.write("mine.toml", kTask);
        for (const Trial& trial : trials()) {
            results_db::StoredTrial stored;
            stored.stage = trial.stage;
            stored.recipe = trial.recipe;
            stored.axes_json = trial.axes.dump();
            stored.seed = trial.seed;
            stored.state = "ok";
            stored.config_hash = trial.config_hash;
            Json config = experiments::to_json(trial.config);
            config.erase("eval");
            stored.config_json = canonical_json(config);
            for (const auto& request : trial.scores)
                stored.asked.push_back({request.task, request.shots, request.key, true});
            results.trials.push_back(stored);
        }
    }
    void write_corpus(const std::string& text) const {
        std::string all;
        for (int i = 0; i < 2000; ++i) all += text + (i % 10 == 9 ? "\n" : " ");
        folder.write("a.txt", all);
    }
    void edit_task() const {
        std::string text = kTask;
        text.replace(text.find("{context}"), 9, "{context}.");
        folder.write("mine.toml", text);
    }
    std::vector<Trial> trials() const { return expand(load_spec(folder.write("s.toml", toml), {})); }
    PlannedReruns planned(const std::string& rerun_if) const {
        const std::vector<Trial> all = trials();
        std::vector<char> selected;
        for (const Trial& trial : all) selected.push_back(trial.recipe != not_asked_for);
        const auto config_of = [&](const std::string& hash) {
            for (const results_db::StoredTrial& trial : results.trials)
                if (trial.config_hash == hash) return Json::parse(trial.config_json);
            return Json();
        };
        return plan_reruns(
            all, {results, [&](const std::string& hash) { return hash == also_trained; }, config_of, selected},
            parse_rerun_if(rerun_if));
    }
    // As if a program of another epoch had trained the trial.
    void age(std::size_t trial) {
        Json config = Json::parse(results.trials[trial].config_json);
        config["result_epoch"] = config["result_epoch"].get<int>() - 1;
        results.trials[trial].config_json = canonical_json(config);
        results.trials[trial].config_hash = "of an older epoch";
    }
};

}  // namespace

TEST_CASE("What --rerun-if takes: kinds in any order, or never") {
    CHECK(parse_rerun_if("never") == RerunIf{false, false, false});
    CHECK(parse_rerun_if("eval,code") == RerunIf{true, false, true});
    CHECK(parse_rerun_if("data") == RerunIf{false, true, false});
    CHECK(parse_rerun_if("code,data,eval") == RerunIf{});
    for (const char* wrong : {"", ",", "epoch", "never,code", "code data", "Data"})
        CHECK_THAT(test::refusal(ErrorKind::usage, [&] { parse_rerun_if(wrong); }), ContainsSubstring("--rerun-if"));
    CHECK_THAT(test::refusal(ErrorKind::usage, [] { parse_rerun_if("code,date"); }),
               ContainsSubstring("'date' is none of code, data, eval"));
}

TEST_CASE("Unchanged results are planned as before, whatever --rerun-if names") {
    const Measured measured;
    for (const char* rerun_if : {"never", "code,data,eval"}) {
        const PlannedReruns planned = measured.planned(rerun_if);
        REQUIRE(planned.trials.size() == 1);
        CHECK(planned.trials[0].config_hash == measured.results.trials[0].config_hash);
        CHECK(planned.trials[0].score_keys() == measured.trials()[0].score_keys());
        CHECK_FALSE(planned.trials[0].is_left);
        CHECK(planned.said.empty());
    }
}

TEST_CASE("A training whose data has changed is new work, or keeps the data of then") {
    const Measured measured;
    measured.write_corpus("b");
    const std::string before = measured.results.trials[0].config_hash, after = measured.trials()[0].config_hash;
    REQUIRE(before != after);
    for (const char* rerun_if : {"data", "code,data,eval", "code,data"}) {
        const PlannedReruns planned = measured.planned(rerun_if);
        CHECK(planned.trials[0].config_hash == after);
        REQUIRE(planned.said.size() == 1);
        CHECK_THAT(planned.said[0],
                   ContainsSubstring("plain/1: trained again, for data: the training data has changed"));
    }
    for (const char* rerun_if : {"never", "eval", "code", "code,eval"}) {
        const PlannedReruns planned = measured.planned(rerun_if);
        const Trial& trial = planned.trials[0];
        CHECK(trial.config_hash == before);
        CHECK(trial.config_hash == experiments::config_hash(trial.config));
        CHECK_FALSE(trial.is_left);
        CHECK(trial.score_keys() == measured.trials()[0].score_keys());
        REQUIRE(planned.said.size() == 1);
        CHECK_THAT(planned.said[0], ContainsSubstring("the result is kept, though stale by data"));
    }
}

TEST_CASE("A score whose task has changed is asked again, or keeps its key; others keep theirs") {
    const Measured measured;
    measured.edit_task();
    const std::vector<std::string> after = measured.trials()[0].score_keys();
    std::vector<std::string> before;
    for (const auto& asked : measured.results.trials[0].asked) before.push_back(asked.key);
    REQUIRE(after.size() == 3);
    REQUIRE(before[1] != after[1]);
    REQUIRE(before[2] == after[2]);
    for (const char* rerun_if : {"eval", "data,eval"}) {
        CHECK(measured.planned(rerun_if).trials[0].score_keys() == after);
        CHECK_THAT(measured.planned(rerun_if).said.at(0), ContainsSubstring("mine.toml is scored again"));
        CHECK(measured.planned(rerun_if).said.size() == 1);
    }
    for (const char* rerun_if : {"never", "code,data"}) {
        CHECK(measured.planned(rerun_if).trials[0].score_keys() == before);
        CHECK_THAT(measured.planned(rerun_if).said.at(0), ContainsSubstring("the score of mine.toml is kept"));
    }
    // A score that was never measured is not stale.
    Measured unscored;
    unscored.results.trials[0].asked[1].is_scored = false;
    unscored.edit_task();
    CHECK(unscored.planned("never").trials[0].score_keys() == unscored.trials()[0].score_keys());
    // A model that is trained again has no score yet.
    measured.write_corpus("b");
    CHECK(measured.planned("data").trials[0].score_keys() == after);
    // One that is kept is scored again by itself.
    CHECK(measured.planned("eval").trials[0].config_hash == measured.results.trials[0].config_hash);
    CHECK(measured.planned("eval").trials[0].score_keys() == after);
    CHECK(measured.planned("never").trials[0].score_keys() == before);
}

TEST_CASE("A training of another result epoch is new work, or is left as a whole") {
    Measured measured;
    const std::string now = measured.results.trials[0].config_hash;
    measured.age(0);
    for (const char* rerun_if : {"code", "code,data,eval"}) {
        const PlannedReruns planned = measured.planned(rerun_if);
        CHECK(planned.trials[0].config_hash == now);
        CHECK_FALSE(planned.trials[0].is_left);
        CHECK_THAT(planned.said.at(0), ContainsSubstring("trained again, for code: result epoch"));
    }
    for (const char* rerun_if : {"never", "data,eval"}) CHECK(measured.planned(rerun_if).trials[0].is_left);
    // Where its data has changed too, either reason will do.
    measured.write_corpus("b");
    CHECK_FALSE(measured.planned("data").trials[0].is_left);
    CHECK(measured.planned("eval").trials[0].is_left);
}

TEST_CASE("A result that is there already is taken, and none is kept in its place") {
    Measured measured;
    measured.write_corpus("b");
    measured.also_trained = measured.trials()[0].config_hash;
    for (const char* rerun_if : {"never", "data"}) {
        CHECK(measured.planned(rerun_if).trials[0].config_hash == measured.also_trained);
        CHECK(measured.planned(rerun_if).said.empty());
    }
}

TEST_CASE("Recipes that the run leaves out get no note, and are planned as the others") {
    Measured measured;
    measured.write_corpus("b");
    measured.not_asked_for = "plain";
    CHECK(measured.planned("never").said.empty());
    CHECK(measured.planned("never").trials[0].config_hash == measured.results.trials[0].config_hash);
}

TEST_CASE("A trial that never finished training has no result to keep") {
    Measured measured;
    measured.write_corpus("b");
    for (const char* state : {"failed", "pending", "running"}) {
        measured.results.trials[0].state = state;
        const PlannedReruns planned = measured.planned("never");
        CHECK(planned.trials[0].config_hash == measured.trials()[0].config_hash);
        CHECK_FALSE(planned.trials[0].is_left);
        CHECK(planned.said.empty());
    }
    measured.results.trials.clear();
    CHECK(measured.planned("never").trials[0].config_hash == measured.trials()[0].config_hash);
}

TEST_CASE("A trial that starts from another is kept or retrained together with it") {
    const std::string staged = kSweep +
                               "[stage.first]\n[stage.second]\nfrom = \"first\"\n"
                               "[stage.second.train]\nbudget_tokens = 2048\n";
    Measured measured(staged);
    REQUIRE(measured.results.trials.size() == 2);
    measured.write_corpus("b");
    const PlannedReruns kept = measured.planned("eval"), fresh = measured.planned("data");
    for (const std::size_t i : {0, 1}) {
        CHECK(kept.trials[i].config_hash == measured.results.trials[i].config_hash);
        CHECK(fresh.trials[i].config_hash == measured.trials()[i].config_hash);
    }
    CHECK(kept.trials[1].config.start->trial == kept.trials[0].config_hash);
    CHECK(kept.trials[1].config.start->variant == kept.trials[0].variant_hash);
    // The second was never trained, and what it would start from is of another epoch and stays.
    Measured older(staged);
    older.age(0);
    older.results.trials.pop_back();
    const PlannedReruns left = older.planned("never");
    CHECK(left.trials[0].is_left);
    CHECK(left.trials[1].is_left);
    CHECK_FALSE(older.planned("code").trials[1].is_left);
}
