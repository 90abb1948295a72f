// deft bench aa and ab, and deft check bench, with real processes: this program, and scripts whose times are known.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/json.h"
#include "base/process.h"
#include "results_db/reader.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

// A worker that answers as `deft bench serve` does. Its one case takes `seconds`, both hot and cold.
struct Script {
    std::string seconds = "0.002";
    std::string cases = "\"tiny/1\"";
    std::string hello = R"({"deft_bench":1})";
    std::string prepare = R"({"ready":true,"backend":"cpu","flops":1,"bytes":1,"hot":0.002,"cold":0.002})";
    std::string before_run;  // shell commands, with the count of runs so far in $runs
    std::string at_end;      // likewise, once nothing is asked any more

    std::string text() const {
        return fmt::format(
            "#!/bin/sh\n"
            "echo '{}'\n"
            "runs=0\n"
            "while read -r word rest; do case $word in\n"
            "describe) echo '{{\"git_sha\":\"abc\"}}' ;;\n"
            "list) echo '{{\"cases\":[{}]}}' ;;\n"
            "prepare) echo '{}' ;;\n"
            "run) runs=$((runs + 1)); {}\n echo '{{\"seconds\":{}}}' ;;\n"
            "quit) exit 0 ;;\n"
            "esac; done\n{}\n",
            hello, cases, prepare, before_run, seconds, at_end);
    }
};

std::string write_program(const TinySweep& sweep, const std::string& name, const Script& script) {
    const std::filesystem::path file = sweep.folder.write(name, script.text());
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
}

std::string root_of(const TinySweep& sweep) {
    return sweep.folder.path / "runs";
}

Ran compare(const TinySweep& sweep, const Script& base, const Script& head, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"ab", write_program(sweep, "base", base), write_program(sweep, "head", head),
                                      "--root", root_of(sweep)};
    words.insert(words.end(), more.begin(), more.end());
    return sweep.deft("bench", words);
}

// Commits whose "building" copies a script, tagged with what they are.
struct Repository {
    Repository() {
        sweep.folder.write(
            "checkout/CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.16)\nproject(tiny NONE)\n"
            "add_custom_target(deft COMMAND sh -n ${CMAKE_SOURCE_DIR}/program COMMAND ${CMAKE_COMMAND} -E copy"
            " ${CMAKE_SOURCE_DIR}/program ${CMAKE_BINARY_DIR}/deft)\n");
        git({"init", "-q"});
        Script slow;
        slow.seconds = "0.0022";
        commit({}, "", "fast");
        commit(slow, "", "slow");
        commit(slow, "if then\n", "broken");
        git({"rm", "-q", "CMakeLists.txt"});
        git({"commit", "-q", "-m", "empty"});
        git({"tag", "empty"});
        git({"reset", "-q", "--hard", "broken"});
    }

    std::filesystem::path checkout() const { return sweep.folder.path / "checkout"; }
    std::filesystem::path cache() const { return sweep.folder.path / "cache"; }

    void git(std::vector<std::string> words) const {
        std::vector<std::string> argv = {
            "git", "-C", checkout(), "-c", "user.name=t", "-c", "user.email=t@example.org"};
        argv.insert(argv.end(), words.begin(), words.end());
        REQUIRE(run_process(argv).exit_code == 0);
    }
    void commit(const Script& script, const std::string& after, const char* tag) const {
        std::filesystem::permissions(sweep.folder.write("checkout/program", script.text() + after),
                                     std::filesystem::perms::owner_all);
        git({"add", "-A"});
        git({"commit", "-q", "-m", tag});
        git({"tag", tag});
    }
    Ran check(const std::string& base, const std::string& head, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words = {"bench", base, head, "--checkout", checkout(), "--root", root_of(sweep)};
        words.insert(words.end(), more.begin(), more.end());
        return sweep.deft("check", words, [this] {
            ::setenv("XDG_CACHE_HOME", cache().c_str(), 1);
            ::unsetenv("GITHUB_STEP_SUMMARY");
        });
    }

    TinySweep sweep{""};
};

}  // namespace

