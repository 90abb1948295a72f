// deft run on a sweep with [search].

#include "results_db/reader.h"
#include "results_db/schema.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

const std::string kSearched = "[search]\nlearning_rate = [1e-3, 3e-3]\nseeds = [7]\n" + test::kPlain +
                              "[[case]]\nname = \"ltd\"\nrandom_ltd = { min = 8, step = 4, duration = 0.8 }\n";

// The runs that deft report --missing lists, by name.
std::vector<std::string> missing_names(const TinySweep& sweep) {
    const Ran ran = sweep.deft("report", {"--missing", "--root", sweep.root.string(), "--format", "json"});
    REQUIRE(ran.exit_code == kExitOk);
    std::vector<std::string> names;
    const Json missing = Json::parse(ran.out);
    for (const Json& run : missing.at("runs")) names.push_back(run.at("what").get<std::string>());
    return names;
}

Ran run_for_table(const TinySweep& sweep) {
    test::Process process({DEFT_PROGRAM, "run", "--for-table", "tiny", "--root", sweep.root.string()}, sweep.out(),
                          sweep.err());
    const int code = process.wait();
    return {code, read_file(sweep.out()), read_file(sweep.err())};
}

}  // namespace

TEST_CASE("A table with a search lacks none of the search's trials, and runs again by its name") {
    const TinySweep sweep(kSearched, "[1]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    std::size_t more_seeds = 0;
    for (const std::string& name : missing_names(sweep)) {
        CHECK_THAT(name, !ContainsSubstring("search"));
        more_seeds += name == "plain: 2 more seeds" || name == "ltd: 2 more seeds";
    }
    CHECK(more_seeds == 2);
    const std::string attempts = sweep.value("SELECT count(*) FROM attempt");
    const Ran again = run_for_table(sweep);
    CHECK(again.exit_code == kExitOk);
    CHECK_THAT(again.err, ContainsSubstring("everything was finished already"));
    CHECK(sweep.value("SELECT count(*) FROM attempt") == attempts);
    // A changed file is still refused.
    std::string text = read_file(sweep.file);
    text.replace(text.find("3e-3"), 4, "4e-3");
    write_file_atomically(sweep.file, text);
    CHECK_THAT(run_for_table(sweep).err, ContainsSubstring("has changed since"));
}

TEST_CASE("a search is trained before its table, whose trials have the best rate of their row") {
    const TinySweep sweep(kSearched, "[1, 2]");
    const Ran plan = sweep.deft("plan");
    CHECK_THAT(plan.out, ContainsSubstring("Learning-rate search: 4 trials at 0.001, 0.003"));
    const Ran dry = sweep.run({"--dry-run"});
    CHECK(dry.exit_code == kExitOk);
    CHECK_THAT(dry.err, ContainsSubstring("search of the learning rate, before the table: 4 trials"));
    const Ran ran = sweep.run({"--full"});
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.err, ContainsSubstring("the best learning rates of the search: plain 0.00"));
    CHECK_THAT(ran.out, ContainsSubstring("search of the learning rate, bits/byte ↓ of the validation at each") &&
                            ContainsSubstring("with the seed 7 of the search alone"));

    // Computed by hand: each recipe's rate of the smaller validation, at which its table's trials were trained.
    const std::string validation =
        "SELECT json_extract(m.axes_json, '$.\"train.learning_rate\"') FROM sweep_member m"
        " JOIN attempt a ON a.experiment_id = m.experiment_id JOIN evaluation v ON v.attempt_id = a.id"
        " JOIN metric x ON x.id = v.metric_id WHERE x.name = 'bits_per_byte' AND v.task = 'validation'"
        " AND m.stage = 'search' AND m.case_key = '{}' ORDER BY v.value LIMIT 1";
    for (const char* name : {"plain", "ltd"}) {
        const std::string best = sweep.value(fmt::format(fmt::runtime(validation), name));
        const std::vector<std::string> trained = sweep.query(
            fmt::format("SELECT DISTINCT json_extract(e.config_json, '$.train.learning_rate') FROM sweep_member m"
                        " JOIN experiment e ON e.id = m.experiment_id WHERE m.stage = '' AND m.case_key = '{}'",
                        name),
            1);
        CHECK(trained == std::vector{best});
    }
    CHECK(sweep.value("SELECT count(*) FROM sweep_member m JOIN sweep s ON s.id = m.sweep_id WHERE m.stage = ''") ==
          "4");

    // Asked again, nothing is left; asked for one recipe, its search is there.
    const std::string attempts = sweep.value("SELECT count(*) FROM attempt");
    const Ran again = sweep.run({"--only", "plain"});
    CHECK(again.exit_code == kExitOk);
    CHECK(sweep.value("SELECT count(*) FROM attempt") == attempts);
    CHECK(again.out.find("ltd") != std::string::npos);
    CHECK_THAT(sweep.deft("status").out, ContainsSubstring("ltd:search[learning_rate=0.003]/7"));
    CHECK_THAT(sweep.deft("report", {"--root", sweep.root.string(), "--format", "json"}).out,
               ContainsSubstring("\"search\": {") && ContainsSubstring("chosen"));
    CHECK_THAT(sweep.deft("report", {"--root", sweep.root.string(), "--format", "html"}).out,
               ContainsSubstring("<h2 id=\"search\">"));
}

