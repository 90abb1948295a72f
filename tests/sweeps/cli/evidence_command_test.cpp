// deft db export, deft db merge and deft report --from: results that go from one root to another.

#include <algorithm>
#include <map>
#include <regex>

#include "base/json.h"
#include "base/sha256.h"
#include "reporting/text.h"
#include "reporting/views/screen/screen.h"
#include "results_db/open.h"
#include "results_db/rows.h"
#include "sweeps/spec/published_tables.h"
#include "tests/results_db/preliminary_database.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

namespace fs = std::filesystem;

// A copy of a root's database that has one seed of the sweep, as if it had been run with --seeds.
void copy_seed(const fs::path& root, const fs::path& to, std::int64_t seed) {
    make_folder(to);
    results_db::Connection from(root / "results.db", results_db::Connection::Mode::write);
    results_db::Statement(from, "VACUUM INTO ?1").bind((to / "results.db").string()).run();
    results_db::Connection copy(to / "results.db", results_db::Connection::Mode::write);
    results_db::Statement(
        copy, "DELETE FROM sweep_member WHERE experiment_id IN (SELECT id FROM experiment WHERE seed <> ?1)")
        .bind(seed)
        .run();
    results_db::Statement(copy, "UPDATE sweep SET spec_sha256 = ?1").bind(sha256(std::to_string(seed))).run();
}

// The report of a root or of files.
std::string report(const TinySweep& sweep, const std::string& option, const std::vector<std::string>& values,
                   const std::string& format) {
    std::vector<std::string> words = {"tiny", "--full", "--format", format};
    for (const std::string& value : values) words.insert(words.end(), {option, value});
    const Ran ran = sweep.deft("report", words);
    CHECK(ran.exit_code == kExitOk);
    CHECK_FALSE(ran.out.empty());
    return ran.out;
}

}  // namespace

