#pragma once
// Opening a database file: is it ours, how new is it, which journal mode suits its file system; and migrating it
// forward.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "results_db/connection.h"
#include "results_db/schema.h"

namespace deft::results_db {

// Errors: database, for a file that is not deft's, detected from its header alone so that the file is left untouched.
// An absent or empty file passes.
void require_ours(const std::filesystem::path& file);

// Write-ahead logging needs shared memory, which network file systems lack. The number is statfs's f_type.
bool supports_wal(long file_system_type);

// For the one writer. The caller holds the lock and has called require_ours.
std::unique_ptr<Connection> open_for_writing(const std::filesystem::path& file,
                                             std::span<const Migration> steps = migrations());

// Errors: missing (no file, or nothing in it yet), database (an older schema among them), io.
std::unique_ptr<Connection> open_for_reading(const std::filesystem::path& file,
                                             std::span<const Migration> steps = migrations());

// Before something that may be refused is written: an older database would have been migrated by then. An absent or
// empty file passes. Errors: database (an older schema among them), io.
void require_newest_schema(const std::filesystem::path& file, std::span<const Migration> steps = migrations());

// Whether the file is absent, empty, or what a first run left that was stopped before it created the schema. Errors:
// database (a foreign file), io.
bool is_without_schema(const std::filesystem::path& file);

// An empty in-memory database of the newest schema; messages call it `name`.
std::unique_ptr<Connection> open_in_memory(const std::string& name);

// The schema of a file: a version of this program's list of steps, or of the list before the first release.
struct SchemaVersion {
    std::int64_t number = 0;  // 0: nothing in it yet
    bool is_preliminary = false;

    std::string words() const;  // "schema version 1", "preliminary schema version 14"
    bool operator==(const SchemaVersion&) const = default;
};
SchemaVersion newest_schema(std::span<const Migration> steps = migrations());

// A file may be older than this program. Errors: as open_for_reading.
SchemaVersion schema_version(const std::filesystem::path& file, std::span<const Migration> steps = migrations());

// Where a database of an older version is copied before it is migrated: <file>.backup-vN.
std::filesystem::path backup_of(const std::filesystem::path& file, const SchemaVersion& version);

// Brings the schema to the last step in one transaction; an older database is copied first. Errors: database, for a
// preliminary version that no import knows.
void migrate(Connection& connection, std::span<const Migration> steps);

std::string random_uid();

}  // namespace deft::results_db
