#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/refusal.h"
#include "tests/results_db/fixture.h"
#include "tests/small_disk.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

const int kNewest = migrations().back().version;

void check_fails(const std::function<void()>& body, ErrorKind kind, const std::string& text) {
    CHECK_THAT(refusal(kind, body), ContainsSubstring(text));
}

std::string name_count(const char* type) {
    return std::string("SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' AND type = '") + type + "'";
}

// The files that were synced while they had this name.
std::vector<std::string>& synced_files() {
    static std::vector<std::string> files;
    return files;
}

bool synced(const std::string& file) {
    const auto& files = synced_files();
    return std::find(files.begin(), files.end(), file) != files.end();
}

}  // namespace

// In the C library's place, for this program alone: notes the file, and syncs it.
extern "C" int fsync(int number) {
    std::error_code error;
    const auto file = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", number), error);
    if (!error) synced_files().push_back(file.string());
    return static_cast<int>(::syscall(SYS_fsync, number));
}

TEST_CASE("a new database has the schema and the settings", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    { const Writer writer(file); }
    Connection connection(file, Connection::Mode::write);
    CHECK(connection.integer("PRAGMA application_id") == 0x44454654);
    CHECK(connection.integer("PRAGMA user_version") == kNewest);
    CHECK(connection.integer("PRAGMA page_size") == 8192);
    CHECK(connection.text("PRAGMA journal_mode") == "wal");
    CHECK(connection.integer("PRAGMA foreign_keys") == 1);
    CHECK(connection.integer("PRAGMA trusted_schema") == 0);
    CHECK(connection.integer("PRAGMA cell_size_check") == 1);
    CHECK(connection.integer("PRAGMA busy_timeout") == 10000);
    CHECK(connection.integer("PRAGMA synchronous") == 1);
    CHECK(connection.text("PRAGMA integrity_check") == "ok");
    CHECK(connection.integer(name_count("table").c_str()) == 23);
    CHECK(connection.integer(name_count("view").c_str()) == 8);
    CHECK(connection.integer("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                             " AND NOT strict AND name NOT LIKE 'sqlite_%'") == 0);
    CHECK(connection.integer("SELECT count(*) FROM migration WHERE version = 1") == 1);
    // Every view can be read.
    for (const char* view : {"v_kept", "v_curve", "v_sampling", "v_expert_load"})
        CHECK(connection.integer(("SELECT count(*) FROM " + std::string(view)).c_str()) == 0);
    // Defensive mode: the schema cannot be edited outside of SQLite's own statements.
    CHECK_THROWS_AS(connection.execute("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema"), Error);
}

TEST_CASE("write-ahead logging is kept off network file systems", "[bare]") {
    CHECK(supports_wal(0xEF53));      // ext4
    CHECK(supports_wal(0x01021994));  // tmpfs
    CHECK(supports_wal(0x794C7630));  // overlayfs
    CHECK_FALSE(supports_wal(0x6969));
    CHECK_FALSE(supports_wal(static_cast<int>(0xFF534D42)));
    CHECK_FALSE(supports_wal(0xFF534D42));
    CHECK_FALSE(supports_wal(0x65735546));
}

TEST_CASE("an empty file becomes a database", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    write_text(file, "");
    check_fails([&] { const Reader reader(file); }, ErrorKind::missing, "no results");
    { const Writer writer(file); }
    CHECK(Reader(file).sweep_names().empty());
}

TEST_CASE("a file of another kind is refused and left as it was", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    SECTION("text") {
        write_text(file, "these are my notes\n");
    }
    SECTION("longer text") {
        write_text(file, std::string(5000, 'n'));
    }
    SECTION("another program's database") {
        Connection other(file, Connection::Mode::write);
        other.execute("PRAGMA application_id = 7; CREATE TABLE t (x)");
    }
    SECTION("a database without an application id") {
        Connection other(file, Connection::Mode::write);
        other.execute("CREATE TABLE t (x)");
    }
    const std::string before = read_text(file);
    check_fails([&] { const Writer writer(file); }, ErrorKind::database, "unchanged: the file");
    check_fails([&] { const Reader reader(file); }, ErrorKind::database, "not a deft results database");
    CHECK(read_text(file) == before);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a folder in the database's place is refused", "[bare]") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "results.db");
    check_fails([&] { const Writer writer(folder / "results.db"); }, ErrorKind::database, "not a plain file");
    check_fails([&] { const Reader reader(folder / "results.db"); }, ErrorKind::database, "not a plain file");
}

TEST_CASE("a database of a newer program is refused and left as it was", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    { const Writer writer(file); }
    {
        Connection connection(file, Connection::Mode::write);
        connection.execute("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");
    }
    const std::string before = read_text(file);
    check_fails([&] { const Writer writer(file); }, ErrorKind::database, "made by a newer deft");
    check_fails([&] { const Reader reader(file); }, ErrorKind::database, "made by a newer deft");
    CHECK(read_text(file) == before);
}

TEST_CASE("a corrupt database is a database error", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    { const OneAttempt one(file); }
    const auto size = std::filesystem::file_size(file);
    SECTION("cut short") {
        std::filesystem::resize_file(file, 8192 * 3);
        check_fails([&] { const Writer writer(file); }, ErrorKind::database, "corrupt");
        check_fails([&] { (void)Reader(file).sweep("quick"); }, ErrorKind::database, "corrupt");
    }
    SECTION("overwritten pages") {
        std::string bytes = read_text(file);
        std::fill(bytes.begin() + 8192, bytes.end(), '\x5a');
        write_text(file, bytes);
        check_fails([&] { (void)Reader(file).sweep("quick"); }, ErrorKind::database, "corrupt");
        check_fails([&] { const Writer writer(file); }, ErrorKind::database, "corrupt");
    }
    SECTION("an overwritten schema") {
        std::string bytes = read_text(file);
        std::fill(bytes.begin() + 100, bytes.begin() + 8192, '\x5a');
        write_text(file, bytes);
        check_fails([&] { const Writer writer(file); }, ErrorKind::database, "corrupt");
        check_fails([&] { const Reader reader(file); }, ErrorKind::database, "corrupt");
    }
    CHECK(size > 8192 * 3);
}

TEST_CASE("a second writer is refused with the first one's pid", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    auto first = std::make_unique<Writer>(file);
    const std::string pid = std::to_string(getpid());
    CHECK_THAT(read_text(folder / "results.db.lock"), Catch::Matchers::StartsWith(pid + "\n"));
    check_fails([&] { const Writer second(file); }, ErrorKind::database,
                ("another deft run (pid " + pid + ") is writing").c_str());
    CHECK(in_child([&] {
              try {
                  const Writer second(file);
              } catch (const Error& error) {
                  return exit_code(error.kind());
              }
              return 0;
          }) == kExitDatabase);
    // Nor by another path to the same file.
    std::filesystem::create_symlink(file, folder / "link.db");
    check_fails([&] { const Writer second(folder / "link.db"); }, ErrorKind::database, "another deft run");
    // A reader does not mind.
    CHECK(Reader(file).sweep_names().empty());
    first.reset();
    const Writer third(file);
}

TEST_CASE("the lock of a killed writer is free", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    CHECK(in_child([&] {
              const Writer writer(file);
              return raise(SIGKILL);
          }) == 128 + SIGKILL);
    Writer writer(file);
    CHECK(writer.live_attempts().empty());
}

TEST_CASE("a folder without the right to write is an io error", "[bare]") {
    const TemporaryFolder folder;
    if (geteuid() != 0) DEFT_SKIP("changing the user needs root");
    std::filesystem::create_directory(folder / "root");
    const auto file = folder.path() / "root/results.db";
    const auto as_nobody = [&](const std::function<void()>& body) {
        return in_child([&] {
            if (setgid(65534) != 0 || setuid(65534) != 0) return 98;
            try {
                body();
            } catch (const Error& error) {
                const bool helps = std::string_view(error.what()).find("help: make") != std::string_view::npos;
                return helps ? 10 + static_cast<int>(error.kind()) : 97;
            }
            return 0;
        });
    };
    const int io = 10 + static_cast<int>(ErrorKind::io);
    std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
    CHECK(as_nobody([&] { const Writer writer(file); }) == io);
    { const OneAttempt one(file); }
    CHECK(as_nobody([&] { const Writer writer(file); }) == io);
    // Even with the lock file writable.
    std::filesystem::permissions(folder.path() / "root/results.db.lock", std::filesystem::perms{0666});
    CHECK(as_nobody([&] { const Writer writer(file); }) == io);
    std::filesystem::permissions(folder.path() / "root", std::filesystem::perms{0700});
    CHECK(as_nobody([&] { const Reader reader(file); }) == io);
    CHECK(as_nobody([&] { const Writer writer(file); }) == io);
    std::filesystem::permissions(folder.path() / "root", std::filesystem::perms{0755});
    // Reading works without the right to write beside the file.
    CHECK(as_nobody([&] {
              if (Reader(file).sweep("quick").trials.size() != 1) throw std::runtime_error("wrong");
          }) == 0);
    // And while a writer is at work.
    const Writer writer(file);
    CHECK(as_nobody([&] {
              if (Reader(file).sweep("quick").trials.size() != 1) throw std::runtime_error("wrong");
          }) == 0);
}

TEST_CASE("a reader works on read-only media, a writer fails with help", "[bare]") {
    const TemporaryFolder folder;
    SmallDisk disk(folder / "a disk? 100%", 2048);
    if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
    const auto file = disk / "results.db";
    { const OneAttempt one(file); }
    REQUIRE(disk.make_read_only());
    CHECK(Reader(file).sweep("quick").trials.size() == 1);
    check_fails([&] { const Writer writer(file); }, ErrorKind::io, "help: make");
}

TEST_CASE("a full disk rolls back, and the writer goes on once there is space", "[bare]") {
    const TemporaryFolder folder;
    const SmallDisk disk(folder / "disk", 1536);
    if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
    OneAttempt one(disk / "results.db");
    write_text(disk / "filler", std::string(800 << 10, 'f'));
    std::string journal;
    for (int step = 1; step <= 10000; ++step) journal += line(a_point(step));
    write_text(folder / "journal.jsonl", journal);
    CHECK_THAT(refusal(ErrorKind::io, [&] { one.writer.ingest(one.attempt, folder / "journal.jsonl"); }),
               ContainsSubstring("free space under") && ContainsSubstring("rolled back"));
    CHECK_FALSE(Reader(disk / "results.db").sweep("quick").trials.at(0).last_point.has_value());
    std::filesystem::remove(disk / "filler");
    write_text(folder / "journal.jsonl", line(a_point(1)) + line(a_point(2)));
    CHECK(one.writer.ingest(one.attempt, folder / "journal.jsonl").lines == 2);
    CHECK(Reader(disk / "results.db").curve(hash_of("cafe01")).size() == 2);
}

TEST_CASE("a disk too full for a new database is an io error, and the next run starts afresh", "[bare]") {
    const TemporaryFolder folder;
    const SmallDisk disk(folder / "disk", 128);
    if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
    write_text(disk / "filler", std::string(100 << 10, 'f'));
    const auto open = [&] { const Writer writer(disk / "results.db"); };
    CHECK(refusal(ErrorKind::io, open) != "accepted");
    std::filesystem::remove(disk / "filler");
    CHECK(refusal(ErrorKind::io, open).find("foreign") == std::string::npos);
}

TEST_CASE("A creation or migration that stops between two steps leaves what was there before", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    std::vector<Migration> steps(migrations().begin(), migrations().end());
    steps.push_back({kNewest + 1, "first", "CREATE TABLE note (x INTEGER) STRICT"});
    steps.push_back({kNewest + 2, "broken", "CREATE TABLE note (x INTEGER) STRICT"});
    SECTION("without a file") {
        CHECK(is_without_schema(file));
        CHECK_THROWS_AS(open_for_writing(file, steps), Error);
        CHECK(is_without_schema(file));
        require_newest_schema(file);
        check_fails([&] { const Reader reader(file); }, ErrorKind::missing, "no results");
    }
    SECTION("from an older database") {
        { const Writer writer(file); }
        CHECK_FALSE(is_without_schema(file));
        CHECK_THROWS_AS(open_for_writing(file, steps), Error);
        CHECK(schema_version(file) == newest_schema());
    }
    { const Writer writer(file); }
    CHECK(Reader(file).sweep_names().empty());
}

TEST_CASE("A database that a full disk stopped at any point of its creation is created once there is space", "[bare]") {
    const TemporaryFolder folder;
    const SmallDisk disk(folder / "disk", 2048);
    if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
    const auto file = disk / "results.db";
    int stopped = 0;
    for (int free = 40; free <= 1000; free += 80) {
        write_text(disk / "filler", std::string(static_cast<std::size_t>(2048 - free) << 10, 'f'));
        try {
            const Writer writer(file);
        } catch (const Error& error) {
            CHECK(error.kind() == ErrorKind::io);
            ++stopped;
        }
        std::filesystem::remove(disk / "filler");
        INFO(free << " kB");
        CHECK_NOTHROW(require_newest_schema(file));
        CHECK_NOTHROW(Writer(file));
        for (const char* suffix : {"", "-wal", "-shm", "-journal", ".lock"})
            std::filesystem::remove(file.string() + suffix);
    }
    CHECK(stopped > 2);
}

TEST_CASE("an older database is copied and migrated", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    { const OneAttempt one(file); }
    std::vector<Migration> steps(migrations().begin(), migrations().end());
    steps.push_back({kNewest + 1, "notes", "CREATE TABLE note (text TEXT NOT NULL) STRICT"});
    check_fails([&] { open_for_reading(file, steps); }, ErrorKind::database,
                fmt::format("older schema version {}", kNewest));
    check_fails([&] { open_for_reading(file, steps); }, ErrorKind::database,
                fmt::format("deft db upgrade --root {}", folder.path().string()));
    CHECK(schema_version(file, steps) == newest_schema());
    // A migration that was killed in the middle of copying left this.
    write_text(backup_of(file, newest_schema()).string() + ".part", std::string(5000, 'p'));
    {
        const auto connection = open_for_writing(file, steps);
        CHECK(connection->integer("PRAGMA user_version") == kNewest + 1);
        CHECK(connection->integer("SELECT count(*) FROM note") == 0);
        CHECK(connection->integer("SELECT count(*) FROM experiment") == 1);
        CHECK(connection->integer("SELECT count(*) FROM migration") == kNewest + 1);
        CHECK(connection->integer("PRAGMA foreign_keys") == 1);
    }
    const std::filesystem::path backup = backup_of(file, newest_schema());
    CHECK(synced(backup.string() + ".part"));
    CHECK(Reader(backup).sweep("quick").trials.size() == 1);
    CHECK_FALSE(std::filesystem::exists(backup.string() + ".part"));
    // To the program of the older version it is now a newer file.
    check_fails([&] { const Writer writer(file); }, ErrorKind::database, "made by a newer deft");
}

TEST_CASE("A database of version 1 keeps its attempts, which then ran on their driver's machine", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    {
        const auto connection = open_for_writing(file, migrations().first(1));
        connection->execute(
            "INSERT INTO code VALUES (1, 'f', 'a', 'main', 0, '', NULL, 'b', 'GNU', '-O3', 'Release');"
            "INSERT INTO host (id, fingerprint, hostname, arch, cpu_model, cores, threads, mem_bytes, kernel, os)"
            " VALUES (1, 'h', 'node1', 'x86_64', 'CPU', 4, 8, 1, '6.1', 'Debian 12');"
            "INSERT INTO experiment (id, config_hash, variant_hash, seed, config_json, label, created_ms)"
            " VALUES (1, 'c', 'v', 1, '{}', 'one', 1);"
            "INSERT INTO attempt (id, uid, experiment_id, number, state, fail_class, code_id, host_id, worker, "
            "argv_json,"
            " workdir, created_ms, ended_ms, own_seconds, devices, usd_per_hour) VALUES"
            " (7, 'u1', 1, 1, 'failed', 'crash', 1, 1, 'w', '[]', 'runs/a', 1, 5, 3600, 2, 1.5),"
            " (8, 'u2', 1, 2, 'running', NULL, 1, 1, 'w', '[]', 'runs/b', 6, NULL, NULL, 1, NULL);"
            "INSERT INTO spent VALUES (7, 1, 2, 1, 0, 0)");
    }
    const Writer writer(file);
    Connection connection(file, Connection::Mode::write);
    CHECK(connection.integer("PRAGMA user_version") == kNewest);
    CHECK(connection.text("SELECT group_concat(id || state || launcher || job || ifnull(queue_seconds, 'none'), ' ')"
                          " FROM attempt") == "7failedlocalnone 8runninglocalnone");
    CHECK(connection.text("SELECT device_seconds || ' ' || usd FROM attempt WHERE id = 7") == "7200.0 3.0");
    CHECK(connection.integer("SELECT count(*) FROM spent WHERE attempt_id = 7") == 1);
    CHECK(connection.integer("SELECT count(*) FROM v_trial") == 0);
    // The rules hold as before.
    CHECK_THROWS_AS(connection.execute("UPDATE attempt SET state = 'ok' WHERE id = 7"), Error);
    CHECK_THROWS_AS(connection.execute("UPDATE attempt SET fail_class = 'bad luck' WHERE id = 8"), Error);
    CHECK_THROWS_AS(connection.execute("INSERT INTO spent VALUES (99, 1, 1, 1, 0, 0)"), Error);
    CHECK_NOTHROW(connection.execute("UPDATE attempt SET fail_class = 'node' WHERE id = 8"));
    CHECK_THROWS_AS(connection.execute(
                        "INSERT INTO attempt (uid, experiment_id, number, state, code_id, host_id, worker, argv_json,"
                        " workdir, created_ms) VALUES ('u3', 1, 3, 'running', 1, 1, 'w', '[]', 'runs/c', 7)"),
                    Error);
}

TEST_CASE("an older database is refused, and left as it was, before something is written that may be refused",
          "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    require_newest_schema(file);
    write_text(file, "");
    require_newest_schema(file);
    { const OneAttempt db(file); }
    require_newest_schema(file);
    std::vector<Migration> steps(migrations().begin(), migrations().end());
    steps.push_back({kNewest + 1, "a table more", "CREATE TABLE note (text TEXT) STRICT"});
    CHECK_THAT(refusal(ErrorKind::database, [&] { require_newest_schema(file, steps); }),
               ContainsSubstring("older schema version") && ContainsSubstring("deft db upgrade --root"));
    CHECK(schema_version(file, steps) == newest_schema());
    CHECK_FALSE(std::filesystem::exists(backup_of(file, newest_schema())));
}

TEST_CASE("a migration that fails leaves the older database", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    { const OneAttempt one(file); }
    std::vector<Migration> steps(migrations().begin(), migrations().end());
    SECTION("in its SQL") {
        steps.push_back({kNewest + 1, "broken", "CREATE TABLE note (x); CREATE TABLE note (x)"});
    }
    SECTION("in its references") {
        steps.push_back({kNewest + 1, "broken", "DELETE FROM code"});
    }
    CHECK_THROWS_AS(open_for_writing(file, steps), Error);
    const Connection connection(file, Connection::Mode::write);
    CHECK(Reader(file).sweep("quick").trials.at(0).code.git_branch == "main");
    const Writer writer(file);
}
