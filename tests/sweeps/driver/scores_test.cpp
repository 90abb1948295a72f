// Scores are added to what was trained: a new question trains nothing, and nothing is asked twice.

#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "tests/catch.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

const std::vector<std::string> kMoreTasks = {"--set", "eval.tasks=[\"embedded_questions\", \"embedded_last_words\"]"};

std::string trainings(const TinySweep& sweep) {
    return sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train'");
}
std::string scorings(const TinySweep& sweep) {
    return sweep.value("SELECT count(*) FROM attempt WHERE kind = 'score'");
}
std::string scored_tasks(const TinySweep& sweep) {
    return sweep.value("SELECT count(*) FROM score");
}

}  // namespace

TEST_CASE("A finished sweep that is asked for another task trains nothing, and scores as a fresh run does") {
    const TinySweep sweep(kPlain + kBothTechniques, "[1, 2]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    CHECK(trainings(sweep) == "4");
    CHECK(scored_tasks(sweep) == "8");  // validation and the questions
    const Ran more = sweep.run(kMoreTasks);
    CHECK(more.exit_code == kExitOk);
    CHECK_THAT(more.err, ContainsSubstring("0 already done, 4 to evaluate"));
    CHECK_THAT(sweep.deft("report", {"--full", "--root", sweep.root.string()}).out, ContainsSubstring("last words"));
    CHECK(trainings(sweep) == "4");
    CHECK(scorings(sweep) == "8");
    CHECK(scored_tasks(sweep) == "12");
    CHECK(sweep.value("SELECT count(*) FROM train_point p JOIN attempt a ON a.id = p.attempt_id"
                      " WHERE a.kind = 'score'") == "0");

    const TinySweep fresh(kPlain + kBothTechniques, "[1, 2]");
    REQUIRE(fresh.run(kMoreTasks).exit_code == kExitOk);
    CHECK(sweep.measured() == fresh.measured());

    // Fewer documents are another score, and the sweep as it was is still whole.
    CHECK(sweep.run({"--set", "eval.documents=5"}).exit_code == kExitOk);
    CHECK(scored_tasks(sweep) == "16");
    CHECK(trainings(sweep) == "4");
    const Ran again = sweep.run();
    CHECK_THAT(again.err, ContainsSubstring("4 already done"));
    CHECK(scored_tasks(sweep) == "16");
}

TEST_CASE("What is logged and kept is in no hash, and what is asked names two places of one training") {
    const TinySweep sweep(kPlain + "[axes.grid]\n\"eval.documents\" = [5, 10]\n");
    REQUIRE(sweep.run({"--slots", "cpu:2"}).exit_code == kExitOk);
    CHECK(trainings(sweep) == "1");
    CHECK(scored_tasks(sweep) == "3");  // validation is the same question
    CHECK(sweep.query("SELECT n FROM evaluation WHERE task = 'embedded_questions' GROUP BY n ORDER BY n", 1) ==
          std::vector<std::string>{"5", "10"});
    const Ran again = sweep.run({"--set", "log_every=7", "--set", "checkpoint.keep=1"});
    CHECK_THAT(again.err, ContainsSubstring("2 already done"));
    // Each place shows its own score.
    const std::string json = sweep.deft("report", {"--root", sweep.root.string(), "--format", "json", "tiny"}).out;
    const Json trials = Json::parse(json).at("trials");
    REQUIRE(trials.size() == 2);
    std::vector<std::int64_t> counts;
    for (const Json& trial : trials)
        for (const Json& score : trial.at("scores"))
            if (score.at("metric") == "acc") counts.push_back(score.at("n"));
    CHECK(counts == std::vector<std::int64_t>{5, 10});
    // Both want a checkpoint that is gone: it is trained again once.
    std::filesystem::remove_all(sweep.root / "checkpoints");
    CHECK(sweep.run(kMoreTasks).exit_code == kExitFailed);
    std::vector<std::string> retrain = kMoreTasks;
    retrain.push_back("--retrain");
    CHECK(sweep.run(retrain).exit_code == kExitOk);
    CHECK(trainings(sweep) == "2");
}

TEST_CASE("An evaluation that is killed or stopped keeps the tasks that it ended, and none is scored twice", "[slow]") {
    const TinySweep undisturbed(kPlain);
    const std::vector<std::string> slow = {"--set", "eval.documents=3000", kMoreTasks[0], kMoreTasks[1]};
    REQUIRE(undisturbed.run(slow).exit_code == kExitOk);
    for (const int signal : {SIGKILL, SIGTERM}) {
        const TinySweep sweep(kPlain);
        Process driver = sweep.start(slow);
        // Validation is scored, the questions are being asked.
        REQUIRE(wait_until([&] {
            for (const auto& journal : sweep.journals()) {
                const std::string text = read_file(journal);
                if (text.find("\"scored\"") != std::string::npos && text.find("\"ended\"") == std::string::npos)
                    return true;
            }
            return false;
        }));
        driver.signal(signal);
        const int code = driver.wait();
        CHECK(code == (signal == SIGKILL ? -SIGKILL : kExitWorkLeft));
        REQUIRE(wait_until([&] { return sweep.processes().empty(); }));
        REQUIRE(sweep.run(slow).exit_code == kExitOk);
        CHECK(sweep.measured() == undisturbed.measured());
        CHECK(trainings(sweep) == "1");
        CHECK(sweep.value("SELECT count(*) - count(DISTINCT score_key) FROM score") == "0");
        CHECK(scored_tasks(sweep) == "3");
    }
}

TEST_CASE("A trained model whose checkpoint is gone is trained again when asked to, and never in silence") {
    const TinySweep sweep(kPlain + kBothTechniques);
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::vector<std::string> before = sweep.measured();
    const std::string gone = sweep.value(
        "SELECT path FROM artifact a JOIN attempt_artifact r ON r.artifact_id = a.id JOIN attempt t"
        " ON t.id = r.attempt_id JOIN experiment e ON e.id = t.experiment_id WHERE e.label = 'plain'");
    std::filesystem::remove_all((sweep.root / gone).parent_path());
    const Ran ran = sweep.run(kMoreTasks);
    CHECK(ran.exit_code == kExitFailed);
    CHECK_THAT(ran.err,
               ContainsSubstring("plain/1: trained, but the checkpoint is gone") && ContainsSubstring("--retrain"));
    CHECK(trainings(sweep) == "2");
    CHECK(scored_tasks(sweep) == "5");  // that of the other model
    std::vector<std::string> retrain = kMoreTasks;
    retrain.push_back("--retrain");
    CHECK(sweep.run(retrain).exit_code == kExitOk);
    CHECK(trainings(sweep) == "3");
    CHECK(scored_tasks(sweep) == "6");  // the same bits, so that what was scored stays scored
    const std::vector<std::string> after = sweep.measured();
    CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
}

TEST_CASE("Scores that deft eval stores are shown beside those of the sweep") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::string root = sweep.root.string();
    const std::vector<std::string> words = {"plain/1",     "--root", root, "--tasks", "embedded_last_words",
                                            "--documents", "20"};
    REQUIRE(sweep.deft("eval", words).exit_code == kExitOk);
    CHECK(scored_tasks(sweep) == "2");  // nothing is stored without being asked to
    std::vector<std::string> store = words;
    store.push_back("--store");
    const Ran stored = sweep.deft("eval", store);
    CHECK(stored.exit_code == kExitOk);
    CHECK_THAT(stored.err, ContainsSubstring("Scores: 1 stored, 0 already known"));
    CHECK(scored_tasks(sweep) == "3");
    CHECK_THAT(sweep.deft("eval", store).err, ContainsSubstring("Scores: 0 stored, 1 already known"));
    // As the sweep itself would have scored it.
    const Ran asked = sweep.run(kMoreTasks);
    CHECK_THAT(asked.err, ContainsSubstring("1 already done"));
    const TinySweep fresh(kPlain);
    REQUIRE(fresh.run(kMoreTasks).exit_code == kExitOk);
    CHECK(sweep.measured() == fresh.measured());
    CHECK_THAT(sweep.deft("show", {"plain/1", "--root", root}).out,
               ContainsSubstring("embedded_last_words") && ContainsSubstring("by commit"));
    // Each document's result is kept, in the file's order.
    const Ran items =
        sweep.deft("show", {"plain/1", "--root", root, "--items", "embedded_questions", "--format", "csv"});
    CHECK(items.exit_code == kExitOk);
    std::istringstream lines(items.out);
    std::size_t documents = 0, right = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(std::to_string(documents) + ",")) ++documents;
        if (line.find(",yes,") != std::string::npos) ++right;
    }
    CHECK(documents == 20);
    CHECK(std::stod(sweep.value("SELECT v.value FROM evaluation v JOIN metric m ON m.id = v.metric_id"
                                " WHERE m.name = 'acc' AND v.task = 'embedded_questions'")) ==
          Approx(static_cast<double>(right) / 20));
    CHECK(sweep.deft("show", {"plain/1", "--root", root, "--items", "piqa"}).exit_code == kExitNothing);
    for (const std::vector<std::string>& json : {std::vector<std::string>{"--json"}, {"--format", "json"}}) {
        std::vector<std::string> arguments = {"plain/1", "--root", root};
        arguments.insert(arguments.end(), json.begin(), json.end());
        const Json shown = Json::parse(sweep.deft("show", arguments).out);
        CHECK(shown.at("schema") == "deft-trial/1");
        CHECK(shown.at("name") == "plain/1");
        CHECK(shown.at("state") == "ok");
        CHECK(shown.at("counts").at("steps") == shown.at("counts").at("planned_steps"));
        CHECK(shown.at("scores").size() > 1);
        CHECK(shown.at("configuration").at("seed") == 1);
    }
    CHECK(sweep.deft("show", {"plain/1", "--root", root, "--format", "csv"}).exit_code == kExitUsage);
}

