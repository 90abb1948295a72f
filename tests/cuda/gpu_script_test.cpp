// tests/gpu/run with the emulated device, and with programs that fail, hang and report failures.

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/cuda/children.h"
#include "tests/python.h"

using namespace deft;

namespace {

struct Slice {
    test::TemporaryFolder folder;

    test::Ended run(const char* call, const std::string& deft, const std::string& tests,
                    std::vector<std::string> more = {}) const {
        test::Command command = {"/usr/bin/env", "python3",    DEFT_SOURCE_DIR "/tests/gpu/run",
                                 call,           "--emulated", deft + "," + tests};
        command.insert(command.end(), more.begin(), more.end());
        command.push_back((folder / "out").string());
        std::filesystem::remove(folder / "log");  // a child appends to it
        return test::run_child(command, folder / "log");
    }
    Json stage(const std::string& name) const { return Json::parse(read_file(folder / "out" / (name + ".json"))); }
    std::string program(const std::string& name, const std::string& script) const {
        const std::filesystem::path file = folder / name.c_str();
        write_file_atomically(file, "#!/bin/sh\n" + script);
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
        return file.string();
    }
};

constexpr const char* kNoPython = "no python3";

// The caps are those of a GPU; the emulated device shares a machine with other tests.
constexpr double kStretch = 8;

const std::string kTests = std::filesystem::read_symlink("/proc/self/exe");

}  // namespace

TEST_CASE("three calls on a GPU run every stage, write each, and do not repeat what was whole",
          "[slow][bare][python]") {
    if (!test::has_python()) DEFT_SKIP(kNoPython);
    const Slice slice;
    for (const char* call : {"1", "2", "3"}) {
        const test::Ended ended =
            slice.run(call, DEFT_EMULATED_PROGRAM, kTests, {"--stretch", std::to_string(kStretch)});
        INFO(ended.printed);
        CHECK(ended.exit_code == 0);
    }
    for (const char* name : {"kernels", "steps", "profiles", "cases", "training"}) {
        INFO(name);
        const Json stage = slice.stage(name);
        CHECK(stage.at("outcome") == "ok");
        CHECK(stage.at("failures").empty());
        CHECK(stage.at("seconds") < stage.at("cap_seconds"));
    }
    const std::vector<std::vector<const char*>> calls = {{"kernels", "steps", "products", "attention", "sanitizer"},
                                                         {"profiles", "counters"},
                                                         {"cases", "training", "times", "pytorch"}};
    for (const std::vector<const char*>& stages : calls) {
        double seconds = 0;
        for (const char* name : stages) seconds += slice.stage(name).at("cap_seconds").get<double>();
        CHECK(seconds <= 540 * kStretch);
    }
    for (const char* name : {"products", "attention", "sanitizer", "counters", "times", "pytorch"}) {
        INFO(name);
        CHECK(slice.stage(name).at("outcome") == "not run");
    }
    CHECK(slice.stage("kernels").at("results").at("tests") == Json{{"run", 1}, {"failed", 0}});
    CHECK(slice.stage("kernels").at("numbers").size() > 5);
    CHECK(slice.stage("steps").at("numbers").at("profiled step tiny, ms") > 0);
    CHECK(slice.stage("steps").at("results").at("profile tiny").at("products").size() > 10);
    const Json profiles = slice.stage("profiles");
    for (const char* name : {"random-LTD", "seqtru", "experts"})
        CHECK(profiles.at("numbers").at("profiled step " + std::string(name) + ", ms") > 0);

    const test::Ended again =
        slice.run("1", DEFT_EMULATED_PROGRAM, kTests,
                  {"--stretch", std::to_string(kStretch), "--previous", (slice.folder / "out").string()});
    CHECK(again.exit_code == 0);
    CHECK_THAT(again.printed, ContainsSubstring("steps: whole in") && !ContainsSubstring("steps: ok"));

    // Benchmarks of another commit are measured again, and compared.
    Json other = slice.stage("steps");
    other["commit"] = "another";
    write_file_atomically(slice.folder / "out" / "steps.json", other.dump());
    const test::Ended compared = slice.run(
        "1", DEFT_EMULATED_PROGRAM, kTests,
        {"--stretch", std::to_string(kStretch), "--only", "steps", "--previous", (slice.folder / "out").string()});
    CHECK_THAT(compared.printed, ContainsSubstring("steps: ok") && ContainsSubstring("profiled step tiny, ms:") &&
                                     ContainsSubstring("before"));
    CHECK(slice.stage("steps").at("commit") == "emulated");
}

