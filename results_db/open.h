#pragma once
// Opening a database file: is it ours, how new is it, which journal mode suits its file system; and migrating it
// forward.

#include <filesystem>
#include <memory>
#include <span>

#include "results_db/connection.h"
#include "results_db/schema.h"

namespace deft::results_db {

// Errors: database, for a file that is not deft's, told from its header alone so that the file is left untouched.
// An absent or empty file passes.
void require_ours(const std::filesystem::path& file);

// Write-ahead logging needs shared memory, which network file systems lack. The number is statfs's f_type.
bool supports_wal(long file_system_type);

// For the one writer. The caller holds the lock and has called require_ours.
std::unique_ptr<Connection> open_for_writing(const std::filesystem::path& file,
                                             std::span<const Migration> steps = migrations());

// Errors: missing (no file, or nothing in it yet), database, io.
std::unique_ptr<Connection> open_for_reading(const std::filesystem::path& file,
                                             std::span<const Migration> steps = migrations());

// Brings the schema to the last step; an older database is first copied to <file>.backup-vN.
void migrate(Connection& connection, std::span<const Migration> steps);

std::string random_uid();

}  // namespace deft::results_db
