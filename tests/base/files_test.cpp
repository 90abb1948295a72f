#include "base/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/sha256.h"
#include "tests/catch.h"
#include "tests/packed_text.h"
#include "tests/refusal.h"
#include "tests/small_disk.h"
#include "tests/temporary_folder.h"

using namespace deft;
using test::gzip;
using test::refusal;
using test::TemporaryFolder;
using test::zstd;
namespace fs = std::filesystem;

namespace {

std::size_t entries(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::string long_text() {
    std::string text;
    for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919 % 10007) + ' ';
    return text;
}

// Runs in a child that has given up root; the exit status says whether `action` held.
bool holds_without_rights(const std::function<bool()>& action) {
    return test::in_child([&] { return ::setgid(65534) == 0 && ::setuid(65534) == 0 && action() ? 0 : 1; }) == 0;
}

}  // namespace

TEST_CASE("An atomic write replaces the file and leaves nothing beside it", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "a.json";
    write_file_atomically(file, "one");
    write_file_atomically(file, std::string("t\0wo", 4));
    CHECK(read_file(file) == std::string("t\0wo", 4));
    CHECK(entries(folder.path()) == 1);
}

TEST_CASE("A write into no folder names the file", "[bare]") {
    CHECK_THAT(refusal(ErrorKind::io, [] { write_file_atomically("/nonexistent/a", "x"); }),
               ContainsSubstring("/nonexistent/a"));
}

TEST_CASE("A write onto a folder fails and leaves no temporary file", "[bare]") {
    const TemporaryFolder folder;
    fs::create_directory(folder.path() / "taken");
    write_file_atomically(folder.path() / "taken" / "x", "x");
    CHECK(refusal(ErrorKind::io, [&] { write_file_atomically(folder.path() / "taken", "x"); }) != "accepted");
    CHECK(entries(folder.path()) == 1);
}

TEST_CASE("A full disk leaves the old file whole", "[bare]") {
    const TemporaryFolder folder;
    const test::SmallDisk disk(folder / "disk", 64);
    if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
    const fs::path file = disk / "a";
    write_file_atomically(file, "old");
    CHECK_THAT(refusal(ErrorKind::io, [&] { write_file_atomically(file, std::string(1 << 20, 'x')); }),
               ContainsSubstring("No space left") && ContainsSubstring("unchanged: the old a"));
    CHECK(read_file(file) == "old");
    CHECK(entries(folder / "disk") == 1);
    write_file_atomically(file, "new");
    CHECK(read_file(file) == "new");
}

TEST_CASE("A file written in pieces is there once it is finished, and not before", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "a";
    write_file_atomically(file, "old");
    {
        AtomicFile out(file);
        out.write("one ");
        CHECK(read_file(file) == "old");
        out.write("");
        out.write(std::string("t\0wo", 4));
        out.finish();
        CHECK(read_file(file) == std::string("one t\0wo", 8));
    }
    CHECK(entries(folder.path()) == 1);
    {
        AtomicFile given_up(file);
        given_up.write("half");
        CHECK(entries(folder.path()) == 2);
    }
    CHECK(read_file(file) == std::string("one t\0wo", 8));
    CHECK(entries(folder.path()) == 1);
}

TEST_CASE("A disk that fills up between pieces leaves the old file whole", "[bare]") {
    const TemporaryFolder folder;
    const test::SmallDisk disk(folder / "disk", 256);
    if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
    write_file_atomically(disk / "a", "old");
    const std::string piece(64 << 10, 'x');
    CHECK_THAT(refusal(ErrorKind::io,
                       [&] {
                           AtomicFile out(disk / "a");
                           for (int i = 0; i < 8; ++i) out.write(piece);
                           out.finish();
                       }),
               ContainsSubstring("No space left") && ContainsSubstring("unchanged: the old a"));
    CHECK(read_file(disk / "a") == "old");
    CHECK(entries(folder / "disk") == 1);
}

