// deft report --format tensorboard where it cannot write.

#include <filesystem>

#include "base/files.h"
#include "sweeps/cli/tensorboard_folder.h"
#include "tests/refusal.h"
#include "tests/small_disk.h"
#include "tests/sweeps/cli/tensorboard_export.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;
namespace fs = std::filesystem;

TEST_CASE("An export that cannot be complete writes nothing and overwrites nothing", "[bare]") {
    const TinySweep sweep(kPlain);
    const fs::path folder = sweep.folder.path / "tb";
    REQUIRE(sweep.run().exit_code == kExitOk);
    const Ran nameless = sweep.deft("report", {"--root", sweep.root.string(), "--format", "tensorboard"});
    CHECK(nameless.exit_code == kExitUsage);
    CHECK_THAT(nameless.err, ContainsSubstring("--out DIR"));
    const Ran tabled = export_to(sweep, folder, {"--per-seed"});
    CHECK(tabled.exit_code == kExitUsage);
    CHECK_FALSE(fs::exists(folder));

    sweep.folder.write("tb/tiny/notes.txt", "mine");
    sweep.folder.write("tb/other/notes.txt", "mine too");
    const Ran taken = export_to(sweep, folder);
    CHECK(taken.exit_code == kExitUsage);
    CHECK_THAT(taken.err, ContainsSubstring("tb/tiny already exists and is not an empty folder"));
    CHECK(files_below(folder).size() == 2);
    CHECK(read_file(folder / "tiny/notes.txt") == "mine");
    // Beside what is there.
    fs::remove(folder / "tiny/notes.txt");
    CHECK(export_to(sweep, folder).exit_code == kExitOk);
    CHECK(files_below(folder).size() == 2);
    // Its own, too.
    const auto before = files_below(folder);
    CHECK(export_to(sweep, folder).exit_code == kExitUsage);
    CHECK(files_below(folder) == before);

    const fs::path file = sweep.folder.write("a file", "mine");
    CHECK(export_to(sweep, file).exit_code == kExitFailed);
    CHECK(read_file(file) == "mine");

    const SmallDisk disk(sweep.folder.path / "disk", 8);
    if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
    const Ran full = export_to(sweep, disk / "");
    CHECK(full.exit_code == kExitFailed);
    CHECK_THAT(full.err, ContainsSubstring("No space left"));
    CHECK(fs::is_empty(disk / ""));
}

TEST_CASE("A sweep without a step or a score has nothing to export", "[bare]") {
    const Folder folder;
    reporting::ReportData data;
    data.sweep.name = "tiny";
    data.sweep.trials.emplace_back().recipe = "plain";
    CHECK_THAT(refusal(ErrorKind::missing, [&] { cli::write_tensorboard_folder(data, folder.path / "tb"); }),
               ContainsSubstring("no trial of sweep tiny has a logged step or a score"));
    CHECK_FALSE(fs::exists(folder.path / "tb"));
}
