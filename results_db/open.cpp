#include "results_db/open.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/statfs.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/stopwatch.h"

namespace deft::results_db {

namespace {

[[noreturn]] void fail_foreign(const std::filesystem::path& file, const char* why) {
    throw Error(ErrorKind::database, fmt::format("{} is not a deft results database: {}", file.string(), why),
                "move the file away, or choose another root folder", "the file");
}

[[noreturn]] void fail_newer(const std::string& file, std::int64_t found, int known) {
    throw Error(
        ErrorKind::database,
        fmt::format("{} was made by a newer deft: its schema is version {}, this program knows {}", file, found, known),
        "use the newer program, or another root folder", "the file");
}

[[noreturn]] void fail_older(const std::filesystem::path& file, std::int64_t found, int known) {
    throw Error(ErrorKind::database,
                fmt::format("{} has the older schema version {}; this program reads {}", file.string(), found, known),
                fmt::format("deft db upgrade --root {} copies the file and migrates it",
                            file.has_parent_path() ? file.parent_path().string() : "."),
                "the file");
}

std::int64_t bytes_in(const std::filesystem::path& file) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    return error ? 0 : static_cast<std::int64_t>(size);
}

void back_up(Connection& connection, std::int64_t version) {
    const std::string backup = backup_of(connection.file(), version).string();
    const std::string part = backup + ".part";
    // A killed migration may have left one, and SQLite copies into no file that holds anything.
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    create_with_umask(part);
    Statement(connection, "VACUUM INTO ?1").bind(part).run();
    // SQLite does not sync such a copy, and the migration that follows must not outlive it.
    rename_durably(part, backup);
}

// Inside a transaction, as a part of all that is missing.
void apply(Connection& connection, const Migration& step) {
    connection.execute(step.sql);
    if (step.finish != nullptr) step.finish(connection);
    Statement(connection, "INSERT INTO migration (version, name, sha256, applied_ms) VALUES (?1, ?2, ?3, ?4)")
        .bind(step.version, step.name, sha256(step.sql), now_ms())
        .run();
    if (step.version == 1)
        Statement(connection, "INSERT INTO meta (key, value) VALUES ('database_uid', ?1)").bind(random_uid()).run();
    if (Statement broken(connection, "PRAGMA foreign_key_check"); broken.step())
        throw Error(ErrorKind::database,
                    fmt::format("migrating {} to version {} would break references in table {}", connection.file(),
                                step.version, broken.text(0)),
                    {}, "the database: the migration was rolled back");
    connection.execute(fmt::format("PRAGMA user_version = {}", step.version).c_str());
}

void set_journal_mode(Connection& connection) {
    struct statfs system {};
    const std::string folder = std::filesystem::path(connection.file()).parent_path().string();
    const bool wal = statfs(folder.c_str(), &system) == 0 && supports_wal(static_cast<long>(system.f_type));
    const std::string mode = connection.text(wal ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
    if (!wal && mode != "delete")
        throw Error(
            ErrorKind::database,
            fmt::format("{} is on a network file system and cannot leave journal mode {}", connection.file(), mode),
            "close every program that reads it, or use a local root folder", "the database");
    connection.execute("PRAGMA journal_size_limit = 67108864");
}

[[noreturn]] void fail_empty(const std::filesystem::path& file) {
    throw Error(ErrorKind::missing, fmt::format("there are no results in {}", file.string()),
                "run a sweep first: deft run SPEC");
}

std::unique_ptr<Connection> read_connection(const std::filesystem::path& file) {
    try {
        auto connection = std::make_unique<Connection>(file, Connection::Mode::read);
        connection->integer("SELECT count(*) FROM sqlite_schema");
        return connection;
    } catch (const Error& error) {
        // On read-only media SQLite cannot make the shared memory that write-ahead logging needs. Without a log there
        // is nothing to share, and what cannot be written cannot change under the reader.
        if (error.kind() != ErrorKind::io || bytes_in(file.string() + "-wal") > 0) throw;
        return std::make_unique<Connection>(file, Connection::Mode::immutable);
    }
}

// Read-only, of this program's version or before.
std::unique_ptr<Connection> open_of_any_age(const std::filesystem::path& file, std::span<const Migration> steps) {
    require_ours(file);
    if (bytes_in(file) == 0) fail_empty(file);
    auto connection = read_connection(file);
    const std::int64_t version = connection->integer("PRAGMA user_version");
    if (version > steps.back().version) fail_newer(connection->file(), version, steps.back().version);
    if (version == 0) fail_empty(file);
    return connection;
}

}  // namespace

std::span<const Migration> migrations() {
    static const std::array<Migration, 14> steps = {
        Migration{1, "first schema", kSchemaV1},
        Migration{2, "curves over resumed attempts", kSchemaV2},
        Migration{3, "benchmarks", kSchemaV3},
        Migration{4, "baselines and verdicts", kSchemaV4},
        Migration{5, "what each attempt used, and all of a sweep", kSchemaV5, finish_v5},
        Migration{6, "scores are added to what was trained", kSchemaV6, finish_v6},
        Migration{7, "stages of a sweep", kSchemaV7},
        Migration{8, "imported models", kSchemaV8},
        Migration{9, "what experts did", kSchemaV9},
        Migration{10, "ranks", kSchemaV10},
        Migration{11, "verdicts on claims", kSchemaV11},
        Migration{12, "what results are of", kSchemaV12},
        Migration{13, "claims of sweeps", kSchemaV13},
        Migration{14, "what attempts spent their time on", kSchemaV14}};
    return steps;
}

bool supports_wal(long file_system_type) {
    switch (static_cast<std::uint32_t>(file_system_type)) {
        case 0x00006969:  // NFS
        case 0x0000517B:  // SMB
        case 0xFE534D42:  // SMB2
        case 0xFF534D42:  // CIFS
        case 0x01021997:  // 9P
        case 0x65735546:  // FUSE, virtiofs
        case 0x0BD00BD0:  // Lustre
        case 0x47504653:  // GPFS
        case 0x00C36400:  // Ceph
        case 0x5346414F:  // AFS
        case 0x19830326:  // BeeGFS
            return false;
        default:
            return true;
    }
}

void require_ours(const std::filesystem::path& file) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (!std::filesystem::status_known(status))
        throw Error(ErrorKind::io, fmt::format("cannot look at {}: {}", file.string(), error.message()),
                    "make its folder readable for this user, or choose another root folder", "the file");
    if (!std::filesystem::exists(status)) return;
    if (!std::filesystem::is_regular_file(status)) fail_foreign(file, "it is not a plain file");
    const std::int64_t size = bytes_in(file);
    if (size == 0) return;
    std::array<char, 100> header{};
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw Error(ErrorKind::io, fmt::format("cannot read {}", file.string()),
                    "make the file readable for this user");
    in.read(header.data(), header.size());
    constexpr std::string_view magic("SQLite format 3\0", 16);
    if (in.gcount() < static_cast<std::streamsize>(header.size()) ||
        std::string_view(header.data(), magic.size()) != magic)
        fail_foreign(file, "it is not an SQLite file");
    // A killed first run may have left a half-written header beside the journal that will undo it.
    if (std::filesystem::exists(file.string() + "-journal")) return;
    std::uint32_t id = 0;
    for (std::size_t i = 68; i < 72; ++i) id = id << 8 | static_cast<unsigned char>(header[i]);
    if (id != kApplicationId) fail_foreign(file, "another program made it");
}

