#pragma once
// Databases from before the first release: one import of their last schema version.

#include <cstdint>

namespace deft::results_db {

class Connection;

inline constexpr int kPreliminaryApplicationId = 0x64656674;  // "deft"
inline constexpr std::int64_t kPreliminaryVersion = 14;

// Recreates every table of a database of that version with this program's schema and copies its rows. Hashes that
// programs of even older versions gave a training are dropped. Inside a transaction, without foreign keys.
// Errors: database, for a table or column that is missing.
void import_preliminary(Connection& connection);

}  // namespace deft::results_db
