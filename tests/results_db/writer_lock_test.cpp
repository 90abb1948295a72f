// The witness in a lock file, for file systems that grant a lock on each machine.

#include "results_db/writer_lock.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/stopwatch.h"
#include "results_db/writer.h"
#include "tests/refusal.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;
using Catch::Matchers::Contains;

namespace {

const LockHost kHere = {"here", "boot-1"};

LockOptions quick(const LockHost& host = kHere) {
    LockOptions options;
    options.renew_seconds = 0.02;
    options.watch_seconds = 0.4;
    options.look_seconds = 0.02;
    options.host = host;
    return options;
}

struct LockFile {
    TemporaryFolder folder;
    std::filesystem::path database = folder / "results.db", file = folder / "results.db.lock";

    // In place, as a writer does.
    void left_by(const LockHost& host, int renewals = 3) const {
        const std::string text =
            "123\n" + host.name + "\n" + host.boot_id + "\nother " + std::to_string(renewals) + "\n";
        if (!std::filesystem::exists(file)) write_file_atomically(file, "");
        std::fstream(file, std::ios::in | std::ios::out) << text;
        std::filesystem::resize_file(file, text.size());
    }
    // Waits for a condition at most 5 s.
    template <class Condition>
    static bool eventually(const Condition& condition) {
        for (const auto start = Clock::now(); seconds_since(start) < 5;
             std::this_thread::sleep_for(std::chrono::milliseconds(5)))
            if (condition()) return true;
        return false;
    }
};

}  // namespace

TEST_CASE("a lock's witness names process and machine, is renewed, and is gone with the writer") {
    const LockFile lock;
    {
        const WriterLock held(lock.database, quick());
        const std::string first = read_file(lock.file);
        CHECK_THAT(first, Catch::Matchers::StartsWith(std::to_string(::getpid()) + "\nhere\nboot-1\n"));
        CHECK(LockFile::eventually([&] { return read_file(lock.file) != first; }));
        CHECK_NOTHROW(held.require_held());
    }
    CHECK(read_file(lock.file).empty());
}

TEST_CASE("a witness of this machine, an old program's and an empty file are not watched") {
    const LockFile lock;
    LockOptions options = quick();
    options.on_watch = [](const std::string&, double) { FAIL("watched"); };
    SECTION("this machine's") {
        lock.left_by(kHere);
    }
    SECTION("an old program's") {
        write_file_atomically(lock.file, "123\n");
    }
    SECTION("an empty one") {
        write_file_atomically(lock.file, "");
    }
    CHECK_NOTHROW(WriterLock(lock.database, options));
}

TEST_CASE("a witness of another machine is watched, and the lock is taken where nobody renews it") {
    const LockFile lock;
    const LockHost other = GENERATE(LockHost{"there", "boot-1"}, LockHost{"here", "boot-2"});
    lock.left_by(other);
    LockOptions options = quick();
    std::string watched;
    options.on_watch = [&](const std::string& machine, double seconds) {
        watched = machine;
        CHECK(seconds == 0.4);
    };
    const auto start = Clock::now();
    const WriterLock held(lock.database, options);
    CHECK(seconds_since(start) >= 0.4);
    CHECK(watched == other.name);
    CHECK_THAT(read_file(lock.file), Contains("here\nboot-1"));
}

TEST_CASE("a witness that another machine renews refuses the writer, and stays") {
    const LockFile lock;
    lock.left_by({"there", "boot-9"});
    LockOptions options = quick();
    int looks = 0;
    options.sleep = [&](double) {
        if (++looks == 3) lock.left_by({"there", "boot-9"}, 4);
        return true;
    };
    CHECK_THAT(refusal(ErrorKind::database, [&] { const WriterLock second(lock.database, options); }),
               Contains("another deft run (pid 123 on there) is writing"));
    CHECK(looks == 3);
    CHECK_THAT(read_file(lock.file), Contains("other 4"));
}

TEST_CASE("a watch ends at once where the other run ends, and where the user gives up") {
    const LockFile lock;
    lock.left_by({"there", "boot-9"});
    LockOptions options = quick();
    options.watch_seconds = 1000;
    SECTION("ends") {
        options.sleep = [&](double) {
            write_file_atomically(lock.file, "");
            return true;
        };
        CHECK_NOTHROW(WriterLock(lock.database, options));
    }
    SECTION("gives up") {
        options.sleep = [&](double) { return false; };
        CHECK_THAT(refusal(ErrorKind::database, [&] { const WriterLock second(lock.database, options); }),
                   Contains("stopped while it was unknown whether there still writes"));
        CHECK_THAT(read_file(lock.file), Contains("other 3"));
    }
}

TEST_CASE("a writer whose witness another machine replaced writes nothing more") {
    const LockFile lock;
    Writer writer(lock.database, quick());
    writer.add_sweep({"before", "s1", "name = 'before'", "[]"});
    lock.left_by({"there", "boot-9"});
    const auto is_refused = [&] {
        try {
            writer.add_sweep({"after", "s2", "name = 'after'", "[]"});
        } catch (const Error& error) {
            CHECK(error.kind() == ErrorKind::database);
            CHECK_THAT(std::string(error.what()), Contains("another deft run (pid 123 on there) took over"));
            return true;
        }
        return false;
    };
    CHECK(LockFile::eventually(is_refused));
    CHECK_THAT(read_file(lock.file), Contains("other 3"));
}

TEST_CASE("a name in a lock file reaches no terminal as it is") {
    const LockFile lock;
    lock.left_by({"\x1b[31mred" + std::string(500, 'x'), "boot"});
    LockOptions options = quick();
    options.sleep = [](double) { return false; };
    std::string watched;
    options.on_watch = [&](const std::string& machine, double) { watched = machine; };
    CHECK_THROWS_AS(WriterLock(lock.database, options), Error);
    CHECK(watched == "[31mred" + std::string(57, 'x'));
}
