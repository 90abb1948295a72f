// A run whose parent hands it a umask, signals, limits and variables of its own.

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "base/process.h"
#include "sweeps/driver/provenance.h"
#include "tests/catch.h"
#include "tests/sweeps/program.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::test;

namespace {

// Each file and folder below the root that its group may not write, with its mode.
std::vector<std::string> closed_to_group(const std::filesystem::path& root) {
    std::vector<std::string> closed;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        struct stat status {};
        if (::lstat(entry.path().c_str(), &status) != 0 || S_ISLNK(status.st_mode)) continue;
        if ((status.st_mode & S_IWGRP) == 0)
            closed.push_back(
                fmt::format("{} {:o}", entry.path().lexically_relative(root).string(), status.st_mode & 0777));
    }
    return closed;
}

}  // namespace

TEST_CASE("A group shares a root that was made under umask 002: its members may write everything in it") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run({}, [] { ::umask(002); }).exit_code == 0);
    CHECK(closed_to_group(sweep.root) == std::vector<std::string>{});
    // The log and its index lie beside the database while it is open.
    const results_db::Connection reader(sweep.root / "results.db", results_db::Connection::Mode::write);
    CHECK(std::filesystem::exists(sweep.root / "results.db-wal"));
    CHECK(closed_to_group(sweep.root) == std::vector<std::string>{});
}

TEST_CASE("A parent that ignores its children's ends and blocks every signal harms no run") {
    const TinySweep sweep(kPlain);
    const Ran ran = sweep.run({}, [] {
        ::signal(SIGCHLD, SIG_IGN);
        ::signal(SIGPIPE, SIG_IGN);
        sigset_t all;
        sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, nullptr);
        ::alarm(300);  // ignored children would be waited for without an end
    });
    CHECK(ran.exit_code == 0);
    CHECK(sweep.count("ok") == "1");
}

TEST_CASE("A limit on the size of files is named where it stops a run") {
    const TinySweep sweep(kPlain);
    const Ran ran = sweep.run({}, [] {
        const rlimit limit{1 << 16, 1 << 16};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    });
    CHECK(ran.exit_code == 1);
    CHECK_THAT(ran.err, ContainsSubstring("help: raise the limit on the size of a file (ulimit -f)"));
}

TEST_CASE("The recorded commit is that of the named checkout, also in a hook of another repository") {
    const Folder ours, theirs;
    const auto commit = [](const std::filesystem::path& folder, const std::string& message) {
        const auto git = [&](const std::vector<std::string>& words) {
            std::vector<std::string> argv = {"git",         "-C", folder.string(),           "-c",
                                             "user.name=x", "-c", "user.email=x@example.org"};
            argv.insert(argv.end(), words.begin(), words.end());
            REQUIRE(run_process(argv).exit_code == 0);
        };
        git({"init", "--quiet"});
        git({"commit", "--quiet", "--allow-empty", "-m", message});
    };
    commit(ours.path, "ours");
    commit(theirs.path, "theirs");
    const results_db::Code before = sweeps::describe_code(sweeps::Diff::text, ours.path);
    REQUIRE(before.git_sha.size() == 40);
    CHECK(!before.dirty);
    const WithVariable folder("GIT_DIR", theirs.path.string() + "/.git"), tree("GIT_WORK_TREE", theirs.path.string()),
        index("GIT_INDEX_FILE", theirs.path.string() + "/.git/index");
    const results_db::Code in_hook = sweeps::describe_code(sweeps::Diff::text, ours.path);
    CHECK(in_hook.git_sha == before.git_sha);
    CHECK(!in_hook.dirty);
}
