// A number of a table to the command that gives it again, and a table's empty cells to the runs that fill them.

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "results_db/reader.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::kPlain;
using test::Ran;
using test::TinySweep;

namespace {

const std::string kTwoBudgets = "[axes.grid]\n\"train.budget_fraction\" = [1.0, 0.5]\n";

Json traced(const TinySweep& sweep, const std::string& root, const std::string& row, const std::string& column) {
    const Ran ran = sweep.deft("trace", {"tiny", row, column, "--root", root, "--format", "json", "--repeat-root",
                                         (sweep.folder.path / "again").string()});
    REQUIRE(ran.exit_code == kExitOk);
    return parse_json(ran.out);
}

// Runs the command that a trace prints to train its row again, unchanged.
void repeat(const TinySweep& sweep, const Json& trace) {
    std::vector<std::string> argv;
    for (const Json& command : trace.at("repeat"))  // the command that checks out the commit may come before it
        if (command.at("argv").at(1) == "run") argv = command.at("argv").get<std::vector<std::string>>();
    REQUIRE(argv.size() > 2);
    argv.front() = DEFT_PROGRAM;
    test::Process process(argv, sweep.out(), sweep.err());
    REQUIRE(process.wait() == kExitOk);
}

Json missing(const TinySweep& sweep) {
    const Ran ran = sweep.deft("report", {"--missing", "--root", sweep.root.string(), "--format", "json"});
    REQUIRE(ran.exit_code == kExitOk);
    return parse_json(ran.out);
}

}  // namespace

TEST_CASE("a traced cell's command, run in another root, gives the same number to the bit", "[slow]") {
    const TinySweep sweep(
        kPlain + test::kBothTechniques + kTwoBudgets + "[report]\npaper = \"data_efficiency_gpt_combined\"\n",
        "[1, 2]");
    // Long enough that every row counts as measured.
    REQUIRE(sweep.run({"--set", "train.learning_rate=0.01", "--set", "train.budget_tokens=40960"}).exit_code ==
            kExitOk);
    const std::string root = sweep.root.string();
    // The claims of its table at the time of the run are kept with it.
    CHECK_THAT(results_db::Reader(sweep.root / "results.db").sweep("tiny").claims_json,
               ContainsSubstring(R"("amount":0.51,"claim":"half_of_the_time")"));
    const Json first = traced(sweep, root, "both at 50%", "validation loss");
    repeat(sweep, first);
    const std::string again = (sweep.folder.path / "again").string();
    const Json second = traced(sweep, again, first.at("row"), first.at("column"));
    CHECK(second.at("value") == first.at("value"));
    CHECK(second.at("spread") == first.at("spread"));
    CHECK(second.at("value").at("digits").get<std::string>().size() > 10);
    REQUIRE(second.at("trials").size() == 2);
    for (std::size_t i = 0; i < 2; ++i)
        for (const char* key : {"name", "value", "config_hash", "dataset_sha256", "configuration"}) {
            INFO(key);
            const auto without_local = [&](Json value) {
                if (value.is_object()) value.erase("local");
                return value;
            };
            CHECK(without_local(second.at("trials").at(i).at(key)) == without_local(first.at("trials").at(i).at(key)));
        }
    for (std::size_t i = 0; i < 2; ++i)
        CHECK(second.at("trials").at(i).at("checkpoint").at("sha256") ==
              first.at("trials").at(i).at("checkpoint").at("sha256"));
    // Nothing but that row was trained there: a heading, two trials of the other recipe that wait, and these two.
    const Ran status = sweep.deft("report", {"--root", again, "--format", "csv", "--per-seed"});
    CHECK(std::count(status.out.begin(), status.out.end(), '\n') == 5);
    CHECK_THAT(status.out, ContainsSubstring("plain,0.5,2,pending"));
    // The same cell, for people, and by the published table's name.
    const Ran text = sweep.deft("trace", {"data_efficiency_gpt_combined", "both 50%", "loss", "--root", root});
    CHECK(text.exit_code == kExitOk);
    CHECK_THAT(text.out, ContainsSubstring(first.at("value").at("digits").get<std::string>()));
    CHECK_THAT(text.out, ContainsSubstring("--only both --set train.budget_fraction=0.5 --seeds 1,2"));
    CHECK_THAT(text.out, ContainsSubstring("train.learning_rate=0.01"));
    // A later sweep beside the same published table is the one that its name means; NAME@HASH means the old one still.
    REQUIRE(sweep.run({"--set", "train.learning_rate=0.004", "--only", "both"}).exit_code == kExitOk);
    const auto sweep_and_value = [&](const std::string& table) {
        const Json json =
            parse_json(sweep.deft("trace", {table, "both 50%", "loss", "--root", root, "--format", "json"}).out);
        return std::pair(json.at("sweep"), json.at("value"));
    };
    CHECK(sweep_and_value(first.at("sweep")) == std::pair(first.at("sweep"), first.at("value")));
    CHECK(sweep_and_value("data_efficiency_gpt_combined").first != first.at("sweep"));
    CHECK(sweep_and_value("data_efficiency_gpt_combined").second != first.at("value"));
    // Its log is where it says.
    const std::string log = first.at("trials").at(0).at("attempts").at(0).at("log");
    CHECK(std::filesystem::exists(sweep.root / log));
}