TEST_CASE("no stage of a slice stops the next, and every failure is listed", "[bare][python]") {
    if (!test::has_python()) DEFT_SKIP(kNoPython);
    const Slice slice;
    const std::string report =
        "<?xml version=\"1.0\"?><Catch><TestCase name=\"every &lt;kernel&gt;\"><Info> gather 1 </Info>"
        "<Expression success=\"false\" type=\"CHECK\"><Original> a == b </Original><Expanded> 1 == 2 </Expanded>"
        "</Expression><Info> scatter 2 </Info><Expression success=\"false\" type=\"CHECK\"><Original> c </Original>"
        "<Expanded> 0 </Expanded></Expression></TestCase><TestCase name=\"crashes\"><Info> third </Info>";
    write_file_atomically(slice.folder / "report.xml", report);
    const std::string tests = slice.program(
        "tests", "for last; do :; done\ncp " + (slice.folder / "report.xml").string() + " \"$last\"\nexit 3\n");
    const test::Ended ended = slice.run("1", "/bin/false", tests, {"--only", "kernels,steps"});
    CHECK(ended.exit_code == 1);
    const Json kernels = slice.stage("kernels"), steps = slice.stage("steps");
    CHECK(kernels.at("outcome") == "failed");
    const Json& failures = kernels.at("failures");
    REQUIRE(failures.size() == 4);  // two checks, a crash, and the peaks
    CHECK(failures[0].at("test") == "every <kernel>");
    CHECK(failures[0].at("about") == Json::array({"gather 1"}));
    CHECK(failures[0].at("what") == "a == b | 1 == 2");
    CHECK(failures[1].at("about") == Json::array({"scatter 2"}));
    CHECK(failures[2].at("what") == "it did not end");
    CHECK(failures[2].at("about") == Json::array({"third"}));
    CHECK(steps.at("outcome") == "failed");
    CHECK(slice.run("3", "/bin/false", tests, {"--only", "cases"}).exit_code == 1);
    CHECK(slice.stage("cases").at("failures").size() == 3);

    // Whatever was measured is compared with the slice before.
    const test::Ended again =
        slice.run("3", "/bin/false", tests, {"--only", "cases", "--previous", (slice.folder / "out").string()});
    CHECK_THAT(again.printed, ContainsSubstring("cases: failed"));
    CHECK(slice.run("3", "/bin/false", tests, {"--only", "no-stage"}).exit_code == 2);
    CHECK(slice.run("3", "/bin/false", tests, {"--only", "steps"}).exit_code == 2);  // a stage of call 1
    CHECK(slice.run("4", "/bin/false", tests).exit_code == 2);
}

TEST_CASE("a slice refuses programs of uncommitted code, and a measurement of another commit", "[bare][python]") {
    if (!test::has_python()) DEFT_SKIP(kNoPython);
    const Slice slice;
    const std::string commit(40, 'a'), other(40, 'b');
    for (const std::string& dirty : {commit + "-dirty", std::string("unknown")}) {
        const test::Ended refused = slice.run("1", "/bin/false", "/bin/false", {"--commit", dirty});
        INFO(refused.printed);
        CHECK(refused.exit_code == 1);
        CHECK_THAT(refused.printed, ContainsSubstring(dirty) && ContainsSubstring("nothing was tested or measured"));
        CHECK(!std::filesystem::exists(slice.folder / "out"));
    }
    const auto outcome_of = [&](const std::string& said, const std::string& is_dirty) {
        const std::string result = R"({"seconds": 1, "predicted_seconds": null, "products": [], )"
                                   R"("fallbacks": {"products": []}, "commit": ")" +
                                   said + R"(", "dirty": )" + is_dirty + "}";
        const std::string deft = slice.program("deft", "for last; do :; done\necho '" + result + "' >\"$last\"\n");
        slice.run("1", deft, "/bin/false", {"--commit", commit, "--only", "steps"});
        return slice.stage("steps");
    };
    CHECK(outcome_of(commit, "false").at("outcome") == "ok");
    CHECK(outcome_of(commit, "true").at("outcome") == "failed");
    const Json mixed = outcome_of(other, "false");
    CHECK(mixed.at("outcome") == "failed");
    CHECK_THAT(mixed.at("failures").dump(), ContainsSubstring(other) && ContainsSubstring(commit));
}