TEST_CASE("a program ten percent slower is worse, one as fast the same, one faster better", "[paired_bench]") {
    const TinySweep sweep("");
    Script slow;
    slow.seconds = "0.0022";
    const Ran worse = compare(sweep, {}, slow);
    CHECK(worse.exit_code == 3);
    CHECK_THAT(worse.out,
               ContainsSubstring("B is 1.100x slower than A [1.100, 1.100]") && ContainsSubstring("24 + 24"));
    const auto rows = results_db::Reader(root_of(sweep) + "/results.db").benches();
    REQUIRE(rows.size() == 8);  // two arms, hot and cold, first and second measurement
    for (const results_db::BenchRow& row : rows) {
        CHECK(row.seconds == std::vector<double>(24, row.arm == "A" ? 0.002 : 0.0022));
        CHECK(row.git_sha == "abc");
        CHECK(row.verified);
    }
    const Ran same = compare(sweep, {}, {}, {"--strict"});
    CHECK(same.exit_code == kExitOk);
    CHECK_THAT(same.out, ContainsSubstring("same") && ContainsSubstring("1.000 times as long"));
    const Ran better = compare(sweep, slow, {}, {"--strict"});
    CHECK(better.exit_code == kExitOk);
    CHECK_THAT(better.out, ContainsSubstring("B is 1.100x faster than A [1.100, 1.100]"));
}

TEST_CASE("steps of presets are compared where they are named", "[paired_bench]") {
    const TinySweep sweep("");
    Script script;
    script.cases = R"("tiny/1","step/llama_mini","step/bert_mini","step/of_another_program")";
    const Ran plain = compare(sweep, script, script);
    CHECK_THAT(plain.out, ContainsSubstring("tiny/1") && !ContainsSubstring("step/"));
    const Ran preset = compare(sweep, script, script, {"--preset", "llama_mini"});
    CHECK(preset.exit_code == kExitOk);
    CHECK_THAT(preset.out,
               ContainsSubstring("step/llama_mini") && !ContainsSubstring("tiny/1") && !ContainsSubstring("bert_mini"));
    const Ran both =
        compare(sweep, script, script, {"-k", "tiny/*", "--preset", "llama_mini", "--preset", "bert_mini"});
    CHECK_THAT(both.out, ContainsSubstring("step/llama_mini") && ContainsSubstring("tiny/1") &&
                             ContainsSubstring("step/bert_mini"));
    const Ran newer = compare(sweep, {}, script, {"--preset", "llama_mini"});
    CHECK_THAT(newer.out, ContainsSubstring("step/llama_mini") && ContainsSubstring("only in B"));
    const Ran unknown = compare(sweep, script, script, {"--preset", "lama_mini"});
    CHECK(unknown.exit_code == kExitUsage);
    CHECK_THAT(unknown.err, ContainsSubstring("did you mean llama_mini?"));
}

TEST_CASE("an unclear or unconfirmed difference is not a regression, unless --strict asks for it", "[paired_bench]") {
    const TinySweep sweep("");
    Script restless;  // as much faster as slower, by far more than 96 pairs can average out
    restless.before_run =
        "case $((runs % 4)) in 0) s=0.0030 ;; 1) s=0.001333333 ;; 2) s=0.0024 ;; 3) s=0.001666667 ;; esac;"
        "echo '{\"seconds\":'$s'}'; continue";
    CHECK(compare(sweep, {}, restless).exit_code == kExitOk);
    const Ran strict = compare(sweep, {}, restless, {"--strict"});
    CHECK(strict.exit_code == 4);
    CHECK_THAT(strict.out, ContainsSubstring("unclear") && ContainsSubstring("96"));

    Script once;  // slow in the first three launches only
    const std::string counter = sweep.folder.path / "launches";
    once.before_run = fmt::format(
        "if [ $runs = 1 ]; then echo x >> {0}; fi\n"
        "if [ $(wc -l < {0}) -le 3 ]; then echo '{{\"seconds\":0.0022}}'; continue; fi",
        counter);
    const Ran unconfirmed = compare(sweep, {}, once, {"--strict"});
    CHECK(unconfirmed.exit_code == 4);
    CHECK_THAT(unconfirmed.out, ContainsSubstring("a second one did not confirm it"));
}

