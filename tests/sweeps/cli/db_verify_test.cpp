// deft db verify: it finds what is planted in a copy of a root, and nothing in one that nobody touched.

#include <sqlite3.h>

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;
namespace fs = std::filesystem;

namespace {

// A copy of a root, to be harmed.
struct Copied {
    explicit Copied(const fs::path& original) : root(folder.path / "root") {
        fs::copy(original, root, fs::copy_options::recursive);
    }
    // References and checks do not hold back what a test plants.
    void sql(const std::string& text) const {
        results_db::Connection connection(root / "results.db", results_db::Connection::Mode::write);
        connection.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON");
        connection.execute(text.c_str());
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    // The run folder of the only attempt that trained.
    fs::path run() const { return root / "runs" / (only_hash() + ".1"); }
    fs::path journal() const { return run() / "journal.jsonl"; }
    fs::path checkpoint() const {
        for (const auto& of_trial : fs::directory_iterator(root / "checkpoints"))
            for (const auto& step : fs::directory_iterator(of_trial))
                if (step.is_directory()) return step.path();
        return {};
    }
    void edit(const fs::path& file, const std::function<void(std::string&)>& change) const {
        std::string text = read_file(file);
        const std::string before = text;
        change(text);
        REQUIRE(text != before);
        write_file_atomically(file, text);
    }
    static void replace(std::string& text, const std::string& from, const std::string& to, std::size_t after = 0) {
        const std::size_t at = text.find(from, after);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
    }

    Folder folder;
    fs::path root;

 private:
    std::string only_hash() const {
        for (const auto& run_folder : fs::directory_iterator(root / "runs"))
            return run_folder.path().filename().string().substr(0, 12);
        return {};
    }
};

// The root of a trial that ended well, for all tests of this file.
const TinySweep& finished() {
    static const TinySweep sweep(kPlain);
    static const int code = sweep.run().exit_code;
    REQUIRE(code == kExitOk);
    return sweep;
}

struct Verified {
    int exit_code = 0;
    Json json;
    std::vector<std::string> faults;  // "journal: plain/1, attempt 1: ..."
};

Verified verify(const TinySweep& sweep, const fs::path& root, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"verify", "--root", root.string(), "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = sweep.deft("db", words);
    Verified verified{ran.exit_code, try_parse_json(ran.out), {}};
    REQUIRE(!verified.json.is_discarded());
    for (const Json& fault : verified.json.at("faults"))
        verified.faults.push_back(fmt::format("{}: {}: {}", fault.at("kind").get<std::string>(),
                                              fault.at("subject").get<std::string>(),
                                              fault.at("what").get<std::string>()));
    return verified;
}

// The n-th line of that type, with its newline; from 0.
std::pair<std::size_t, std::size_t> line_of(const std::string& text, const std::string& type, int number) {
    std::size_t at = 0;
    for (int i = 0; i <= number; ++i) at = text.find("\"type\":\"" + type + "\"", at + 1);
    REQUIRE(at != std::string::npos);
    const std::size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at) + 1;
    return {begin, end - begin};
}

void drop_line(std::string& text, const std::string& type, int number) {
    const auto [begin, size] = line_of(text, type, number);
    text.erase(begin, size);
}

struct Planted {
    const char* name;
    std::function<void(const Copied&)> plant;
    const char* expected;  // words of a fault
};

const std::vector<Planted>& planted() {
    static const std::vector<Planted> all = {
        // Journals.
        {"a journal is gone", [](const Copied& c) { fs::remove(c.journal()); }, "journal: plain/1, attempt 1:"},
        {"a journal is cut", [](const Copied& c) { fs::resize_file(c.journal(), fs::file_size(c.journal()) / 2); },
         "bytes, and the database read"},
        {"a loss of the journal differs",
         [](const Copied& c) {
             c.edit(c.journal(), [](std::string& text) {
                 const std::size_t at = text.find("\"loss\":", line_of(text, "train", 2).first) + 7;
                 text[at] = text[at] == '9' ? '8' : static_cast<char>(text[at] + 1);
             });
         },
         "train_point: 1 row differs; the first is 12"},
        {"a line of the journal is gone",
         [](const Copied& c) { c.edit(c.journal(), [](std::string& text) { drop_line(text, "train", 3); }); },
         "bytes, and the database read"},
        {"a line of the journal is damaged",
         [](const Copied& c) {
             c.edit(c.journal(), [](std::string& text) { text[line_of(text, "sampling", 1).first] = '#'; });
         },
         "a damaged line"},
        {"a line came later",
         [](const Copied& c) {
             c.edit(c.journal(), [](std::string& text) {
                 const auto [begin, size] = line_of(text, "sampling", 0);
                 text += text.substr(begin, size);
             });
         },
         "the database has"},
        // Rows.
        {"a point is gone", [](const Copied& c) { c.sql("DELETE FROM train_point WHERE step = 8"); },
         "train_point: 1 row of the journal is missing; the first is 8"},
        {"a loss differs in its last digits",
         [](const Copied& c) { c.sql("UPDATE train_point SET loss = loss * (1 + 1e-15) WHERE step = 16"); },
         "train_point: 1 row differs; the first is 16"},
        {"a point is invented",
         [](const Copied& c) {
             c.sql(
                 "INSERT INTO train_point (attempt_id, step, tokens, unique_tokens, layer_tokens, wall_ms, seqlen,"
                 " kept_tokens) SELECT attempt_id, 7, 1, 1, 1, 1, 1, 1 FROM train_point LIMIT 1");
         },
         "train_point: 1 row is not in the journal; the first is 7"},
        {"totals of samples are gone", [](const Copied& c) { c.sql("DELETE FROM sampling_point"); }, "sampling_point:"},
        {"a score differs", [](const Copied& c) { c.sql("UPDATE evaluation SET value = value + 0.25 WHERE n > 0"); },
         "evaluation:"},
        {"a metric has another name", [](const Copied& c) { c.sql("UPDATE metric SET name = name || 'x'"); },
         "evaluation:"},
        {"a scored task is gone", [](const Copied& c) { c.sql("DELETE FROM score"); },
         "score: 2 rows of the journal are missing"},
        {"documents' results differ", [](const Copied& c) { c.sql("UPDATE score SET items = NULL"); },
         "score: 1 row differs"},
        {"the time of training differs",
         [](const Copied& c) { c.sql("UPDATE attempt SET train_seconds = train_seconds + 1 WHERE kind = 'train'"); },
         "attempt: 1 row differs"},
        {"the number of steps differs",
         [](const Copied& c) { c.sql("UPDATE attempt SET total_steps = 99 WHERE kind = 'train'"); },
         "curve: plain/1: its curve ends at step 64 of 99"},
        {"the data has another hash", [](const Copied& c) { c.sql("UPDATE dataset SET sha256 = 'f00'"); },
         "attempt: 1 row differs"},
        {"what was spent differs", [](const Copied& c) { c.sql("UPDATE spent SET train_seconds = 7"); }, "spent:"},
        {"the end of an attempt is gone",
         [](const Copied& c) { c.sql("UPDATE attempt SET ended_ms = NULL WHERE kind = 'train'"); },
         "does not fit its state"},
        // The schema.
        {"a rule is gone", [](const Copied& c) { c.sql("DROP TRIGGER verdict_ro_u"); },
         "database: trigger verdict_ro_u: it is missing"},
        {"a rule is another",
         [](const Copied& c) {
             c.sql(
                 "DROP TRIGGER verdict_ro_u; CREATE TRIGGER verdict_ro_u BEFORE UPDATE ON verdict BEGIN SELECT 1; END");
         },
         "it is not the rule"},
        {"a view is gone", [](const Copied& c) { c.sql("DROP VIEW v_sampling"); }, "database: view v_sampling"},
        {"a reference leads nowhere", [](const Copied& c) { c.sql("DELETE FROM host"); },
         "it refers to a row that is not in host"},
        {"two attempts are live",
         [](const Copied& c) {
             c.sql(
                 "DROP INDEX attempt_one_live; DROP TRIGGER attempt_terminal;"
                 " UPDATE attempt SET state = 'running', ended_ms = NULL");
         },
         "attempts that are live at once: 2"},
        {"a page is damaged",
         [](const Copied& c) {
             std::int64_t page = 0;
             {
                 results_db::Connection connection(c.root / "results.db", results_db::Connection::Mode::write);
                 connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
                 page = connection.integer("SELECT rootpage FROM sqlite_master WHERE name = 'train_point'");
             }
             std::fstream file(c.root / "results.db", std::ios::in | std::ios::out | std::ios::binary);
             file.seekp((page - 1) * 4096);
             file << std::string(400, '\x5a');
         },
         "database: results.db"},
        // Configurations.
        {"a configuration differs",
         [](const Copied& c) {
             c.sql(
                 "DROP TRIGGER experiment_ro; UPDATE experiment SET config_json ="
                 " replace(config_json, '\"batch_size\":4', '\"batch_size\":5')");
         },
         "trial: plain/1"},
        // Files.
        {"the weights are gone", [](const Copied& c) { fs::remove(c.checkpoint() / "model.safetensors"); },
         "model.safetensors: it is missing"},
        {"a weight has another bit",
         [](const Copied& c) {
             c.edit(c.checkpoint() / "model.safetensors", [](std::string& text) { text.back() ^= 1; });
         },
         "its SHA-256 is not the recorded one"},
        {"the optimizer's state is cut",
         [](const Copied& c) { fs::resize_file(c.checkpoint() / "optimizer.safetensors", 100); },
         "artifact: checkpoints/"},
        {"a manifest is damaged",
         [](const Copied& c) { write_file_atomically(c.checkpoint() / "checkpoint.json", "{"); },
         "artifact: checkpoints/"},
        {"a run folder has no attempt", [](const Copied& c) { fs::copy(c.run(), c.root / "runs" / "0123456789ab.1"); },
         "folder: runs/0123456789ab.1: the database has no attempt"},
        {"checkpoints have no trial",
         [](const Copied& c) { fs::create_directories(c.root / "checkpoints" / "0123456789abcdef" / "step_00000001"); },
         "folder: checkpoints/0123456789abcdef: the database has no trial"},
        {"points are gone from journal and database",
         [](const Copied& c) {
             c.edit(c.journal(), [](std::string& text) { drop_line(text, "train", 4); });
             c.sql(
                 fmt::format("DELETE FROM train_point WHERE step = 20; UPDATE attempt SET spool_bytes = {},"
                             " spool_lines = spool_lines - 1 WHERE kind = 'train'",
                             fs::file_size(c.journal())));
         },
         "no point between steps 16 and 24, with a logging interval of 4"},
    };
    return all;
}

}  // namespace

