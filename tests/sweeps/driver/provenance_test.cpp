// The uncommitted changes of a checkout: kept without secrets where asked for, or their hash alone.

#include "sweeps/driver/provenance.h"

#include "base/process.h"
#include "base/sha256.h"
#include "sweeps/gate/revision_build.h"
#include "tests/sweeps/files.h"

using namespace deft;

TEST_CASE("Uncommitted changes are kept without secrets, and only where that is asked for") {
    const test::Folder folder;
    const auto git = [&](std::vector<std::string> words) {
        words.insert(words.begin(),
                     {"git", "-C", folder.path.string(), "-c", "user.name=x", "-c", "user.email=x@example.org"});
        return run_process(words).exit_code;
    };
    folder.write("settings.py", "n = 1\n");
    REQUIRE(git({"init", "--quiet"}) == 0);
    REQUIRE(git({"add", "settings.py"}) == 0);
    REQUIRE(git({"commit", "--quiet", "-m", "first"}) == 0);
    CHECK(!sweeps::describe_code(sweeps::Diff::hash, folder.path).dirty);
    const std::string secret = "hf_" + std::string("AbCdEfGhIjKlMnOpQrStUvWxYz0123456789");
    folder.write("settings.py", "n = 2\nlogin(\"" + secret + "\")\n");
    const results_db::Code kept = sweeps::describe_code(sweeps::Diff::text, folder.path),
                           hash_alone = sweeps::describe_code(sweeps::Diff::hash, folder.path);
    CHECK(kept.dirty);
    CHECK_THAT(kept.diff, ContainsSubstring("+n = 2\n+login(\"[redacted]\")"));
    CHECK(kept.diff.find(secret) == std::string::npos);
    CHECK(hash_alone.dirty);
    CHECK(hash_alone.diff.empty());
    CHECK(hash_alone.diff_sha256.size() == 64);
    CHECK(hash_alone.diff_sha256 == kept.diff_sha256);
}

TEST_CASE("What a repository configures does not run when its changes are looked at") {
    const test::Folder folder;
    const std::string program =
        folder.write("program", "#!/bin/sh\ntouch '" + folder.path.string() + "/it_ran'\ncat\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto git = [&](std::vector<std::string> words) {
        words.insert(words.begin(),
                     {"git", "-C", folder.path.string(), "-c", "user.name=x", "-c", "user.email=x@example.org"});
        return run_process(words).exit_code;
    };
    folder.write(".gitattributes", "*.txt diff=mine\n");
    folder.write("notes.txt", "one\n");
    REQUIRE(git({"init", "--quiet"}) == 0);
    REQUIRE(git({"add", "."}) == 0);
    REQUIRE(git({"commit", "--quiet", "-m", "first"}) == 0);
    for (const char* key : {"core.fsmonitor", "diff.external", "diff.mine.command", "diff.mine.textconv"})
        REQUIRE(git({"config", key, program}) == 0);
    folder.write("notes.txt", "two\n");
    CHECK(sweeps::describe_code(sweeps::Diff::text, folder.path).dirty);
    CHECK(sweeps::has_changes(folder.path));
    CHECK(!std::filesystem::exists(folder.path / "it_ran"));
    // The same settings let git itself run it.
    git({"diff"});
    CHECK(std::filesystem::exists(folder.path / "it_ran"));
}