TEST_CASE("a comparison as JSON, with its verdicts stored beside their limits unless it is a dry run",
          "[paired_bench]") {
    const TinySweep sweep("");
    Script slow;
    slow.seconds = "0.0022";
    const Ran dry = compare(sweep, {}, slow, {"--dry-run"});
    CHECK(dry.exit_code == kExitWorse);
    CHECK(!std::filesystem::exists(root_of(sweep)));
    const Ran ran = compare(sweep, {}, slow, {"--json", "--margin", "0.05"});
    CHECK(ran.exit_code == kExitWorse);
    const Json json = Json::parse(ran.out);  // nothing else on standard output
    CHECK(json.at("schema") == "deft-check/1");
    CHECK(json.at("exit_code") == kExitWorse);
    REQUIRE(json.at("findings").size() == 2);
    CHECK(json.at("findings").at(0).at("outcome") == "worse");
    CHECK(json.at("findings").at(0).at("where") == "hot");
    CHECK_THAT(ran.err, ContainsSubstring("The ratio is B's time over A's"));

    const auto verdicts = results_db::Reader(root_of(sweep) + "/results.db").verdicts();
    REQUIRE(verdicts.size() == 2);
    for (const results_db::VerdictRow& verdict : verdicts) {
        CHECK(verdict.check_uid == verdicts[0].check_uid);
        CHECK(verdict.kind == "bench");
        CHECK(verdict.result == "worse");
        CHECK(*verdict.effect == Approx(std::log(1.1)));
        CHECK(*verdict.limit == Approx(std::log(1.05)));
        CHECK(*verdict.adjusted_p < 0.05);
        CHECK(*verdict.p_value <= *verdict.adjusted_p);
        CHECK(Json::parse(verdict.rule_json).at("margin") == 0.05);
        CHECK(Json::parse(verdict.subject_json).at("case") == "tiny/1");
        CHECK(Json::parse(verdict.subject_json).at("head").at("git_sha") == "abc");
    }
    Script wrong;
    wrong.prepare = R"({"wrong":"y[3] is 7, not 8"})";
    CHECK(compare(sweep, {}, wrong).exit_code == kExitFailed);
    const auto more = results_db::Reader(root_of(sweep) + "/results.db").verdicts();
    REQUIRE(more.size() == 4);
    CHECK(more[3].result == "broken");
    CHECK(more[3].check_uid != more[0].check_uid);
    CHECK_FALSE(more[3].effect.has_value());
}

TEST_CASE("wrong output and a crash are verdicts of their own", "[paired_bench]") {
    const TinySweep sweep("");
    Script wrong;
    wrong.prepare = R"({"wrong":"y[3] is 7, not 8"})";
    const Ran wrong_head = compare(sweep, {}, wrong);
    CHECK(wrong_head.exit_code == kExitFailed);
    CHECK_THAT(wrong_head.out, ContainsSubstring("wrong output in B") && ContainsSubstring("y[3] is 7, not 8"));
    const Ran wrong_base = compare(sweep, wrong, {});
    CHECK(wrong_base.exit_code == kExitNothing);
    CHECK_THAT(wrong_base.out, ContainsSubstring("wrong output in A"));

    Script crashing;
    crashing.before_run = "if [ $runs = 5 ]; then echo 'no such luck' >&2; kill -SEGV $$; fi";
    const Ran crash = compare(sweep, {}, crashing);
    CHECK(crash.exit_code == kExitFailed);
    CHECK_THAT(crash.out, ContainsSubstring("crashed in B") && ContainsSubstring("signal 11") &&
                              ContainsSubstring("no such luck"));
    CHECK(compare(sweep, crashing, {}).exit_code == kExitNothing);
    Script failing;
    failing.before_run = "echo '{\"error\":\"out of memory\"}'; continue";
    CHECK_THAT(compare(sweep, {}, failing).out, ContainsSubstring("out of memory"));
}

TEST_CASE("programs that are compared end by themselves, and can take their files away", "[paired_bench]") {
    const TinySweep sweep("");
    Script script;
    script.at_end = fmt::format("touch '{}'", (sweep.folder.path / "ended").string());
    CHECK(compare(sweep, script, script).exit_code == kExitOk);
    CHECK(std::filesystem::exists(sweep.folder.path / "ended"));
}

