// Output paths that lead to no regular file, through links, or to a file with a mode of its own.

#include "base/output_target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <future>

#include "base/error.h"
#include "base/files.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
namespace fs = std::filesystem;

namespace {

unsigned mode_of(const fs::path& file) {
    struct stat status {};
    REQUIRE(::lstat(file.c_str(), &status) == 0);
    return status.st_mode & 07777;
}

std::size_t entries_of(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("A pipe gets the bytes and stays a pipe, through a link too, with pieces in any order", "[bare]") {
    const test::TemporaryFolder folder;
    const fs::path pipe = folder / "pipe", link = folder / "link";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    fs::create_symlink("pipe", link);
    for (const fs::path& target : {pipe, link}) {
        auto read = std::async(std::launch::async, [&] { return test::read_text(pipe); });
        AtomicFile out(target);
        out.write_at(4, "last");
        out.write_at(0, "one ");
        out.finish();
        CHECK(read.get() == "one last");
    }
    CHECK(fs::is_fifo(pipe));
    CHECK(fs::is_symlink(link));
    CHECK(entries_of(folder.path()) == 2);
}

TEST_CASE("A device is written through and stays a device", "[bare]") {
    const test::TemporaryFolder folder;
    const fs::path null = folder / "null", full = folder / "full";
    if (::mknod(null.c_str(), S_IFCHR | 0600, ::makedev(1, 3)) != 0 ||
        ::mknod(full.c_str(), S_IFCHR | 0600, ::makedev(1, 7)) != 0 || ::close(::open(null.c_str(), O_WRONLY)) != 0)
        DEFT_SKIP("making a device needs root");
    write_file_atomically(null, "x");
    CHECK_THAT(test::refusal(ErrorKind::io, [&] { write_file_atomically(full, "x"); }),
               ContainsSubstring("No space left") && !ContainsSubstring("unchanged"));
    for (const fs::path& device : {null, full}) CHECK(fs::is_character_file(device));
}

TEST_CASE("An open descriptor is written at its position, by the names that shells give it", "[bare]") {
    const test::TemporaryFolder folder;
    const fs::path file = folder / "file", link = folder / "stdout";
    const Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT, 0600));
    const std::string number = std::to_string(out.number());
    REQUIRE(::write(out.number(), "head ", 5) == 5);
    write_file_atomically("/proc/self/fd/" + number, "one ");
    write_file_atomically("/dev/fd/" + number, "two ");
    fs::create_symlink("/proc/self/fd/" + number, link);
    write_file_atomically(link, "three ");
    REQUIRE(::write(out.number(), "tail", 4) == 4);
    CHECK(read_file(file) == "head one two three tail");
    CHECK(fs::is_symlink(link));
    CHECK_THAT(test::refusal(ErrorKind::io, [&] { write_file_atomically("/dev/fd/99999", "x"); }),
               ContainsSubstring("cannot write /dev/fd/99999"));
}

TEST_CASE("A link stays a link, and the file that it names is replaced or made", "[bare]") {
    const test::TemporaryFolder folder;
    const fs::path file = folder / "real", link = folder / "link", other = folder / "other", loop = folder / "loop";
    write_file_atomically(file, "old");
    fs::create_symlink("real", other);
    fs::create_symlink(other, link);
    write_file_atomically(link, "new");
    CHECK(read_file(file) == "new");
    fs::remove(file);
    write_file_atomically(link, "made");
    CHECK(read_file(file) == "made");
    CHECK((fs::is_symlink(link) && fs::is_symlink(other) && !fs::is_symlink(file)));
    fs::create_symlink("loop", loop);
    CHECK(test::refusal(ErrorKind::io, [&] { write_file_atomically(loop, "x"); }) != "accepted");
}

TEST_CASE("A replaced file keeps its mode and its group; a new one gets what the umask leaves", "[bare]") {
    const test::TemporaryFolder folder;
    const fs::path file = folder / "file";
    const mode_t before = ::umask(022);
    write_file_atomically(file, "one");
    CHECK(mode_of(file) == 0644);
    for (const unsigned mode : {0600u, 0664u, 0755u}) {
        fs::permissions(file, static_cast<fs::perms>(mode));
        write_file_atomically(file, "two");
        CHECK(mode_of(file) == mode);
    }
    fs::permissions(file, static_cast<fs::perms>(0600));
    {
        const AtomicFile unfinished(file);  // nobody may open what is to be private while it is written
        for (const auto& entry : fs::directory_iterator(folder.path())) CHECK(mode_of(entry.path()) == 0600);
    }
    if (::chown(file.c_str(), 65534, 65534) == 0) {
        write_file_atomically(file, "three");
        struct stat status {};
        REQUIRE(::stat(file.c_str(), &status) == 0);
        CHECK(status.st_uid == 65534);
        CHECK(status.st_gid == 65534);
    }
    ::umask(before);
}