TEST_CASE("a cell of a later stage is repeated with what its trials start from", "[slow]") {
    const TinySweep sweep(
        "[stage.pretrain]\n[stage.finetune]\nfrom = \"pretrain\"\nseeds = [1, 2]\n[stage.finetune.axes]\n"
        "\"train.learning_rate\" = [5e-4, 2e-4]\n" +
        kPlain);
    REQUIRE(sweep.run({"--set", "train.budget_tokens=163840"}).exit_code == kExitOk);
    const Json first = traced(sweep, sweep.root.string(), "plain:finetune[learning_rate=2e-4]", "validation loss");
    CHECK(first.at("trials").size() == 2);
    CHECK_THAT(first.at("how").get<std::string>(), ContainsSubstring("nest in it (2 trials)"));
    repeat(sweep, first);
    const Json second = traced(sweep, (sweep.folder.path / "again").string(), first.at("row"), first.at("column"));
    CHECK(second.at("value") == first.at("value"));
    for (std::size_t i = 0; i < 2; ++i)
        CHECK(second.at("trials").at(i).at("config_hash") == first.at("trials").at(i).at("config_hash"));
}

TEST_CASE("deft trace refuses what is not in the table, and says what an empty cell waits for") {
    const TinySweep sweep(kPlain + test::kBothTechniques + kTwoBudgets);
    CHECK_THAT(sweep.deft("trace", {"tiny", "plain", "loss", "--root", sweep.root.string()}).err,
               ContainsSubstring("there are no results in"));
    REQUIRE(sweep.run({"--only", "plain"}).exit_code == kExitOk);
    const auto trace = [&](const std::string& table, const std::string& row, const std::string& column) {
        return sweep.deft("trace", {table, row, column, "--root", sweep.root.string()});
    };
    const auto refused = [&](const Ran& ran, int code, const char* says) {
        CHECK(ran.exit_code == code);
        CHECK(ran.out.empty());
        CHECK_THAT(ran.err, ContainsSubstring(says));
    };
    refused(trace("tinny", "plain at 50%", "loss"), kExitUsage, "did you mean tiny?");
    refused(trace("data_efficiency_vit", "plain at 50%", "loss"), kExitNothing,
            "no sweep of these results reports the published table");
    refused(trace("tiny", "plian at 50%", "loss"), kExitUsage, "did you mean plain?");
    refused(trace("tiny", "plain at 50%", "lozz"), kExitUsage, "'validation loss'");
    const Ran empty = trace("tiny", "both at 50%", "validation loss");
    CHECK(empty.exit_code == kExitNothing);
    CHECK_THAT(empty.out, ContainsSubstring("both[budget_fraction=0.5]/1: it has not been started"));
    CHECK_THAT(empty.out, ContainsSubstring("./deft run --for-table tiny@"));
}

