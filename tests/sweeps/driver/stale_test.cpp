// Changes since a sweep was measured, through the whole program: every format marks its cells, and a run measures
// again as asked.

#include <algorithm>
#include <map>
#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "results_db/config_hashes.h"
#include "tests/catch.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

constexpr const char* kTask =
    "name = \"mine\"\nversion = \"1\"\nkind = \"multiple_choice\"\nsplit = \"test\"\nmetrics = [\"acc\"]\n"
    "[records]\ngenerator = \"embedded_questions\"\ncount = 20\norder = \"file\"\n"
    "[prompt]\ntext = \"{context}\"\nchoice_list = \"choices\"\ngold = \"gold\"\n";

// One recipe of two seeds on a text of its own, with a task of its own beside one of the project's.
struct StaleSweep : TinySweep {
    StaleSweep() : TinySweep(kPlain, "[1, 2]") {
        std::string text = read_file(file);
        const auto put = [&](const std::string& from, const std::string& to) {
            text.replace(text.find(from), from.size(), to);
        };
        put("corpus = \"embedded\"\nembedded_bytes = 5000\n", "corpus = \"text\"\ntrain_files = [\"corpus.txt\"]\n");
        put("[\"embedded_questions\"]", "[\"asked.toml\", \"embedded_last_words\"]");
        folder.write("tiny.toml", text);
        folder.write("asked.toml", kTask);
        write_corpus("a cat ran");
        REQUIRE(run().exit_code == kExitOk);
    }
    void write_corpus(const std::string& line) const {
        std::string text;
        for (int i = 0; i < 300; ++i) text += line + "\n";
        folder.write("corpus.txt", text);
    }
    void edit_task(const std::string& prompt) const {
        std::string text = kTask;
        text.replace(text.find("{context}"), 9, prompt);
        folder.write("asked.toml", text);
    }
    std::string report(const std::string& format) const {
        const Ran ran = deft("report", {"--root", root.string(), "--format", format, "--full", "tiny"});
        CHECK(ran.exit_code == kExitOk);
        return ran.out;
    }
    std::string stale() const {
        const Ran ran = deft("status", {"--stale"});
        CHECK(ran.exit_code == kExitOk);
        return ran.out;
    }
    // How many trainings and scorings there were.
    std::string attempts() const {
        return value(
            "SELECT count(*) FILTER (WHERE kind = 'train') || ' ' || count(*) FILTER (WHERE kind = 'score')"
            " FROM attempt");
    }
    // As if a program of the epoch before had done it.
    void age() const {
        results_db::Connection connection(root / "results.db", results_db::Connection::Mode::write);
        connection.execute("DROP TRIGGER experiment_ro");
        std::map<std::int64_t, Json> configs;  // by trial
        results_db::Statement query(connection, "SELECT id, config_json FROM experiment");
        while (query.step()) configs[query.integer(0)] = parse_json(query.text(1));
        for (auto& [id, config] : configs) {
            config["result_epoch"] = config.at("result_epoch").get<std::int64_t>() - 1;
            const results_db::ConfigHashes hashes = results_db::hashes_of_config(config);
            results_db::Statement(
                connection, "UPDATE experiment SET config_hash = ?2, variant_hash = ?3, config_json = ?4 WHERE id = ?1")
                .bind(id, hashes.config, hashes.variant, canonical_json(config))
                .run();
        }
    }
};

// The first lines of the titles of the marked cells of a report in JSON, and their one reason.
std::pair<std::vector<std::string>, std::string> marked(const std::string& json) {
    const Json table = Json::parse(json);
    std::vector<std::string> titles;
    std::string reason;
    for (const Json& row : table.at("rows"))
        for (std::size_t i = 0; i < row.size(); ++i)
            if (row[i].contains("stale")) {
                titles.push_back(first_line(table.at("columns")[i].at("title").get<std::string>()));
                CHECK((reason.empty() || reason == row[i].at("stale").get<std::string>()));
                reason = row[i].at("stale");
            }
    return {titles, reason};
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

const std::string kReason = "eval: the task's file has changed";

}  // namespace