TEST_CASE("a search is exported and merged with its table, and prints the same", "[slow]") {
    const TinySweep sweep(kSearched, "[1]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::string file = (sweep.folder.path / "e.jsonl").string();
    REQUIRE(sweep.deft("db", {"export", "tiny", "--root", sweep.root.string(), "--out", file}).exit_code == kExitOk);
    const std::string other = (sweep.folder.path / "other").string();
    REQUIRE(sweep.deft("db", {"merge", file, "--root", other}).exit_code == kExitOk);
    const Ran here = sweep.deft("report", {"tiny", "--full", "--root", sweep.root.string()});
    CHECK_THAT(here.out, ContainsSubstring("chosen"));
    CHECK(sweep.deft("report", {"tiny", "--full", "--root", other}).out == here.out);

    // Where the search was merged it is not trained again; further seeds of the table join the first.
    const TinySweep second(kSearched, "[1]");
    REQUIRE(second.deft("db", {"merge", file, "--root", second.root.string()}).exit_code == kExitOk);
    const Ran seeds = second.run({"--seeds", "2,3"});
    REQUIRE(seeds.exit_code == kExitOk);
    CHECK_THAT(seeds.err, ContainsSubstring("everything was finished already"));
    const std::string more = (second.folder.path / "e.jsonl").string();
    REQUIRE(second.deft("db", {"export", "tiny", "--root", second.root.string(), "--out", more}).exit_code == kExitOk);
    REQUIRE(sweep.deft("db", {"merge", more, "--root", other}).exit_code == kExitOk);
    const Ran merged = sweep.deft("report", {"tiny", "--root", other, "--format", "json"});
    CHECK(Json::parse(merged.out).at("trials").size() == 6);
    const std::string command = results_db::Reader(std::filesystem::path(other) / "results.db").sweep("tiny").command;
    CHECK_THAT(command, ContainsSubstring(" --seeds 1,2,3"));
    CHECK(command.find("1,2,3,7") == std::string::npos);  // the search's are its own
}

TEST_CASE("A search goes on from its run folders where the database is empty or has no schema yet") {
    const TinySweep sweep(kSearched, "[1]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::filesystem::path file = sweep.root / "results.db";
    const std::string attempts = sweep.value("SELECT count(*) FROM attempt WHERE state = 'ok'");
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
    SECTION("empty") {
        std::ofstream(file).flush();
    }
    SECTION("without a schema") {
        results_db::Connection(file, results_db::Connection::Mode::write)
            .execute(fmt::format("PRAGMA application_id = {}; PRAGMA journal_mode = WAL", results_db::kApplicationId)
                         .c_str());
    }
    const Ran dry = sweep.run({"--dry-run"});
    CHECK(dry.exit_code == kExitOk);
    CHECK_THAT(dry.err, ContainsSubstring("search of the learning rate, before the table: 4 trials"));
    const Ran again = sweep.run({"--full"});
    CHECK(again.exit_code == kExitOk);
    CHECK_THAT(again.err, ContainsSubstring("taken in plain:search"));
    CHECK_THAT(again.out, ContainsSubstring("search of the learning rate"));
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE state = 'ok'") == attempts);
}

TEST_CASE("the table of a search that was stopped waits for it") {
    const TinySweep sweep("[search]\nlearning_rate = [1e-3, 3e-3]\nseeds = [7]\n" + test::kPlain +
                          test::long_budget(400'000));
    test::Process process = sweep.start();
    const pid_t frozen = sweep.freeze_trial();
    REQUIRE(frozen > 0);
    process.signal(SIGTERM);
    ::kill(frozen, SIGCONT);
    CHECK(process.wait() == kExitWorkLeft);
    CHECK(sweep.says("the search is incomplete, so the table is not trained"));
    CHECK(sweep.value("SELECT count(*) FROM sweep_member WHERE stage = ''") == "0");
    const std::vector<std::string> names = missing_names(sweep);
    CHECK(names.size() == 2);
    for (const std::string& name : names) CHECK_THAT(name, ContainsSubstring("plain:search[learning_rate="));
    CHECK(run_for_table(sweep).exit_code == kExitOk);
    CHECK(sweep.value("SELECT count(*) FROM sweep_member WHERE stage = ''") == "1");
}

TEST_CASE("a rate that diverges is out, is not tried again for the table, and no recipe is searched alone") {
    const TinySweep sweep("[search]\nlearning_rate = [1e-3, 1e9]\nseeds = [7]\n" + test::kPlain +
                          "[[case]]\nname = \"ltd\"\nrandom_ltd = { min = 8, step = 4, duration = 0.8 }\n");
    const Ran ran = sweep.run({"--only", "plain", "--full"});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("diverged") && ContainsSubstring("at the end of its list for"));
    // Both recipes were searched, and the table's trial of one was trained.
    CHECK(sweep.value("SELECT count(DISTINCT experiment_id) FROM attempt WHERE kind = 'train'") == "5");
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train' AND fail_class = 'nan'") == "2");
    CHECK(sweep.run().exit_code == kExitOk);  // nor when the other recipe is trained
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train' AND fail_class = 'nan'") == "2");
    CHECK(sweep.value("SELECT json_extract(e.config_json, '$.train.learning_rate') FROM sweep_member m"
                      " JOIN experiment e ON e.id = m.experiment_id WHERE m.stage = '' AND m.case_key = 'plain'") ==
          "0.001");
}

TEST_CASE("a row whose every rate diverges has none, and its table is not trained") {
    const TinySweep sweep("[search]\nlearning_rate = [1e8, 1e9]\nseeds = [7]\n" + test::kPlain);
    const Ran ran = sweep.run();
    CHECK(ran.exit_code == kExitNothing);
    CHECK_THAT(ran.err, ContainsSubstring("every learning rate of [search] diverged for plain"));
    CHECK(sweep.value("SELECT count(*) FROM sweep_member WHERE stage = ''") == "0");
}

TEST_CASE("Ctrl-C at the last trial of a search lets it finish, and the table is left for later") {
    const TinySweep sweep("[search]\nlearning_rate = [1e-3, 3e-3]\nseeds = [7]\n" + test::kPlain +
                          test::long_budget(200'000));
    test::Process process = sweep.start();
    const pid_t last = sweep.freeze_trial(2);  // the first rate is trained and scored
    REQUIRE(last > 0);
    process.signal(SIGINT);
    REQUIRE(test::wait_until([&] { return sweep.says("draining:"); }));
    ::kill(last, SIGCONT);
    CHECK(process.wait() == kExitWorkLeft);
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE kind = 'score' AND state = 'ok'") == "2");
    CHECK(sweep.value("SELECT count(*) FROM sweep_member WHERE stage = ''") == "0");
}