TEST_CASE("deft eval --store refuses what is half trained, and puts in order what a killed driver left") {
    const TinySweep sweep(kPlain + long_budget(200'000));
    const std::string root = sweep.root.string();
    const std::vector<std::string> store = {"plain/1", "--root", root, "--tasks", "embedded_last_words", "--store"};
    REQUIRE(sweep.stop_while_training() == kExitWorkLeft);
    const Ran half = sweep.deft("eval", store);
    CHECK(half.exit_code == kExitNothing);
    CHECK_THAT(half.err, ContainsSubstring("has not been trained to its end"));
    CHECK(scored_tasks(sweep) == "0");
    REQUIRE(sweep.run().exit_code == kExitOk);
    {
        // As a driver leaves it that was killed while it scored.
        results_db::Connection connection(sweep.root / "results.db", results_db::Connection::Mode::write);
        connection.execute(
            "INSERT INTO attempt (uid, experiment_id, number, state, code_id, host_id, worker, argv_json,"
            " workdir, created_ms, kind) SELECT 'left', experiment_id, 90, 'running', code_id, host_id, 'w',"
            " '[]', 'runs/left.90', 1, 'score' FROM attempt LIMIT 1");
    }
    const Ran stored = sweep.deft("eval", store);
    CHECK(stored.exit_code == kExitOk);
    CHECK_THAT(stored.err,
               ContainsSubstring("left by a driver that was killed") && ContainsSubstring("Scores: 1 stored"));
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE state IN ('leased', 'running')") == "0");
    // A folder is not a trial, and the output names the trial.
    CHECK(sweep.deft("eval", {root, "--root", root, "--store"}).exit_code == kExitUsage);
}

TEST_CASE("A damaged checkpoint fails its evaluation, and --retrain trains it again") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == kExitOk);
    const auto model = sweep.root / sweep.value("SELECT path FROM artifact WHERE kind = 'checkpoint'");
    std::filesystem::resize_file(model, 100);
    CHECK(sweep.run(kMoreTasks).exit_code == kExitFailed);
    CHECK(sweep.says("is damaged"));
    CHECK(trainings(sweep) == "1");
    std::vector<std::string> retrain = kMoreTasks;
    retrain.push_back("--retrain");
    CHECK(sweep.run(retrain).exit_code == kExitOk);
    CHECK(trainings(sweep) == "2");
    CHECK(scored_tasks(sweep) == "3");
}

