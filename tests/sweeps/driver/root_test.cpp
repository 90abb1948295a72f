// Paths of a database that leave the root: another's database may hold any.

#include "sweeps/driver/root.h"
#include "sweeps/driver/run_folder.h"

#include <filesystem>

#include "results_db/connection.h"
#include "sweeps/driver/recovery.h"
#include "tests/results_db/fixture.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::sweeps;
namespace fs = std::filesystem;

TEST_CASE("A path of the database stays below the root, links followed") {
    const test::Folder folder;
    const fs::path root = folder.path / "root";
    make_folder(root / "runs/a.1");
    make_folder(folder.path / "outside");
    CHECK(below_root(root, "runs/a.1") == root / "runs/a.1");
    CHECK(below_root(root, "runs/not-there/log.txt") == root / "runs/not-there/log.txt");
    CHECK(below_root(root, "runs/x/../a.1") == root / "runs/a.1");
    fs::create_directory_symlink(folder.path / "outside", root / "runs/link");
    for (const fs::path path :
         {"../outside", "runs/../../outside", "/etc", "", ".", "..", "runs/link", "runs/link/log.txt"})
        CHECK_THAT(test::refusal(ErrorKind::database, [&] { below_root(root, path); }),
                   ContainsSubstring("which is not below"));
    // The user's own larger disk.
    make_folder(folder.path / "disk/b.1");
    fs::create_directory_symlink(folder.path / "disk", root / "checkpoints");
    CHECK(below_root(root, "checkpoints/b.1") == root / "checkpoints/b.1");
}

TEST_CASE("Nothing outside the root is read or written for a database that names it") {
    const test::TinySweep sweep("[[case]]\nname = \"plain\"\n");
    make_folder(sweep.root);
    make_folder(sweep.folder.path / "outside");
    write_file_atomically(sweep.folder.path / "outside/log.txt", "private\n");
    {
        test::OneAttempt one(sweep.root / "results.db");  // live, as a killed driver leaves it
        results_db::Connection(sweep.root / "results.db", results_db::Connection::Mode::write)
            .execute("UPDATE attempt SET workdir = '../outside'");
        CHECK_THAT(test::refusal(ErrorKind::database, [&] { recover(one.writer, sweep.root, 10, {}); }),
                   ContainsSubstring("names ../outside"));
    }
    CHECK(!fs::exists(sweep.folder.path / "outside/outcome.json"));
    const test::Ran logs = sweep.deft("logs", {"baseline/1", "--root", sweep.root.string()});
    CHECK(logs.exit_code == kExitDatabase);
    CHECK(logs.out.find("private") == std::string::npos);
    const test::Ran show = sweep.deft("show", {"baseline/1", "--root", sweep.root.string()});
    CHECK(show.exit_code == kExitDatabase);
    CHECK_THAT(show.out, ContainsSubstring("baseline/1"));
}

TEST_CASE("What a database calls a hash names no folder elsewhere") {
    const test::Folder folder;
    for (const char* hash : {"../../../../elsewhere", "/tmp/elsewhere-of-it", "..", "", "0123456789ABCDEF0123",
                             "0123456789abcde", "0123456789abcdef/../.."}) {
        INFO(hash);
        CHECK_THROWS_AS(checkpoint_folder(folder.path, hash), Error);
        std::int64_t number = 1;
        if (std::string(hash).size() != 15) CHECK_THROWS_AS(free_run_folder(folder.path, hash, number), Error);
    }
    CHECK(checkpoint_folder("root", "0123456789abcdef01") == "root/checkpoints/0123456789abcdef");
}