std::unique_ptr<Connection> open_for_writing(const std::filesystem::path& file, std::span<const Migration> steps) {
    auto connection = std::make_unique<Connection>(file, Connection::Mode::write);
    if (connection->integer("PRAGMA application_id") != kApplicationId) {
        if (connection->integer("SELECT count(*) FROM sqlite_schema") != 0)
            fail_foreign(file, "another program made it");
        connection->execute("PRAGMA page_size = 8192");
        connection->execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
    }
    if (const std::int64_t version = connection->integer("PRAGMA user_version"); version > steps.back().version)
        fail_newer(connection->file(), version, steps.back().version);
    set_journal_mode(*connection);
    migrate(*connection, steps);
    return connection;
}

std::unique_ptr<Connection> open_for_reading(const std::filesystem::path& file, std::span<const Migration> steps) {
    auto connection = open_of_any_age(file, steps);
    const std::int64_t version = connection->integer("PRAGMA user_version");
    if (version < steps.back().version) fail_older(file, version, steps.back().version);
    return connection;
}

void require_newest_schema(const std::filesystem::path& file, std::span<const Migration> steps) {
    require_ours(file);
    if (bytes_in(file) == 0) return;
    const std::int64_t version = read_connection(file)->integer("PRAGMA user_version");
    if (version > 0 && version < steps.back().version) fail_older(file, version, steps.back().version);
}

bool is_without_schema(const std::filesystem::path& file) {
    require_ours(file);
    return bytes_in(file) == 0 || read_connection(file)->integer("PRAGMA user_version") == 0;
}

std::unique_ptr<Connection> open_in_memory(const std::string& name) {
    auto connection = std::make_unique<Connection>(name, Connection::Mode::memory);
    migrate(*connection, migrations());
    return connection;
}

std::int64_t schema_version(const std::filesystem::path& file, std::span<const Migration> steps) {
    return open_of_any_age(file, steps)->integer("PRAGMA user_version");
}

std::filesystem::path backup_of(const std::filesystem::path& file, std::int64_t version) {
    return fmt::format("{}.backup-v{}", file.string(), version);
}

void migrate(Connection& connection, std::span<const Migration> steps) {
    const std::int64_t version = connection.integer("PRAGMA user_version");
    if (version >= steps.back().version) return;
    if (version > 0) back_up(connection, version);
    // Inside a transaction the switch has no effect; rebuilding a table needs it off. Each step checks references
    // itself.
    connection.execute("PRAGMA foreign_keys = OFF");
    // One transaction: a stop between two steps would leave a database that is neither new nor the older one.
    Transaction transaction(connection);
    for (const Migration& step : steps)
        if (step.version > version) apply(connection, step);
    transaction.commit();
    connection.execute("PRAGMA foreign_keys = ON");
}

std::string random_uid() {
    std::array<unsigned char, 16> bytes{};
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = getrandom(bytes.data() + done, bytes.size() - done, 0);
        if (got > 0) done += static_cast<std::size_t>(got);
    }
    std::string text;
    for (unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
}

}  // namespace deft::results_db