TEST_CASE("A task file edited by one byte: exactly its cells become stale, in six formats", "[slow]") {
    const StaleSweep sweep;
    CHECK_THAT(sweep.stale(), ContainsSubstring("Nothing is stale."));
    const std::vector<std::string> formats = {"term", "md", "csv", "tex", "json", "html"};
    std::map<std::string, std::string> before;
    for (const std::string& format : formats) before[format] = sweep.report(format);
    for (const auto& [format, text] : before) CHECK(count_of(text, "¶") + count_of(text, "\\P{}") == 0);
    // A comment says nothing, and changes nothing.
    sweep.folder.write("asked.toml", std::string(kTask) + "#\n");
    for (const std::string& format : formats) CHECK(sweep.report(format) == before[format]);
    std::string text = kTask;
    text.replace(text.find("{context}"), 9, "{context}.");
    REQUIRE(text.size() == std::string(kTask).size() + 1);
    sweep.folder.write("asked.toml", text);

    CHECK(marked(sweep.report("json")) == std::pair(std::vector<std::string>{"mine"}, kReason));
    for (const char* format : {"term", "md"}) {
        const std::string now = sweep.report(format);
        INFO(now);
        CHECK(count_of(now, "¶") == 2);  // the cell and the note
        CHECK_THAT(now, ContainsSubstring("¶ Stale: mine of plain: " + kReason));
        // The row's mark is the last thing in it but for what closes a line of Markdown.
        CHECK(count_of(now, "† ¶") + count_of(now, "† ¶ |") >= 1);
    }
    const std::string tex = sweep.report("tex"), csv = sweep.report("csv"), html = sweep.report("html");
    CHECK(count_of(tex, "\\P{}") == 2);
    CHECK_THAT(csv, ContainsSubstring(",stale\r\n") && ContainsSubstring("mine acc (chance 0.25): " + kReason));
    CHECK(count_of(csv, kReason) == 1);
    CHECK(count_of(html, "¶") == 4);  // the cell, the note, and the raw value of each seed
    CHECK(count_of(html, "stale: eval: the task&#39;s file has changed\"") == 3);
    const Json trials = Json::parse(sweep.report("json")).at("trials");
    for (const Json& trial : trials) {
        CHECK_FALSE(trial.contains("stale"));
        for (const Json& score : trial.at("scores"))
            CHECK(score.value("stale", "") == (score.at("task") == "mine" ? kReason : ""));
    }
    const std::string listed = sweep.stale();
    CHECK(count_of(listed, kReason) == 2);  // a line a seed
    CHECK_THAT(listed,
               ContainsSubstring("plain/1") && ContainsSubstring("plain/2") && !ContainsSubstring("last_words"));
    CHECK_THAT(listed, ContainsSubstring("--rerun-if eval"));

    // The task is found also where its new scoring was planned and has not come to its end.
    const std::string planned = sweep.value("SELECT scores_json FROM sweep_member");
    const auto plan = [&](const std::string& sql) {
        results_db::Connection(sweep.root / "results.db", results_db::Connection::Mode::write).execute(sql.c_str());
    };
    plan("UPDATE sweep_member SET scores_json = json_set(scores_json, '$[1].key', 'planned since')");
    CHECK(marked(sweep.report("json")) == std::pair(std::vector<std::string>{"mine"}, kReason));
    plan("UPDATE sweep_member SET scores_json = '" + planned + "'");

    // A run keeps it or scores it again, and trains nothing.
    CHECK(sweep.attempts() == "2 2");
    CHECK_THAT(sweep.run({"--rerun-if", "never"}).err,
               ContainsSubstring("2 already done") && ContainsSubstring("is kept"));
    test::Process of_table(
        {DEFT_PROGRAM, "run", "--for-table", "tiny", "--rerun-if", "never", "--root", sweep.root.string()}, sweep.out(),
        sweep.err());
    CHECK(of_table.wait() == kExitOk);
    CHECK(sweep.attempts() == "2 2");
    CHECK_THAT(sweep.run({"--rerun-if", "code,data"}).err, ContainsSubstring("2 already done"));
    CHECK(sweep.attempts() == "2 2");
    CHECK(marked(sweep.report("json")).second == kReason);
    const Ran dry = sweep.run({"--rerun-if", "eval", "--dry-run"});
    CHECK_THAT(dry.err, ContainsSubstring("asked.toml is scored again") && ContainsSubstring("0 already done"));
    CHECK_THAT(sweep.run({"--rerun-if", "eval", "--full"}).out, !ContainsSubstring("¶"));
    CHECK(sweep.attempts() == "2 4");
    CHECK_THAT(sweep.stale(), ContainsSubstring("Nothing is stale."));
    sweep.edit_task("{context}!");
    CHECK(sweep.run().exit_code == kExitOk);  // as without the option
    CHECK(sweep.attempts() == "2 6");
    CHECK(sweep.run({"--rerun-if", "sometimes"}).exit_code == kExitUsage);
    // A task that is gone is not known to be stale.
    std::filesystem::remove(sweep.folder.path / "asked.toml");
    CHECK(marked(sweep.report("json")).first.empty());
    CHECK_THAT(sweep.report("term"), ContainsSubstring("Not known whether stale: mine of plain: "));
}

