#pragma once
// The database's schema as an ordered list of steps; step N leads from version N-1 to N.

#include <span>

namespace deft::results_db {

struct Migration {
    int version;
    const char* name;
    const char* sql;
};

inline constexpr int kApplicationId = 0x44454654;  // "DEFT", at offset 68 of the file, for file(1)

std::span<const Migration> migrations();

}  // namespace deft::results_db