TEST_CASE("the runs that a table waits for are named, and run by the commands that are printed") {
    const TinySweep sweep(kPlain + test::kBothTechniques + kTwoBudgets);
    REQUIRE(sweep.run({"--only", "plain"}).exit_code == kExitOk);
    const Json before = missing(sweep);
    std::vector<std::string> trials;
    double last = 0;
    for (const Json& run : before.at("runs")) {
        if (run.at("to_do") != "train") continue;
        trials.push_back(run.at("what"));
        CHECK(run.at("seconds").get<double>() >= last);
        last = run.at("seconds").get<double>();
        CHECK(run.at("flops").get<double>() > 0);
    }
    CHECK(trials == std::vector<std::string>{"both[budget_fraction=0.5]/1", "both[budget_fraction=1.0]/1"});
    const std::string of_all = before.at("command").get<std::string>();
    CHECK_THAT(of_all, ContainsSubstring("--for-table tiny@"));
    CHECK_THAT(sweep.deft("report", {"--missing", "--root", sweep.root.string(), "--format", "md"}).out,
               ContainsSubstring("To run all: "));

    const auto for_table = [&](std::vector<std::string> more) {
        std::vector<std::string> words = {"--for-table", "tiny", "--root", sweep.root.string()};
        words.insert(words.end(), more.begin(), more.end());
        std::vector<std::string> argv = {DEFT_PROGRAM, "run"};
        argv.insert(argv.end(), words.begin(), words.end());
        test::Process process(argv, sweep.out(), sweep.err());
        const int code = process.wait();
        return Ran{code, read_file(sweep.out()), read_file(sweep.err())};
    };
    const Ran dry = for_table({"--dry-run"});
    CHECK(dry.exit_code == kExitOk);
    CHECK_THAT(dry.err, ContainsSubstring("4 trials with 1 seed; 2 already done"));
    CHECK_THAT(dry.err, ContainsSubstring("at the speed measured here"));
    CHECK(sweep.count("ok") == "2");
    // One of them by itself: the table stays the same one.
    CHECK(for_table({"--only", trials[0]}).exit_code == kExitOk);
    CHECK(sweep.count("ok") == "3");
    CHECK(sweep.value("SELECT count(*) FROM sweep") == "1");
    CHECK(for_table({}).exit_code == kExitOk);
    CHECK(sweep.count("ok") == "4");
    for (const Json& run : missing(sweep).at("runs")) CHECK(run.at("to_do") == "seeds");
    // One command runs the seeds that all rows lack.
    CHECK_THAT(missing(sweep).at("command").get<std::string>(),
               ContainsSubstring("run --for-table tiny@") && ContainsSubstring(" --seeds 1,2,3"));
    // More seeds make a table of their own, which keeps what there is.
    CHECK(for_table({"--only", "plain[budget_fraction=0.5]", "--seeds", "1,2,3"}).exit_code == kExitOk);
    CHECK(sweep.count("ok") == "6");
    CHECK(sweep.value("SELECT count(*) FROM sweep") == "2");
}

TEST_CASE("deft run --for-table refuses a sweep whose file is gone or has changed, and leaves the results") {
    const TinySweep sweep(kPlain);
    const auto for_table = [&](const std::vector<std::string>& more) {
        std::vector<std::string> argv = {DEFT_PROGRAM, "run"};
        argv.insert(argv.end(), more.begin(), more.end());
        if (std::find(more.begin(), more.end(), "--root") == more.end())
            argv.insert(argv.end(), {"--root", sweep.root.string()});
        test::Process process(argv, sweep.out(), sweep.err());
        const int code = process.wait();
        UNSCOPED_INFO(read_file(sweep.err()));
        return Ran{code, read_file(sweep.out()), read_file(sweep.err())};
    };
    CHECK_THAT(for_table({"--for-table", "tiny"}).err, ContainsSubstring("there are no results in"));
    CHECK_FALSE(std::filesystem::exists(sweep.root));
    REQUIRE(sweep.run().exit_code == kExitOk);
    const auto attempts = sweep.attempts();
    const auto refused = [&](const std::vector<std::string>& more, int code, const char* says) {
        const Ran ran = for_table(more);
        CHECK(ran.exit_code == code);
        CHECK_THAT(ran.err, ContainsSubstring(says) && ContainsSubstring("help: "));
        CHECK(sweep.attempts() == attempts);
        CHECK(sweep.value("SELECT count(*) FROM sweep") == "1");
    };
    refused({}, kExitUsage, "--for-table TABLE");
    refused({sweep.file.string(), "--for-table", "tiny"}, kExitUsage, "give only one of them");
    refused({"--for-table", "tiny", "--scale", "proxy"}, kExitUsage, "--scale would make another table");
    refused({"--for-table", "tiny", "--set", "train.learning_rate=1"}, kExitUsage, "--set would make another table");
    refused({"--for-table", "tinny"}, kExitUsage, "did you mean tiny?");
    refused({"--for-table", "tiny", "--only", "plain/9"}, kExitUsage, "did you mean plain/1?");
    const std::string text = read_file(sweep.file);
    std::string changed = text;
    changed.replace(changed.find("layers = 3"), 10, "layers = 4");
    sweep.folder.write("tiny.toml", changed);
    refused({"--for-table", "tiny"}, kExitNothing, "line 9 was 'layers = 3' and is 'layers = 4'");
    // Without its file nothing can be planned, but the missing runs are still named.
    std::filesystem::remove(sweep.file);
    refused({"--for-table", "tiny"}, kExitNothing, "is not there");
    const Ran report = sweep.deft("report", {"--missing", "--root", sweep.root.string()});
    CHECK(report.exit_code == kExitOk);
    CHECK_THAT(report.out, ContainsSubstring("2 more seeds"));
    CHECK_THAT(report.err, ContainsSubstring("nothing is planned"));
    // Results that were moved are gone on with where they are now.
    sweep.folder.write("tiny.toml", text);
    std::filesystem::rename(sweep.root, sweep.folder.path / "moved");
    CHECK(for_table({"--for-table", "tiny", "--root", (sweep.folder.path / "moved").string(), "--seeds", "1,2"})
              .exit_code == kExitOk);
    CHECK_FALSE(std::filesystem::exists(sweep.root));
    std::filesystem::rename(sweep.folder.path / "moved", sweep.root);
    CHECK(sweep.count("ok") == "2");
    // A title does not change the training.
    sweep.folder.write("tiny.toml", "title = \"of another title\"\n" + text);
    CHECK(for_table({"--for-table", "tiny"}).exit_code == kExitOk);
}

