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
#include "results_db/import_preliminary.h"
#include "results_db/views.h"

namespace deft::results_db {

namespace {

[[noreturn]] void fail_foreign(const std::filesystem::path& file, const char* why) {
    throw Error(ErrorKind::database, fmt::format("{} is not a deft results database: {}", file.string(), why),
                "move the file away, or choose another root folder", "the file");
}

bool is_our_id(std::int64_t application_id) {
    return application_id == kApplicationId || application_id == kPreliminaryApplicationId;
}

[[noreturn]] void fail_newer(const std::string& file, const SchemaVersion& found, const SchemaVersion& known) {
    throw Error(ErrorKind::database,
                fmt::format("{} was made by a newer deft: it has {}, and this program knows version {}", file,
                            found.words(), known.number),
                "use the newer program, or another root folder", "the file");
}

[[noreturn]] void fail_older(const std::filesystem::path& file, const SchemaVersion& found,
                             const SchemaVersion& known) {
    throw Error(
        ErrorKind::database,
        fmt::format("{} has the older {}; this program reads version {}", file.string(), found.words(), known.number),
        fmt::format("deft db upgrade --root {} copies the file and migrates it",
                    file.has_parent_path() ? file.parent_path().string() : "."),
        "the file");
}

// The versions before the first release have one import, of the last of them.
void require_importable(const std::string& file, const SchemaVersion& found) {
    if (!found.is_preliminary || found.number == 0 || found.number == kPreliminaryVersion) return;
    throw Error(
        ErrorKind::database,
        fmt::format("{} has the {}; this program imports version {} alone", file, found.words(), kPreliminaryVersion),
        fmt::format("bring it to version {} first: run `deft db upgrade` of a deft that was built from a commit "
                    "of 2026-11-27",
                    kPreliminaryVersion),
        "the file");
}

SchemaVersion version_of(Connection& connection) {
    return {connection.integer("PRAGMA user_version"),
            connection.integer("PRAGMA application_id") == kPreliminaryApplicationId};
}

// Errors: database.
void require_known(const std::string& file, const SchemaVersion& found, const SchemaVersion& newest) {
    require_importable(file, found);
    if (!found.is_preliminary && found.number > newest.number) fail_newer(file, found, newest);
}

std::int64_t bytes_in(const std::filesystem::path& file) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    return error ? 0 : static_cast<std::int64_t>(size);
}

void back_up(Connection& connection, const SchemaVersion& version) {
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

void require_references(Connection& connection, const std::string& version) {
    if (Statement broken(connection, "PRAGMA foreign_key_check"); broken.step())
        throw Error(ErrorKind::database,
                    fmt::format("migrating {} to {} would break references in table {}", connection.file(), version,
                                broken.text(0)),
                    {}, "the database: the migration was rolled back");
}

void note_step(Connection& connection, const Migration& step) {
    Statement(connection, "INSERT INTO migration (version, name, sha256, applied_ms) VALUES (?1, ?2, ?3, ?4)")
        .bind(step.version, step.name, sha256(step.sql), now_ms())
        .run();
    connection.execute(fmt::format("PRAGMA user_version = {}", step.version).c_str());
}

// Inside a transaction, as a part of all that is missing; as import().
void apply(Connection& connection, const Migration& step) {
    connection.execute(step.sql);
    note_step(connection, step);
    if (step.version == 1)
        Statement(connection, "INSERT INTO meta (key, value) VALUES ('database_uid', ?1)").bind(random_uid()).run();
    require_references(connection, fmt::format("version {}", step.version));
}

void import(Connection& connection, const Migration& first) {
    import_preliminary(connection, first);
    connection.execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
    note_step(connection, first);
    require_references(connection, "version 1");
}

// A database with this version's tables may have the views of another program.
void bring_views(Connection& connection) {
    if (has_current_views(connection)) return;
    Transaction transaction(connection);
    replace_views(connection);
    transaction.commit();
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
    const SchemaVersion version = version_of(*connection);
    require_known(connection->file(), version, newest_schema(steps));
    if (version.number == 0) fail_empty(file);
    return connection;
}

}  // namespace

std::string SchemaVersion::words() const {
    return fmt::format("{}schema version {}", is_preliminary ? "preliminary " : "", number);
}

SchemaVersion newest_schema(std::span<const Migration> steps) {
    return {steps.back().version, false};
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
    if (!is_our_id(id)) fail_foreign(file, "another program made it");
}

std::unique_ptr<Connection> open_for_writing(const std::filesystem::path& file, std::span<const Migration> steps) {
    auto connection = std::make_unique<Connection>(file, Connection::Mode::write);
    if (!is_our_id(connection->integer("PRAGMA application_id")) &&
        connection->integer("SELECT count(*) FROM sqlite_schema") != 0)
        fail_foreign(file, "another program made it");
    if (version_of(*connection).number == 0) {
        connection->execute("PRAGMA page_size = 8192");
        connection->execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
    }
    require_known(connection->file(), version_of(*connection), newest_schema(steps));
    set_journal_mode(*connection);
    migrate(*connection, steps);
    bring_views(*connection);
    return connection;
}

std::unique_ptr<Connection> open_for_reading(const std::filesystem::path& file, std::span<const Migration> steps) {
    auto connection = open_of_any_age(file, steps);
    const SchemaVersion version = version_of(*connection);
    if (version != newest_schema(steps)) fail_older(file, version, newest_schema(steps));
    return connection;
}

void require_newest_schema(const std::filesystem::path& file, std::span<const Migration> steps) {
    require_ours(file);
    if (bytes_in(file) == 0) return;
    const SchemaVersion version = version_of(*read_connection(file)), newest = newest_schema(steps);
    require_known(file.string(), version, newest);
    if (version.number > 0 && version != newest) fail_older(file, version, newest);
}

bool is_without_schema(const std::filesystem::path& file) {
    require_ours(file);
    return bytes_in(file) == 0 || version_of(*read_connection(file)).number == 0;
}

std::unique_ptr<Connection> open_in_memory(const std::string& name) {
    auto connection = std::make_unique<Connection>(name, Connection::Mode::memory);
    migrate(*connection, migrations());
    return connection;
}

SchemaVersion schema_version(const std::filesystem::path& file, std::span<const Migration> steps) {
    return version_of(*open_of_any_age(file, steps));
}

std::filesystem::path backup_of(const std::filesystem::path& file, const SchemaVersion& version) {
    return fmt::format("{}.backup-{}v{}", file.string(), version.is_preliminary ? "preliminary-" : "", version.number);
}

void migrate(Connection& connection, std::span<const Migration> steps) {
    const SchemaVersion found = version_of(connection);
    if (found == newest_schema(steps)) return;
    if (found.number > 0) back_up(connection, found);
    // Inside a transaction the switch has no effect; rebuilding a table needs it off. Each step checks references
    // itself.
    connection.execute("PRAGMA foreign_keys = OFF");
    // Views read the table that is rebuilt under its name, which exists again only after its renaming.
    connection.execute("PRAGMA legacy_alter_table = ON");
    // One transaction: a stop between two steps would leave a database that is neither new nor the older one.
    Transaction transaction(connection);
    const bool is_import = found.is_preliminary && found.number > 0;
    if (found.number > 0 && !is_import) drop_views(connection);
    if (is_import) import(connection, steps.front());
    for (const Migration& step : steps)
        if (step.version > (is_import ? 1 : found.number)) apply(connection, step);
    replace_views(connection);
    transaction.commit();
    connection.execute("PRAGMA legacy_alter_table = OFF");
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