TEST_CASE("a stage fails on a large product without tensor cores, and on one that does not repeat its bits",
          "[bare][python]") {
    if (!test::has_python()) DEFT_SKIP(kNoPython);
    const Slice slice;
    const auto failures_of = [&](const std::string& products) {
        const std::string result = R"({"seconds": 0.1, "predicted_seconds": null, )" + products + "}";
        const std::string profile =
            slice.program("profile", "for last; do :; done\necho '" + result + "' > \"$last\"\n");
        slice.run("1", profile, "/bin/false", {"--only", "steps"});
        return slice.stage("steps").at("failures");
    };
    CHECK(failures_of(R"("fallbacks": {"products": []}, "products": [{"product": "NT 8x8x8", "same_bits": true}])") ==
          Json::array());
    CHECK(failures_of(R"("fallbacks": {"products": ["NT 1280x50257x768"]}, "products": [])") ==
          Json{"the product NT 1280x50257x768 runs without tensor cores"});
    CHECK(failures_of(R"("fallbacks": {"products": []}, "products": [{"product": "NT 8x8x8", "same_bits": false}])") ==
          Json{"two runs of the product NT 8x8x8 differ in bits"});
}

TEST_CASE("a stage of a tree with changes is refused before anything is built", "[bare][python]") {
    const test::TemporaryFolder folder;
    const std::filesystem::path tree = folder / "tree", log = folder / "log";
    std::filesystem::create_directories(tree / "tests/gpu");
    std::filesystem::copy_file(DEFT_SOURCE_DIR "/tests/gpu/stage", tree / "tests/gpu/stage");
    const auto shell = [&](const std::string& script) {
        std::filesystem::remove(log);
        return test::run_child({"/usr/bin/env", "CUDACXX=/bin/true", "GIT_CONFIG_GLOBAL=/dev/null", "bash", "-c",
                                "cd " + tree.string() + " && " + script},
                               log);
    };
    if (shell("git init -q").exit_code != 0) DEFT_SKIP("no git");
    const test::Ended ended = shell("tests/gpu/stage");
    CHECK(ended.exit_code == 1);
    CHECK_THAT(ended.printed, ContainsSubstring("changes that no commit holds"));
    CHECK(!std::filesystem::exists(tree / "build-gpu"));
    // A clean tree reaches the build, which fails because this tree has no project.
    const test::Ended clean = shell(
        "printf '/build*/\\n' >.gitignore && git add -A && git -c user.name=a -c user.email=a@b "
        "commit -qm all && tests/gpu/stage");
    CHECK_THAT(clean.printed, ContainsSubstring("stage: building") && !ContainsSubstring("no commit holds"));
}

TEST_CASE("a program that hangs costs its stage's time and no more", "[bare][python]") {
    if (!test::has_python()) DEFT_SKIP(kNoPython);
    const Slice slice;
    const std::string sleeper = slice.program("sleeper", "sleep 100\n");
    const test::Ended ended = slice.run("3", sleeper, sleeper, {"--only", "cases,training", "--seconds", "5.5"});
    CHECK(ended.exit_code == 1);
    for (const char* name : {"cases", "training"}) CHECK(slice.stage(name).at("outcome") == "timed out");
    CHECK(slice.stage("cases").at("seconds") < 20);
    CHECK(slice.stage("training").at("seconds") < 1);
}