TEST_CASE("a root that nobody touched has no faults, by hash and by size") {
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--quick"}}) {
        const Verified verified = verify(finished(), finished().root, more);
        CHECK(verified.faults == std::vector<std::string>{});
        CHECK(verified.exit_code == kExitOk);
        CHECK(verified.json.at("schema") == "deft-verify/1");
        CHECK(verified.json.at("quick") == !more.empty());
        CHECK(verified.json.at("trials") == 1);
        CHECK(verified.json.at("attempts") == 2);  // that trained and that evaluated
        CHECK(verified.json.at("rows") > 16 + 16);
        CHECK(verified.json.at("files") == 3);  // of the checkpoint, whose weights are the result
    }
    const Ran text = finished().deft("db", {"verify", "--root", finished().root.string()});
    CHECK_THAT(text.out, ContainsSubstring("no faults in 1 trial, 2 attempts") && ContainsSubstring("by SHA-256"));
}

TEST_CASE("each planted fault is found, and named") {
    REQUIRE(planted().size() >= 30);
    for (const Planted& one : planted()) {
        INFO(one.name);
        const Copied copied(finished().root);
        one.plant(copied);
        const Verified verified = verify(finished(), copied.root);
        CHECK(verified.exit_code == kExitFailed);
        const bool is_found = std::ranges::any_of(
            verified.faults, [&](const std::string& fault) { return fault.find(one.expected) != std::string::npos; });
        INFO(fmt::format("{}", fmt::join(verified.faults, "\n")));
        CHECK(is_found);
    }
}

