#pragma once
// Databases from before the first release: one import of their last schema version.

#include <cstdint>

namespace deft::results_db {

class Connection;
struct Migration;

inline constexpr int kPreliminaryApplicationId = 0x64656674;  // "deft"
inline constexpr std::int64_t kPreliminaryVersion = 14;

// Recreates every table of a database of that version with the schema of the first step and copies its rows; later
// steps follow as for any database. Hashes that programs of even older versions gave a training are dropped. Inside a
// transaction, without foreign keys.
// Errors: database, for a table or column that is missing.
void import_preliminary(Connection& connection, const Migration& first);

}  // namespace deft::results_db
