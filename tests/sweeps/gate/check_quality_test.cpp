// Real tiny sweeps against a baseline that was pinned from another one.

#include <algorithm>

#include "results_db/writer.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::kPlain;
using test::Ran;
using test::TinySweep;

namespace {

Ran in_root(const TinySweep& sweep, const std::string& command, std::vector<std::string> more) {
    more.insert(more.end(), {"--root", sweep.root.string()});
    return sweep.deft(command, more);
}

Ran check(const TinySweep& sweep, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"quality", "--baseline", "main"});
    return in_root(sweep, "check", std::move(more));
}

std::string verdicts_of(const TinySweep& sweep, const std::string& measure) {
    return sweep.value(
        "SELECT result FROM verdict WHERE check_uid = (SELECT check_uid FROM verdict ORDER BY id DESC"
        " LIMIT 1) AND subject_json LIKE '%\"metric\":\"" +
        measure + "\"%'");
}

}  // namespace

TEST_CASE("A sweep that is trained again passes its baseline, and a spoiled sweep fails it", "[slow]") {
    const TinySweep sweep(kPlain, "[1, 2, 3]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    CHECK(check(sweep).exit_code == kExitNothing);  // nothing is pinned
    REQUIRE(in_root(sweep, "baseline", {"pin", "main", "--reason", "the first"}).exit_code == kExitOk);
    const Ran twice = in_root(sweep, "baseline", {"pin", "main"});
    CHECK(twice.exit_code == kExitUsage);
    CHECK_THAT(twice.err, ContainsSubstring("retire it first: deft baseline retire main"));
    const Ran mistyped = in_root(sweep, "check", {"quality", "--baseline", "mian"});
    CHECK(mistyped.exit_code == kExitUsage);
    CHECK_THAT(mistyped.err, ContainsSubstring("no live baseline is named mian") && ContainsSubstring("main"));
    CHECK_THAT(in_root(sweep, "baseline", {"list"}).out, ContainsSubstring("the first"));

    const Ran itself = check(sweep);
    CHECK(itself.exit_code == kExitNothing);
    CHECK_THAT(itself.out, ContainsSubstring("nothing was trained since"));
    CHECK(std::count(itself.out.begin(), itself.out.end(), '\n') == 1);
    const Ran in_full = check(sweep, {"--full"});
    CHECK(std::count(in_full.out.begin(), in_full.out.end(), '\n') > 3);

    REQUIRE(sweep.run({"--seeds", "4,5,6"}).exit_code == kExitOk);
    const Ran again = check(sweep);
    CHECK(again.exit_code == kExitOk);
    for (const char* measure : {"loss", "bits_per_byte", "loss curve"}) {
        INFO(measure);
        const std::string verdict = verdicts_of(sweep, measure);
        CHECK((verdict == "same" || verdict == "unclear"));
    }
    // Every verdict carries the limit that was applied, and a dry run leaves none.
    const std::string stored = sweep.value("SELECT count(*) FROM verdict");
    CHECK(sweep.value("SELECT count(*) FROM verdict WHERE effect IS NOT NULL AND applied_limit IS NULL") == "0");
    const Ran wide = check(sweep, {"--loss-margin", "0.5", "--score-margin", "0.9", "--strict", "--dry-run"});
    CHECK(wide.exit_code == kExitOk);
    CHECK(sweep.value("SELECT count(*) FROM verdict") == stored);

    REQUIRE(sweep.run({"--seeds", "4,5,6", "--set", "train.learning_rate=1e-7"}).exit_code == kExitOk);
    const Ran spoiled = check(sweep, {"--json"});
    CHECK(spoiled.exit_code == kExitWorse);
    CHECK(verdicts_of(sweep, "loss") == "worse");
    CHECK(verdicts_of(sweep, "loss curve") == "worse");
    const Json json = Json::parse(spoiled.out);
    CHECK(json.at("exit_code") == kExitWorse);
    CHECK_THAT(spoiled.out, ContainsSubstring("its configuration is not the baseline's"));

    const std::string wild = "train.learning_rate=1e30";
    CHECK(sweep.run({"--seeds", "4", "--set", wild, "--set", "train.max_grad_norm=0"}).exit_code == kExitFailed);
    const Ran broken = check(sweep);
    CHECK(broken.exit_code == kExitFailed);
    CHECK_THAT(broken.out, ContainsSubstring("broken") && ContainsSubstring("4 of 4 seeds crashed"));

    CHECK(in_root(sweep, "baseline", {"retire", "main"}).exit_code == kExitOk);
    CHECK(in_root(sweep, "baseline", {"retire", "main"}).exit_code == kExitNothing);
    CHECK(check(sweep).exit_code == kExitNothing);
    CHECK_THAT(in_root(sweep, "baseline", {"list"}).out, ContainsSubstring("retired"));
}

TEST_CASE("A baseline may lie in other results, which a check only reads") {
    const TinySweep trusted(kPlain, "[1, 2, 3]"), fresh(kPlain, "[1, 2, 3]");
    REQUIRE(trusted.run().exit_code == kExitOk);
    REQUIRE(in_root(trusted, "baseline", {"pin", "main"}).exit_code == kExitOk);
    REQUIRE(fresh.run().exit_code == kExitOk);
    const std::string before = read_file(trusted.root / "results.db");
    const Ran ran = check(fresh, {"--baseline-root", trusted.root.string(), "--strict"});
    CHECK(ran.exit_code == kExitOk);
    CHECK(verdicts_of(fresh, "loss") == "same");  // the same seeds, bit for bit
    CHECK_THAT(ran.out, ContainsSubstring("same"));
    CHECK(read_file(trusted.root / "results.db") == before);

    // The results may be a file too; verdicts on it are stored nowhere.
    const std::string file = (fresh.root / "results.db").string();
    const Ran of_file = check(trusted, {"--from", file, "tiny", "--only", "plain"});
    CHECK(of_file.exit_code == kExitOk);
    CHECK_THAT(of_file.out, ContainsSubstring("same"));
    CHECK(trusted.value("SELECT count(*) FROM verdict") == "0");
    CHECK_THAT(in_root(trusted, "baseline", {"pin", "other", "--from", file, "tiny"}).out,
               ContainsSubstring("Pinned baseline other"));
}

TEST_CASE("The gates on stored results refuse a file that is not a results database") {
    const TinySweep sweep(kPlain);
    const auto all = [&](int code, const std::string& text) {
        for (const std::vector<std::string>& words :
             {std::vector<std::string>{"check", "quality", "--baseline", "main"},
              {"check", "trend"},
              {"baseline", "list"},
              {"baseline", "retire", "main"},
              {"baseline", "pin", "main"}}) {
            const Ran ran = in_root(sweep, words[0], {words.begin() + 1, words.end()});
            CHECK(ran.exit_code == code);
            CHECK_THAT(ran.err, ContainsSubstring(text));
        }
    };
    all(kExitNothing, "no results");
    CHECK(!std::filesystem::exists(sweep.root));  // asking made nothing
    std::filesystem::create_directories(sweep.root);
    write_file_atomically(sweep.root / "results.db", "");
    all(kExitNothing, "no results");
    write_file_atomically(sweep.root / "results.db", "these are my notes\n");
    all(kExitDatabase, "not a deft results database");
    std::filesystem::remove(sweep.root / "results.db");
    { const results_db::Writer writer(sweep.root / "results.db"); }
    const Ran trend = in_root(sweep, "check", {"trend"});
    CHECK(trend.exit_code == kExitNothing);
    CHECK_THAT(trend.out, ContainsSubstring("No benchmark session is stored"));
    CHECK(check(sweep).exit_code == kExitNothing);
}