TEST_CASE("seeds of two databases that are merged through text make the table of one database with both",
          "[slow][bare]") {
    const TinySweep sweep(test::kPlain + test::kBothTechniques, "[1, 2]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    const fs::path &folder = sweep.folder.path, merged = folder / "merged root";
    std::vector<std::string> texts;
    for (const std::int64_t seed : {2, 1}) {
        const fs::path root = folder / ("seed " + std::to_string(seed));
        copy_seed(sweep.root, root, seed);
        texts.push_back(folder / fmt::format("seed_{}.jsonl", seed));
        const Ran exported = sweep.deft("db", {"export", "tiny", "--root", root.string(), "--out", texts.back()});
        CHECK(exported.exit_code == kExitOk);
        CHECK_THAT(exported.err, ContainsSubstring("2 trials and 4 ended attempts") && ContainsSubstring("at most"));
        const std::string text = read_file(texts.back());
        CHECK(text == sweep.deft("db", {"export", "tiny", "--root", root.string()}).out);
        for (const std::string& part : {folder.string(), std::string("\"/"), std::string(" /")})
            CHECK_THAT(text, !ContainsSubstring(part));
    }
    const Ran first = sweep.deft("db", {"merge", texts[0], "--root", merged.string()});
    CHECK(first.exit_code == kExitOk);
    CHECK_THAT(first.out, ContainsSubstring("has 2 trials, 4 attempts and 0 verdicts more"));
    const Ran second = sweep.deft("db", {"merge", texts[1], "--root", merged.string()});
    CHECK(second.exit_code == kExitOk);
    CHECK_THAT(second.out, ContainsSubstring("run with other seeds; seed 1 are"));
    for (const char* format : {"term", "md", "csv", "tex"}) {
        const std::string one = report(sweep, "--root", {sweep.root.string()}, format);
        CHECK(report(sweep, "--root", {merged.string()}, format) == one);
        CHECK(report(sweep, "--from", texts, format) == one);
    }
    CHECK_THAT(report(sweep, "--from", texts, "html"), ContainsSubstring("<svg"));
    CHECK_THAT(report(sweep, "--from", {sweep.root.string()}, "json"), ContainsSubstring("both"));

    // Merged once more it is the same, and so is what it writes.
    const Ran again = sweep.deft("db", {"merge", texts[0], texts[1], "--root", merged.string()});
    CHECK(again.exit_code == kExitOk);
    CHECK_THAT(again.out, ContainsSubstring("nothing new for tiny@") && ContainsSubstring("4 attempts already exist"));

    // Trials of other machines count as done, and are distinguished from those run here.
    test::Process status({DEFT_PROGRAM, "status", "--root", merged.string()}, sweep.out(), sweep.err());
    CHECK(status.wait() == kExitOk);
    CHECK_THAT(read_file(sweep.out()), ContainsSubstring("4 of them were merged from another root"));
    CHECK_THAT(sweep.deft("show", {"plain/1", "--root", merged.string()}).out,
               ContainsSubstring("none: merged from another root"));
    const Ran logs = sweep.deft("logs", {"plain/1", "--root", merged.string()});
    CHECK(logs.exit_code == kExitNothing);
    CHECK_THAT(logs.err, ContainsSubstring("merged from another root, without its log"));
    const std::vector<std::string> run_there = {DEFT_PROGRAM, "run", sweep.file.string(), "--root", merged.string()};
    test::Process process(run_there, sweep.out(), sweep.err());
    CHECK(process.wait() == kExitOk);
    CHECK_THAT(read_file(sweep.err()), ContainsSubstring("4 already done") &&
                                           ContainsSubstring("4 trials were merged from another root") &&
                                           ContainsSubstring("everything was finished already"));
    CHECK_FALSE(fs::exists(merged / "runs"));

    // A database is taken in as its text is.
    const fs::path third = folder / "third";
    CHECK(sweep.deft("db", {"merge", sweep.root.string(), "--root", third.string()}).exit_code == kExitOk);
    CHECK(report(sweep, "--root", {third.string()}, "term") == report(sweep, "--root", {sweep.root.string()}, "term"));
}

TEST_CASE("what cannot be merged makes no database, and changes none", "[bare]") {
    const TinySweep sweep(test::kPlain);
    REQUIRE(sweep.run().exit_code == kExitOk);
    const fs::path &folder = sweep.folder.path, other = folder / "other", text = folder / "a.jsonl";
    REQUIRE(sweep.deft("db", {"export", "tiny", "--root", sweep.root.string(), "--out", text.string()}).exit_code ==
            kExitOk);
    std::string changed = read_file(text);
    const std::size_t at = changed.find("\"own_seconds\":") + 15;
    changed[at + 2] = changed[at + 2] == '5' ? '6' : '5';
    const fs::path damaged = sweep.folder.write("damaged.jsonl", changed);
    const Ran refused = sweep.deft("db", {"merge", damaged.string(), "--root", other.string()});
    CHECK(refused.exit_code == kExitDatabase);
    CHECK_THAT(refused.err, ContainsSubstring("damaged.jsonl:") && ContainsSubstring("something in it was changed"));
    CHECK_FALSE(fs::exists(other));
    CHECK(sweep.deft("report", {"--from", damaged.string()}).exit_code == kExitDatabase);
    CHECK(sweep.deft("db", {"merge", (folder / "none.jsonl").string()}).exit_code == kExitUsage);
    CHECK(sweep.deft("db", {"merge", "/dev/null"}).exit_code == kExitUsage);
    CHECK(sweep.deft("db", {"export", "tny", "--root", sweep.root.string()}).exit_code == kExitUsage);
    // Longer than any evidence.
    const fs::path huge = sweep.folder.write("huge.jsonl", "");
    fs::resize_file(huge, results_db::kMostReadBytes + 1);
    CHECK_THAT(sweep.deft("db", {"merge", huge.string()}).err, ContainsSubstring("no evidence has more"));
    // A database of an older deft, or of another program.
    make_folder(other);
    test::write_preliminary_database(other / "results.db");
    const Ran older = sweep.deft("db", {"merge", other.string(), "--root", sweep.root.string()});
    CHECK(older.exit_code == kExitDatabase);
    CHECK_THAT(older.err, ContainsSubstring("deft db upgrade --root " + other.string()));
    const fs::path foreign = sweep.folder.write("foreign.db", "SQLite format 3" + std::string(200, '\0'));
    CHECK(sweep.deft("db", {"merge", foreign.string(), "--root", sweep.root.string()}).exit_code == kExitDatabase);
}

// The word of a verdict on pages, for the outcome that a check prints.
std::string verdict_of(const std::string& outcome) {
    static const std::map<std::string, std::string> words = {
        {"holds", "supported"}, {"fails", "refuted"}, {"unclear", "inconclusive"}, {"missing", "not evaluated"}};
    const auto found = words.find(outcome);
    return found == words.end() ? outcome : found->second;
}

TEST_CASE("the verdicts of docs/results.md are those of the files that it names", "[bare]") {
    const TinySweep sweep(test::kPlain);
    const fs::path source = DEFT_SOURCE_DIR;
    const std::string page = read_file(source / "docs/results.md");
    const std::vector<std::pair<std::string, std::string>> claims = {
        {"both techniques on half of the tokens are as good", "half_of_the_data_keeps_zero_shot"},
        {"on all of the tokens both are better", "all_of_the_data_improves"},
        {"on half of the tokens both close half of the gap that the baseline has there", "closes_half_of_the_gap"},
        {"both on all of the tokens are the best of all", "all_of_the_data_is_best"},
        {"both on half of the tokens take half of the time", "half_of_the_time"}};
    for (const auto& [column, scale] : {std::pair(2, "proxy"), std::pair(3, "short")}) {
        const fs::path file = source / "evidence" / fmt::format("gpt_combined_{}.jsonl", scale);
        const Ran ran = sweep.deft("check", {"claims", "--from", file.string(), "--json"});
        CHECK(ran.exit_code == kExitWorse);
        const Json findings = Json::parse(ran.out).at("findings");
        for (const auto& [statement, id] : claims) {
            INFO(scale << ": " << id);
            const auto finding = std::find_if(findings.begin(), findings.end(), [&, wanted = id](const Json& one) {
                return one.at("name").get<std::string>().ends_with(": " + wanted);
            });
            REQUIRE(finding != findings.end());
            const std::size_t row = page.find("| " + statement);
            REQUIRE(row != std::string::npos);
            std::size_t from = row;
            for (int i = 0; i < column; ++i) from = page.find('|', from) + 1;
            const std::string cell = page.substr(from, page.find('|', from) - from);
            CHECK_THAT(cell,
                       Catch::Matchers::StartsWith(" " + verdict_of(finding->at("outcome").get<std::string>()) + ": "));
            const std::regex number("-?[0-9]+(\\.[0-9]+)?%?");
            std::size_t numbers = 0;
            for (std::sregex_iterator it(cell.begin(), cell.end(), number), end; it != end; ++it, ++numbers)
                CHECK_THAT(finding->at("text").get<std::string>(), ContainsSubstring(it->str()));
            CHECK(numbers >= 1);
        }
    }
    CHECK_FALSE(fs::exists(sweep.root));  // nothing was stored
}

TEST_CASE("what is kept in evidence is whole, fit to commit, and reported from", "[slow][bare]") {
    std::map<std::string, std::vector<std::string>>
        kept;  // by sweep and scale, of one file or of parts: bert.1of6.jsonl
    const TinySweep sweep(test::kPlain);
    for (const auto& entry : fs::directory_iterator(fs::path(DEFT_SOURCE_DIR) / "evidence")) {
        INFO(entry.path().string());
        if (entry.path().extension() == ".svg") continue;  // a picture of the text file beside it
        if (entry.path().filename() == "fill_tables") continue;
        if (entry.is_directory()) {  // what tests/gpu/run measured on a machine
            for (const auto& stage : fs::directory_iterator(entry.path())) {
                const std::string text = read_file(stage.path());
                CHECK(Json::parse(text).at("schema") == "deft-gpu-stage/1");
                for (const char* part : {"/home", "/root", "/tmp", "/work"}) CHECK_THAT(text, !ContainsSubstring(part));
            }
            continue;
        }
        REQUIRE(entry.path().extension() == ".jsonl");
        const std::string text = read_file(entry.path());
        CHECK(text.size() <= results_db::kMostEvidenceBytes);
        for (const char* part : {"/home", "/root", "/tmp", "/work"}) CHECK_THAT(text, !ContainsSubstring(part));
        const std::string name = entry.path().filename().string();
        kept[name.substr(0, name.find('.'))].push_back(entry.path().string());
    }
    CHECK(kept.size() >= 13);
    for (auto& [name, files] : kept) {
        INFO(name);
        std::sort(files.begin(), files.end());
        std::vector<std::string> from;
        for (const std::string& file : files) from.insert(from.end(), {"--from", file});
        const Ran first = sweep.deft("report", from);
        CHECK(first.exit_code == kExitOk);
        CHECK(std::count(first.out.begin(), first.out.end(), '\n') <= std::ptrdiff_t(reporting::kScreenLines));
        CHECK_THAT(first.out, ContainsSubstring("Answer   ") && ContainsSubstring("More     deft report --full"));
        for (const std::string_view line : reporting::lines_of(first.out))
            if (line.find('/') == std::string_view::npos)
                CHECK(reporting::display_width(line) <= 80);  // a path is one word
        from.push_back("--full");
        const Ran ran = sweep.deft("report", from);
        CHECK(ran.exit_code == kExitOk);
        CHECK_THAT(ran.err, !ContainsSubstring("parts, of which these are not here"));
        CHECK_THAT(ran.out, ContainsSubstring("Published: "));
        const Json head = Json::parse(reporting::lines_of(read_file(files.front())).at(1));
        const bool has_claims = !sweeps::published_table(head.at("paper").get<std::string>())->claims.empty();
        CHECK((ran.out.find("Claims of ") != std::string::npos) == has_claims);
    }
}