TEST_CASE("A task that changes after it was scored is another task") {
    const TinySweep sweep(kPlain);
    const auto task = [&](const char* text) {
        sweep.folder.write("mine.jsonl", R"({"q": "The sky is", "w": "blue"})"
                                         "\n"
                                         R"({"q": "Snow is", "w": "white"})"
                                         "\n");
        sweep.folder.write("mine.toml", std::string("name = \"mine\"\nversion = \"1\"\nkind = \"last_word\"\n"
                                                    "split = \"test\"\nmetrics = [\"acc\"]\n[records]\n"
                                                    "file = \"mine.jsonl\"\nformat = \"jsonl\"\n[prompt]\ntext = \"") +
                                            text + "\"\ntarget = \"{w}\"\n");
    };
    const std::vector<std::string> mine = {"--set", "eval.tasks=[\"mine\"]"};
    task("{q}");
    REQUIRE(sweep.run(mine).exit_code == kExitOk);
    CHECK(scored_tasks(sweep) == "2");
    CHECK_THAT(sweep.run(mine).err, ContainsSubstring("1 already done"));
    task("Well: {q}");
    CHECK_THAT(sweep.run(mine).err, ContainsSubstring("1 to evaluate"));
    CHECK(scored_tasks(sweep) == "3");
    CHECK(trainings(sweep) == "1");
}