TEST_CASE("a case of one program alone is reported and not compared", "[paired_bench]") {
    const TinySweep sweep("");
    Script more;
    more.cases = R"("tiny/1","new/2")";
    const Ran both = compare(sweep, {}, more);
    CHECK(both.exit_code == kExitOk);
    CHECK_THAT(both.out, ContainsSubstring("new/2") && ContainsSubstring("only in B"));
    CHECK_THAT(compare(sweep, more, {}).out, ContainsSubstring("only in A"));
    CHECK(compare(sweep, {}, more, {"-k", "new/*"}).exit_code == kExitNothing);
    const Ran none = compare(sweep, {}, more, {"-k", "other/*"});
    CHECK(none.exit_code == kExitUsage);
    CHECK_THAT(none.err, ContainsSubstring("no case of either program matches other/*"));
}

TEST_CASE("a program that speaks otherwise is refused", "[paired_bench]") {
    const TinySweep sweep("");
    Script newer;
    newer.hello = R"({"deft_bench":2})";
    const Ran version = compare(sweep, {}, newer);
    CHECK(version.exit_code == kExitUsage);
    CHECK_THAT(version.err, ContainsSubstring("version 2 of the benchmark protocol, this program version 1"));
    const Ran silent = sweep.deft("bench", {"ab", "/bin/false", DEFT_PROGRAM, "--root", root_of(sweep)});
    CHECK(silent.exit_code == kExitUsage);
    CHECK_THAT(silent.err, ContainsSubstring("/bin/false cannot be compared") && ContainsSubstring("exit code 1"));
    for (const char* garbage :
         {"Segmentation fault", "[1, 2", "{\"seconds\":-1}", "{\"seconds\":\"x\"}", "{}", "\x1b[2J"}) {
        Script chatty;
        chatty.before_run = fmt::format("echo '{}'; continue", garbage);
        const Ran ran = compare(sweep, {}, chatty);
        CHECK(ran.exit_code == kExitFailed);
        CHECK_THAT(ran.err, ContainsSubstring("something else than the protocol's JSON"));
        CHECK(ran.err.find('\x1b') == std::string::npos);
    }
}

TEST_CASE("this program beside itself", "[paired_bench][slow]") {
    const TinySweep sweep("");
    const Ran ran = sweep.deft("bench", {"aa", "-k", "gather_rows/16/*", "--pairs", "10", "--root", root_of(sweep)});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("Identical code, 2 comparison(s)") &&
                            ContainsSubstring("Margin that this machine supports now"));
    const auto rows = results_db::Reader(root_of(sweep) + "/results.db").benches();
    REQUIRE(rows.size() >= 4);
    for (const results_db::BenchRow& row : rows) CHECK(row.seconds.size() >= 10);
    const Ran bad = sweep.deft("bench", {"aa", "--pairs", "3"});
    CHECK(bad.exit_code == kExitUsage);
}

TEST_CASE("deft check bench builds two commits once and compares them", "[paired_bench][slow]") {
    const Repository repository;
    const Ran worse = repository.check("fast", "slow");
    CHECK(worse.exit_code == 3);
    CHECK_THAT(worse.out, ContainsSubstring("HEAD is 1.100x slower than BASE"));
    CHECK_THAT(worse.err, ContainsSubstring("building"));
    const Ran again = repository.check("slow", "fast");
    CHECK(again.exit_code == kExitOk);
    CHECK(again.err.find("building") == std::string::npos);
    repository.sweep.folder.write("checkout/program", "changed");
    CHECK_THAT(repository.check("slow", "slow").out, !ContainsSubstring("has changes"));
    repository.git({"reset", "-q", "--hard", "slow"});
    repository.sweep.folder.write("checkout/program", "changed");
    CHECK_THAT(repository.check("fast", "HEAD").out, ContainsSubstring("has changes that are not in HEAD"));
    const Ran unknown = repository.check("fast", "no-such-branch");
    CHECK(unknown.exit_code == kExitUsage);
    CHECK_THAT(unknown.err, ContainsSubstring("no-such-branch names no commit"));
}