TEST_CASE("files of the right size pass a quick verification, and those of another do not") {
    const Copied copied(finished().root);
    const fs::path weights = copied.checkpoint() / "model.safetensors";
    copied.edit(weights, [](std::string& text) { text.back() ^= 1; });
    CHECK(verify(finished(), copied.root, {"--quick"}).exit_code == kExitOk);
    CHECK(verify(finished(), copied.root).exit_code == kExitFailed);
    fs::resize_file(weights, fs::file_size(weights) - 1);
    CHECK(verify(finished(), copied.root, {"--quick"}).exit_code == kExitFailed);
}

TEST_CASE("a killed and resumed trial, and a driver at work, leave no faults") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n" + long_budget(200'000));
    {
        Process driver = sweep.start();
        const pid_t trial = sweep.freeze_trial();
        REQUIRE(trial > 0);
        const Verified at_work = verify(sweep, sweep.root);
        CHECK(at_work.faults == std::vector<std::string>{});
        CHECK(at_work.json.at("live") == 1);
        driver.signal(SIGKILL);
        driver.wait();
        ::kill(trial, SIGKILL);
    }
    CHECK(verify(sweep, sweep.root).faults == std::vector<std::string>{});
    CHECK(sweep.stop_while_training() == kExitWorkLeft);
    CHECK(verify(sweep, sweep.root).faults == std::vector<std::string>{});
    REQUIRE(sweep.run().exit_code == kExitOk);
    CHECK(verify(sweep, sweep.root).faults == std::vector<std::string>{});
}