TEST_CASE("A corpus edited by a byte makes its rows stale; its new trainings take their place, and only whole ones") {
    const StaleSweep sweep;
    const std::string loss = sweep.value("SELECT min(p.loss) FROM v_curve p");
    sweep.write_corpus("a bat ran");
    const auto [titles, reason] = marked(sweep.report("json"));
    CHECK_THAT(reason, ContainsSubstring("data: the training data has changed"));
    CHECK(titles.size() == 16);
    CHECK(titles.front() == "recipe");
    const std::string before = sweep.report("json");
    // Neither the results nor their staleness need the sweep's file.
    std::filesystem::rename(sweep.file, sweep.folder.path / "away.toml");
    CHECK(sweep.report("json") == before);
    std::filesystem::rename(sweep.folder.path / "away.toml", sweep.file);

    CHECK(sweep.run({"--rerun-if", "code,eval"}).exit_code == kExitOk);
    CHECK(sweep.attempts() == "2 2");
    // A stale model is scored by what is asked of it now.
    sweep.edit_task("{context}.");
    const Ran scored = sweep.run({"--rerun-if", "eval"});
    CHECK(scored.exit_code == kExitOk);
    CHECK_THAT(scored.err, ContainsSubstring("the result is kept, though stale by data") &&
                               ContainsSubstring("asked.toml is scored again"));
    CHECK(sweep.attempts() == "2 4");
    CHECK(marked(sweep.report("json")) == std::pair(titles, reason));
    CHECK_THAT(sweep.stale(), ContainsSubstring("training") && ContainsSubstring("--rerun-if data\n"));

    CHECK(sweep.run({"--rerun-if", "data", "--seeds", "1"}).exit_code == kExitOk);  // a sweep of its own
    const Ran ran = sweep.run({"--rerun-if", "data"});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.err, ContainsSubstring("trained again, for data"));
    CHECK_THAT(ran.out, !ContainsSubstring("¶") && !ContainsSubstring("rows mix"));
    CHECK(sweep.attempts() == "4 6");
    // Old and new are no one mean: two seeds a row, of one data set.
    CHECK_THAT(ran.out, ContainsSubstring("Seeds: 2 a row."));
    CHECK(Json::parse(sweep.report("json")).at("trials").size() == 2);
    // The data is what it was: so are the results, and nothing is trained.
    sweep.write_corpus("a cat ran");
    CHECK_THAT(sweep.run().err, !ContainsSubstring("trained again"));
    CHECK(sweep.attempts().starts_with("4 "));
    CHECK_THAT(sweep.stale(), ContainsSubstring("Nothing is stale."));
    // Data that is gone is not known to have changed.
    std::filesystem::remove(sweep.folder.path / "corpus.txt");
    CHECK(marked(sweep.report("json")).first.empty());
    CHECK_THAT(sweep.report("term"), ContainsSubstring("Not known whether stale: plain: the training data: "));
}

TEST_CASE("Results of an older result epoch are stale by code, and are trained again when that is asked") {
    const StaleSweep sweep;
    sweep.age();
    CHECK_THAT(marked(sweep.report("json")).second, ContainsSubstring("code: result epoch "));
    CHECK_THAT(sweep.stale(), ContainsSubstring("--rerun-if code\n"));
    for (const char* rerun_if : {"never", "data,eval"}) {
        const Ran kept = sweep.run({"--rerun-if", rerun_if, "--full"});
        CHECK(kept.exit_code == kExitOk);
        CHECK_THAT(kept.err, ContainsSubstring("2 already done") && ContainsSubstring("kept, though stale by code"));
        CHECK_THAT(kept.out, ContainsSubstring("¶ Stale: plain: code: result epoch"));
        CHECK(sweep.attempts() == "2 2");
    }
    // One that fails takes no result's place.
    const Ran failed = sweep.run({"--rerun-if", "code", "--set", "train.learning_rate=1e30"});
    CHECK(failed.exit_code == kExitFailed);
    CHECK_THAT(sweep.run({"--rerun-if", "code"}).out, !ContainsSubstring("¶"));
    CHECK_THAT(sweep.stale(), ContainsSubstring("Nothing is stale."));
}