TEST_CASE("deft check bench refuses a pattern before it builds, and registers nothing in the repository",
          "[paired_bench][slow]") {
    const Repository repository;
    const Ran mistyped = repository.check("fast", "slow", {"-k", "gather_row/*"});
    CHECK(mistyped.exit_code == kExitUsage);
    CHECK_THAT(mistyped.err, ContainsSubstring("no case matches gather_row/*"));
    CHECK(!std::filesystem::exists(repository.cache()));
    REQUIRE(repository.check("fast", "slow").exit_code == kExitWorse);
    const auto git_says = [](const std::filesystem::path& folder, std::vector<std::string> words) {
        std::vector<std::string> argv = {"git", "-C", folder};
        argv.insert(argv.end(), words.begin(), words.end());
        return run_process(argv).out;
    };
    const std::string worktrees = git_says(repository.checkout(), {"worktree", "list"});
    CHECK(std::count(worktrees.begin(), worktrees.end(), '\n') == 1);
    for (const auto& commit : std::filesystem::directory_iterator(repository.cache() / "deft" / "builds"))
        CHECK(git_says(commit.path() / "source", {"rev-parse", "HEAD"}) == commit.path().filename().string() + "\n");
}

TEST_CASE("a commit that does not build is a finding, written wherever findings are", "[paired_bench][slow]") {
    const Repository repository;
    const std::filesystem::path out = repository.sweep.folder.path / "out-of-check";
    const std::vector<std::string> outputs = {"--github",       "--junit",    out / "junit.xml", "--bmf",
                                              out / "bmf.json", "--markdown", out / "table.md"};
    const auto verdicts = [&] { return results_db::Reader(root_of(repository.sweep) + "/results.db").verdicts(); };
    SECTION("HEAD: broken, as a crash is") {
        const Ran broken = repository.check("fast", "broken", outputs);
        CHECK(broken.exit_code == kExitFailed);
        CHECK_THAT(broken.out, ContainsSubstring("1 broken") && ContainsSubstring("build of HEAD"));
        CHECK_THAT(broken.err, ContainsSubstring("does not build") && ContainsSubstring("yntax error") &&
                                   ContainsSubstring("::error title=broken%3A build of HEAD::HEAD, commit "));
        CHECK_THAT(read_file(out / "junit.xml"),
                   ContainsSubstring("errors=\"1\"") && ContainsSubstring("<error message=\"HEAD, commit "));
        CHECK_THAT(read_file(out / "table.md"), ContainsSubstring("yntax error"));
        CHECK(Json::parse(read_file(out / "bmf.json")).empty());  // no number there
        REQUIRE(verdicts().size() == 1);
        CHECK(verdicts()[0].result == "broken");
        CHECK_THAT(verdicts()[0].text,
                   ContainsSubstring("does not build: program: ") && ContainsSubstring("yntax error"));
        const Ran json = repository.check("fast", "broken", {"--json", "--dry-run"});
        CHECK(json.exit_code == kExitFailed);
        CHECK(Json::parse(json.out).at("findings").at(0).at("outcome") == "broken");
        CHECK(verdicts().size() == 1);
    }
    SECTION("BASE: nothing is measured") {
        const Ran nothing = repository.check("broken", "fast", outputs);
        CHECK(nothing.exit_code == kExitNothing);
        CHECK_THAT(nothing.err, ContainsSubstring("::warning title=not evaluated%3A build of BASE::BASE, commit "));
        CHECK_THAT(read_file(out / "junit.xml"),
                   ContainsSubstring("skipped=\"1\"") && ContainsSubstring("leaves nothing to compare with"));
        REQUIRE(verdicts().size() == 1);
        CHECK(verdicts()[0].result == "missing");
        CHECK(repository.check("broken", ".", {"--dry-run"}).exit_code == kExitNothing);
    }
    SECTION("both: HEAD's is the graver") {
        const Ran both = repository.check("broken", "empty");
        CHECK(both.exit_code == kExitFailed);
        CHECK_THAT(both.out, ContainsSubstring("1 broken, 1 not evaluated") && ContainsSubstring("CMakeLists.txt"));
        CHECK(repository.check("broken", "empty").exit_code == kExitFailed);  // a half-finished build does not block it
    }
}

TEST_CASE("an interrupted checkout does not mark its commit as broken", "[paired_bench][slow]") {
    const Repository repository;
    REQUIRE(repository.check("fast", "slow").exit_code == kExitWorse);
    for (const auto& commit : std::filesystem::directory_iterator(repository.cache() / "deft" / "builds")) {
        std::filesystem::remove(commit.path() / "done");
        std::filesystem::remove(commit.path() / "checked_out");
        std::filesystem::remove(commit.path() / "source" / "program");
    }
    CHECK(repository.check("fast", "slow").exit_code == kExitWorse);
}