TEST_CASE("Readers of files refuse a pipe and a device at once; a named input may be a pipe", "[bare]") {
    const TemporaryFolder folder;
    const fs::path pipe = folder / "pipe", device = folder / "device";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    fs::create_symlink("/dev/zero", device);
    for (const fs::path& file : {pipe, device}) {
        INFO(file);
        const auto refuses = [&](const std::function<void(const fs::path&)>& read) {
            // A reader that waits or never ends is ended.
            return test::in_child([&] {
                       ::alarm(10);
                       const std::string said = refusal(ErrorKind::io, [&] { read(file); });
                       return said.find("it is a pipe, a device or a socket") != std::string::npos ? 0 : 1;
                   }) == 0;
        };
        CHECK(refuses([](const fs::path& path) { read_file(path); }));
        CHECK(refuses([](const fs::path& path) { read_text_file(path); }));
        CHECK(refuses([](const fs::path& path) { sha256_file(path); }));
        CHECK(refuses([](const fs::path& path) { const MappedFile mapped(path); }));
    }
    std::thread writer([&] { test::write_text(pipe, "words"); });
    CHECK(read_input(pipe) == "words");
    writer.join();
}

TEST_CASE("A mapped file keeps its bytes when it is removed or its pages are let go", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "a";
    const std::string text = long_text();
    write_file_atomically(file, text);
    const MappedFile mapped(file);
    const auto content = [&] {
        return std::string_view(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
    };
    CHECK(mapped.path() == file);
    fs::remove(file);
    for (const auto& [first, count] :
         {std::pair<std::size_t, std::size_t>{0, text.size()}, {5000, 9000}, {7, 1}, {3, 0}}) {
        mapped.release(mapped.bytes().subspan(first, count));
        CHECK(content() == text);
    }
    mapped.require_whole();
    CHECK(sha256(mapped) == sha256(text));
}

TEST_CASE("A mapped file is hashed over many pieces, and an empty one", "[bare]") {
    const TemporaryFolder folder;
    std::string text;
    while (text.size() < (9 << 20) + 17) text += long_text();
    write_file_atomically(folder / "long", text);
    CHECK(sha256(MappedFile(folder / "long")) == sha256(text));
    write_file_atomically(folder / "empty", "");
    // FIPS 180-4, the digest of no bytes
    CHECK(sha256(MappedFile(folder / "empty")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("A mapped file that is cut short is refused before it is read", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "a";
    write_file_atomically(file, std::string(100'000, 'x'));
    const MappedFile mapped(file);
    fs::resize_file(file, 99'999);
    CHECK_THAT(refusal(ErrorKind::io, [&] { mapped.require_whole(); }), ContainsSubstring("cut short"));
    fs::resize_file(file, 10);
    CHECK_THAT(refusal(ErrorKind::io, [&] { (void)sha256(mapped); }), ContainsSubstring("cut short"));
}

TEST_CASE("A read-only folder is refused with its fix", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "a";
    write_file_atomically(file, "old");
    fs::permissions(folder.path(),
                    fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
    const auto refused = [&] {
        try {
            write_file_atomically(file, "new");
        } catch (const Error& error) {
            const std::string message = error.what();
            return error.kind() == ErrorKind::io && message.find("may write") != std::string::npos;
        }
        return false;
    };
    if (::geteuid() != 0) {
        CHECK(refused());
    } else {
        if (!holds_without_rights([] { return ::geteuid() == 65534; })) DEFT_SKIP("cannot give up root");
        CHECK(holds_without_rights(refused));
    }
    fs::permissions(folder.path(), fs::perms::owner_all);
    CHECK(read_file(file) == "old");
}

TEST_CASE("Reading a path that is not a file is an io error", "[bare]") {
    const TemporaryFolder folder;
    CHECK_THAT(refusal(ErrorKind::io, [&] { read_file(folder.path() / "absent"); }), ContainsSubstring("No such file"));
    CHECK_THAT(refusal(ErrorKind::io, [&] { read_file(folder.path()); }), ContainsSubstring("directory"));
}

TEST_CASE("Folders are made with their parents, and not over a file", "[bare]") {
    const TemporaryFolder folder;
    make_folder(folder.path() / "a" / "b");
    make_folder(folder.path() / "a" / "b");
    CHECK(fs::is_directory(folder.path() / "a" / "b"));
    write_file_atomically(folder.path() / "file", "x");
    CHECK(refusal(ErrorKind::io, [&] { make_folder(folder.path() / "file"); }) != "accepted");
    CHECK(refusal(ErrorKind::io, [&] { make_folder(folder.path() / "file" / "below"); }) != "accepted");
}

TEST_CASE("Compressed texts read as what they were, member after member", "[bare]") {
    const TemporaryFolder folder;
    const std::string text = long_text();
    write_file_atomically(folder.path() / "plain.txt", text);
    CHECK(read_text_file(folder.path() / "plain.txt") == text);
    write_file_atomically(folder.path() / "one.gz", gzip(text));
    CHECK(read_text_file(folder.path() / "one.gz") == text);
    write_file_atomically(folder.path() / "two.gz", gzip(text) + gzip("tail"));
    CHECK(read_text_file(folder.path() / "two.gz") == text + "tail");
    write_file_atomically(folder.path() / "one.zst", zstd(text));
    CHECK(read_text_file(folder.path() / "one.zst") == text);
    write_file_atomically(folder.path() / "two.zst", zstd(text) + zstd("tail"));
    CHECK(read_text_file(folder.path() / "two.zst") == text + "tail");
    write_file_atomically(folder.path() / "empty.gz", gzip(""));
    CHECK(read_text_file(folder.path() / "empty.gz") == "");
    write_file_atomically(folder.path() / "empty.zst", zstd(""));
    CHECK(read_text_file(folder.path() / "empty.zst") == "");
}

TEST_CASE("Truncated or damaged compressed data is an io error, wherever it is cut", "[bare]") {
    const TemporaryFolder folder;
    const std::string text = long_text();
    for (const auto& [extension, packed] :
         {std::pair<std::string, std::string>{"gz", gzip(text)}, {"zst", zstd(text)}}) {
        const fs::path file = folder.path() / ("cut." + extension);
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{9}, packed.size() / 2,
                                       packed.size() - 9, packed.size() - 1}) {
            write_file_atomically(file, std::string_view(packed).substr(0, size));
            INFO(extension << " cut to " << size);
            CHECK(refusal(ErrorKind::io, [&] { read_text_file(file); }) != "accepted");
        }
        std::string broken = packed;
        for (std::size_t i = 20; i < 60; ++i) broken[i] = static_cast<char>(~broken[i]);
        write_file_atomically(file, broken);
        CHECK(refusal(ErrorKind::io, [&] { read_text_file(file); }) != "accepted");
        write_file_atomically(file, packed + "trailing rubbish");
        CHECK(refusal(ErrorKind::io, [&] { read_text_file(file); }) != "accepted");
    }
}

TEST_CASE("a text file is found plain before packed", "[bare]") {
    const TemporaryFolder folder;
    const auto found = [&] { return find_text_file(folder / "a.txt"); };
    CHECK_FALSE(found());
    fs::create_directory(folder / "a.txt.zst");
    CHECK_FALSE(found());
    fs::remove(folder / "a.txt.zst");
    test::write_text(folder / "a.txt.zst", "");
    CHECK(found() == folder / "a.txt.zst");
    test::write_text(folder / "a.txt.gz", "");
    CHECK(found() == folder / "a.txt.gz");
    test::write_text(folder / "a.txt", "");
    CHECK(found() == folder / "a.txt");
}

TEST_CASE("A lock reports how long another process held it, and nothing without another", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "a.lock";
    auto first = std::make_unique<FileLock>(file);
    CHECK(first->waited_seconds() == 0);
    double waited = 0;
    std::thread second([&] { waited = FileLock(file).waited_seconds(); });
    struct stat status {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    const std::string inode = ":" + std::to_string(status.st_ino) + " ";
    const auto is_waiting = [&] {
        std::ifstream locks("/proc/locks");
        for (std::string line; std::getline(locks, line);)
            if (line.find("->") != std::string::npos && line.find(inode) != std::string::npos) return true;
        return false;
    };
    for (int i = 0; i < 1000 && !is_waiting(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    first.reset();
    second.join();
    CHECK(waited >= 0.02);
}
