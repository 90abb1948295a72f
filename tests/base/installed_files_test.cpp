// The project's own files are found from the program's path, and their absence is reported.

#include "base/installed_files.h"

#include <cstdlib>

#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
namespace fs = std::filesystem;

namespace {

void put_files(const fs::path& folder) {
    fs::create_directories(folder / "experiments");
    test::write_text(folder / "experiments" / "datasets.toml", "");
}

}  // namespace

TEST_CASE("installed files: beside an installed program, in a build folder, above one, and by DEFT_FILES") {
    const test::TemporaryFolder folder;
    const fs::path root = fs::canonical(folder.path());
    CHECK_FALSE(files_folder_of(root / "a" / "b" / "c" / "deft"));
    put_files(root / "a");
    CHECK(files_folder_of(root / "a" / "build" / "deft") == root / "a");
    CHECK(files_folder_of(root / "a" / "build" / "tests" / "test_base") == root / "a");
    CHECK_FALSE(files_folder_of(root / "a" / "one" / "two" / "three" / "deft"));  // nobody's files further up
    put_files(root / "share" / "deft");
    CHECK(files_folder_of(root / "bin" / "deft") == root / "share" / "deft");
    CHECK(files_folder_of(root / "deft") == root / "share" / "deft");
    CHECK(installed_file_of(root / "bin" / "deft", "experiments/datasets.toml") ==
          root / "share" / "deft" / "experiments" / "datasets.toml");

    ::setenv("DEFT_FILES", (root / "a").c_str(), 1);
    CHECK(files_folder_of(root / "bin" / "deft") == root / "a");
    ::setenv("DEFT_FILES", (root / "none").c_str(), 1);
    CHECK_FALSE(files_folder_of(root / "bin" / "deft"));
    ::unsetenv("DEFT_FILES");
}

TEST_CASE("installed files: a missing file is reported with the searched places and help") {
    const test::TemporaryFolder folder;
    const fs::path program = fs::canonical(folder.path()) / "bin" / "deft";
    for (const bool half_there : {false, true}) {
        if (half_there) put_files(program.parent_path() / "share" / "deft");
        CHECK_THAT(test::refusal(ErrorKind::missing, [&] { installed_file_of(program, "experiments/tasks"); }),
                   ContainsSubstring("experiments/tasks, which belongs to deft, is not here") &&
                       ContainsSubstring(program.parent_path().string()) && ContainsSubstring("DEFT_FILES"));
    }
}

TEST_CASE("installed files: this program finds those of its tree") {
    CHECK(fs::is_regular_file(installed_file("experiments/datasets.toml")));
    CHECK(fs::is_directory(installed_file("reporting/paper")));
}