TEST_CASE("checkpoints that a kill left unfinished are no faults") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == kExitOk);
    for (const auto& of_trial : fs::directory_iterator(sweep.root / "checkpoints"))
        for (const char* left : {"unfinished", "step_00000001"}) {
            make_folder(of_trial.path() / left);
            write_file_atomically(of_trial.path() / left / "config.json", "{");
        }
    CHECK(verify(sweep, sweep.root).faults == std::vector<std::string>{});
}

TEST_CASE("a trial that is trained again has no faults, and files of its older training are not asked for") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == kExitOk);
    for (const auto& of_trial : fs::directory_iterator(sweep.root / "checkpoints")) fs::remove_all(of_trial);
    CHECK(verify(sweep, sweep.root).exit_code == kExitFailed);
    REQUIRE(sweep.run({"--set", "eval.documents=10", "--set", "log_every=7", "--retrain"}).exit_code == kExitOk);
    REQUIRE(sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train' AND state = 'ok'") == "2");
    CHECK(verify(sweep, sweep.root).faults == std::vector<std::string>{});
    const Copied copied(sweep.root);
    copied.sql(
        "INSERT INTO artifact (id, sha256, bytes, kind, path) VALUES (99, 'f00', 1, 'checkpoint', 'former');"
        " INSERT INTO attempt_artifact SELECT min(id), 99, 'result', 1 FROM attempt");
    CHECK(verify(sweep, copied.root).faults ==
          std::vector<std::string>{"journal: plain/1, attempt 1: artifact: 1 row is not in the journal; the first is "
                                   "'result' 1 'former'"});
}

TEST_CASE("a path that leads out of the root is named, and the rest is compared") {
    const Copied copied(finished().root);
    copied.sql("UPDATE attempt SET workdir = '../../elsewhere' WHERE kind = 'train'");
    fs::remove(copied.checkpoint() / "model.safetensors");
    const Verified verified = verify(finished(), copied.root);
    CHECK(verified.exit_code == kExitFailed);
    const std::string all = fmt::format("{}", fmt::join(verified.faults, "\n"));
    CHECK_THAT(all, ContainsSubstring("../../elsewhere, which is not below") &&
                        ContainsSubstring("model.safetensors: it is missing"));
}

TEST_CASE("yesterday's database beside today's folders is found") {
    const TinySweep sweep(kTwoRecipes);
    REQUIRE(sweep.run({"--only", "a"}).exit_code == kExitOk);
    const std::string yesterday = read_file(sweep.root / "results.db");
    REQUIRE(sweep.run().exit_code == kExitOk);
    CHECK(verify(sweep, sweep.root).faults == std::vector<std::string>{});
    for (const char* log : {"results.db-wal", "results.db-shm"}) fs::remove(sweep.root / log);
    write_file_atomically(sweep.root / "results.db", yesterday);
    const Verified verified = verify(sweep, sweep.root);
    CHECK(verified.exit_code == kExitFailed);
    CHECK(verified.json.at("faults").size() == 2);  // its run folders
    const Ran text = sweep.deft("db", {"verify", "--root", sweep.root.string()});
    CHECK_THAT(text.out, ContainsSubstring("folder faults") && ContainsSubstring("help: ") &&
                             ContainsSubstring("2 faults in 2 trials"));
}

TEST_CASE("a root without results, and a file of another program, keep their exit codes") {
    const TinySweep sweep(kPlain);
    CHECK(sweep.deft("db", {"verify", "--root", sweep.root.string()}).exit_code == kExitNothing);
    make_folder(sweep.root);
    write_file_atomically(sweep.root / "results.db", "these are my notes\n");
    CHECK(sweep.deft("db", {"verify", "--root", sweep.root.string()}).exit_code == kExitDatabase);
}
