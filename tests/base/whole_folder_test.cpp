#include "base/whole_folder.h"

#include "base/error.h"
#include "base/files.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/small_disk.h"
#include "tests/temporary_folder.h"

using namespace deft;
using test::refusal;
using test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

std::size_t names_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("A folder is absent until it is whole, and replaces the one before", "[bare]") {
    const TemporaryFolder place;
    const fs::path folder = place / "model", temporary = place / "unfinished";
    const auto write = [&](const char* name) {
        write_whole_folder(folder, temporary, [&](const fs::path& into) {
            CHECK(into == temporary);
            CHECK(fs::is_empty(into));
            CHECK(names_in(place.path()) == (fs::exists(folder) ? 2 : 1));
            write_file_atomically(into / name, name);
        });
    };
    write("first");
    CHECK(read_file(folder / "first") == "first");
    // Remains of a kill in the temporary folder do not enter the next one.
    fs::create_directory(temporary);
    write_file_atomically(temporary / "left", "left");
    write("second");
    CHECK(read_file(folder / "second") == "second");
    CHECK(names_in(folder) == 1);
    CHECK(names_in(place.path()) == 1);
}

TEST_CASE("A folder that cannot be written leaves the one before and nothing unfinished", "[bare]") {
    const TemporaryFolder place;
    const fs::path folder = place / "model", temporary = place / "unfinished";
    write_whole_folder(folder, temporary, [](const fs::path& into) { write_file_atomically(into / "a", "old"); });
    const auto unchanged = [&] { return read_file(folder / "a") == "old" && names_in(place.path()) == 1; };
    CHECK_THAT(refusal(ErrorKind::data,
                       [&] {
                           write_whole_folder(folder, temporary, [](const fs::path& into) {
                               write_file_atomically(into / "a", "new");
                               throw Error(ErrorKind::data, "its own words");
                           });
                       }),
               ContainsSubstring("its own words"));
    CHECK(unchanged());
    // The library's exceptions are reported with the intended folder and help.
    CHECK_THAT(refusal(ErrorKind::io,
                       [&] {
                           write_whole_folder(folder, temporary, [](const fs::path& into) {
                               throw fs::filesystem_error("x", into, std::error_code(ENOSPC, std::generic_category()));
                           });
                       }),
               ContainsSubstring("cannot write " + folder.string() + ": No space left on device") &&
                   ContainsSubstring("free some space") && !ContainsSubstring("unfinished"));
    CHECK(unchanged());
    CHECK(refusal(ErrorKind::io, [&] {
              write_whole_folder(place / "model" / "a" / "below", place / "model" / "a" / "t", [](const fs::path&) {});
          }) != "accepted");
    CHECK(unchanged());
}

TEST_CASE("A folder that fills the disk leaves room for what was there", "[bare]") {
    const TemporaryFolder place;
    test::SmallDisk disk(place / "disk", 200);
    if (!disk.mounted()) DEFT_SKIP("needs the right to mount a tmpfs");
    const fs::path folder = disk / "model", temporary = disk / "unfinished";
    CHECK_THAT(refusal(ErrorKind::io,
                       [&] {
                           write_whole_folder(folder, temporary, [](const fs::path& into) {
                               write_file_atomically(into / "a", std::string(100'000, 'x'));
                               write_file_atomically(into / "b", std::string(200'000, 'x'));
                           });
                       }),
               ContainsSubstring("No space left on device"));
    CHECK(fs::is_empty(place / "disk"));
}