TEST_CASE(
    "deft run --for-table takes a table whose seeds were joined, and refuses it where a trial or a score is another") {
    const TinySweep sweep(kPlain, "[1]"), other(kPlain, "[1]");
    REQUIRE(sweep.run({"--seeds", "1,2"}).exit_code == kExitOk);
    REQUIRE(other.run({"--seeds", "3,4"}).exit_code == kExitOk);
    const std::string more = (other.folder.path / "more.jsonl").string();
    REQUIRE(other.deft("db", {"export", "tiny", "--root", other.root.string(), "--out", more}).exit_code == kExitOk);
    REQUIRE(sweep.deft("db", {"merge", more, "--root", sweep.root.string()}).exit_code == kExitOk);
    REQUIRE(sweep.value("SELECT count(*) FROM sweep") == "1");
    const auto for_table = [&] {
        test::Process process({DEFT_PROGRAM, "run", "--for-table", "tiny", "--root", sweep.root.string()}, sweep.out(),
                              sweep.err());
        const int code = process.wait();
        UNSCOPED_INFO(read_file(sweep.err()));
        return Ran{code, read_file(sweep.out()), read_file(sweep.err())};
    };
    const auto attempts = sweep.attempts();
    const Ran same = for_table();
    CHECK(same.exit_code == kExitOk);
    CHECK_THAT(same.err, ContainsSubstring("everything was finished already"));
    CHECK(sweep.attempts() == attempts);
    const std::string text = read_file(sweep.file);
    for (const auto& [before, after] :
         {std::pair("layers = 3", "layers = 4"), std::pair("documents = 20", "documents = 10"),
          std::pair("[[case]]", "[[case]]\nname = \"more\"\ntrain.learning_rate = 0.1\n[[case]]")}) {
        std::string changed = text;
        changed.replace(changed.find(before), std::string(before).size(), after);
        sweep.folder.write("tiny.toml", changed);
        CHECK_THAT(for_table().err, ContainsSubstring("has changed since"));
    }
}

TEST_CASE("A note that quotes an error keeps the error's lines") {
    const TinySweep sweep(test::kPlain);
    REQUIRE(sweep.run().exit_code == kExitOk);
    std::filesystem::remove(sweep.file);
    const Ran report = sweep.deft("report", {"--missing", "--root", sweep.root.string()});
    CHECK(report.exit_code == kExitOk);
    CHECK_THAT(report.err, ContainsSubstring("deft: nothing is planned: the file of sweep tiny@") &&
                               ContainsSubstring("\n  help: ") && !ContainsSubstring("?"));
}
