#pragma once
// The database's schema as an ordered list of steps; step N leads from version N-1 to N.

#include <span>

namespace deft::results_db {

class Connection;

struct Migration {
    int version;
    const char* name;
    const char* sql;
    void (*finish)(Connection&) = nullptr;  // steps that SQL cannot do, run after it in the same transaction
};

inline constexpr int kApplicationId = 0x64656674;  // "deft", at offset 68 of the file, for file(1)

std::span<const Migration> migrations();

extern const char* const kSchemaV1;
extern const char* const kSchemaV2;
extern const char* const kSchemaV3;
extern const char* const kSchemaV4;
extern const char* const kSchemaV5;
extern const char* const kSchemaV6;
extern const char* const kSchemaV7;
extern const char* const kSchemaV8;
extern const char* const kSchemaV9;
extern const char* const kSchemaV10;
extern const char* const kSchemaV11;
extern const char* const kSchemaV12;
extern const char* const kSchemaV13;
extern const char* const kSchemaV14;
extern const char* const kTriggersV6;  // made once the step's rows are written

// Takes in the notes on sweeps that stood beside the database, and keys hosts by what decides speed.
void finish_v5(Connection& connection);
// Finds trials by what decides their weights, and makes one of those that are scored apart.
void finish_v6(Connection& connection);

}  // namespace deft::results_db