TEST_CASE("A run that drains scores what it has trained, and starts nothing else") {
    const TinySweep sweep(kPlain + long_budget(200'000) + kBothTechniques + long_budget(200'000));
    Process driver = sweep.start();
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    driver.signal(SIGINT);
    CHECK(wait_until([&] { return sweep.says("draining"); }));
    ::kill(trial, SIGCONT);
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(trainings(sweep) == "1");
    CHECK(scored_tasks(sweep) == "2");
    CHECK(sweep.says("1 ok, 1 left"));
}

TEST_CASE("The best validated weights are what a sweep scores, shows and evaluates again") {
    // At so high a constant rate the validation loss does not fall to the end.
    const TinySweep sweep(kPlain);
    const std::vector<std::string> best = {"--set", "eval.every=\"1 steps\"",  "--set", "eval.select=\"best\"",
                                           "--set", "train.learning_rate=0.3", "--set", "train.decay=\"constant\""};
    std::vector<std::string> in_full = best;
    in_full.push_back("--full");
    const Ran ran = sweep.run(in_full);
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("Scored weights: the best validated ones of 1 trial") &&
                            ContainsSubstring(", 1 of them from before the end"));
    const std::string step = sweep.value("SELECT step FROM attempt_artifact WHERE role = 'best'");
    CHECK(step ==
          sweep.value("SELECT v.step FROM evaluation v JOIN metric m ON m.id = v.metric_id WHERE m.name = 'loss'"
                      " AND v.score_key = 'while training' ORDER BY v.value, v.step LIMIT 1"));
    CHECK(sweep.query("SELECT DISTINCT step FROM score", 1) == std::vector<std::string>{step});
    // Scored by itself, the model has the loss that it was chosen by.
    CHECK(sweep.value("SELECT count(DISTINCT v.value) FROM evaluation v JOIN metric m ON m.id = v.metric_id"
                      " WHERE m.name = 'loss' AND v.step = " +
                      step) == "1");
    const std::string root = sweep.root.string();
    CHECK_THAT(sweep.deft("show", {"plain/1", "--root", root}).out,
               ContainsSubstring("weights with the best validation, from step " + step));
    // Its database gone, the folder still says which weights are the result.
    const Ran again = sweep.deft("eval", {"plain/1", "--root", root, "--format", "json"});
    CHECK_THAT(again.out + again.err, ContainsSubstring("best_"));
    CHECK_THAT(sweep.run(best).err, ContainsSubstring("1 already done"));
    // Which weights are the result is part of a trial's identity; validations alone are not, and cannot be made up for.
    REQUIRE(sweep.run().exit_code == kExitOk);
    CHECK(trainings(sweep) == "2");
    const Ran late = sweep.run({"--set", "eval.every=\"4 times\""});
    CHECK(trainings(sweep) == "2");
    CHECK_THAT(late.err, ContainsSubstring("1 already done") &&
                             ContainsSubstring("1 trial was trained before eval.every asked for validations"));
    CHECK_FALSE(sweep.run({"--set", "eval.every=\"1 times\""}).err.find("trained before") != std::string::npos);
}
