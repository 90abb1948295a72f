#pragma once
// Columns of a table, each defined once: its name, what it holds, and where a row's struct keeps it. They drive INSERT,
// SELECT, the records of evidence and the test that the schema has them (results_db/tables.h lists them).

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/fields.h"
#include "results_db/connection.h"

namespace deft::results_db {

enum class Holds {
    integer,
    count,  // 0 or more
    time,   // ms since 1970, up to the year 9999
    real,
    amount,  // 0 or more
    text,
    name,  // of letters, digits, _, - and +
    sha256,
    json
};

// How a missing value is stored; the struct has 0 for it, an empty text, an empty optional, or NaN.
enum class Absent {
    never,
    null,
    empty,  // an empty text
    nan,    // NULL, of a real for which the struct has NaN
};

struct Column {
    const char* name;
    Holds holds;
    FieldValue (*in)(void* row) = nullptr;  // at<&Row::member>; null: no struct holds it as it is stored
    Absent absent = Absent::never;
};

// "a.uid, a.number"; without a table "uid, number".
std::string column_names(std::span<const Column> columns, const char* table = "");
// "INSERT INTO code (fingerprint, git_sha) VALUES (?1, ?2)": `first`, comma-separated, then the columns.
std::string insert_into(const char* table, const std::string& first, std::span<const Column> columns,
                        const char* verb = "INSERT INTO");
// "sku = ?2, usd_per_hour = ?3", the first parameter being that of index `first`.
std::string assignments(int first, std::span<const Column> columns);
// "git_sha = excluded.git_sha, ..." of all columns but these.
std::string excluded_but(std::span<const Column> columns, std::initializer_list<const char*> kept);

// One parameter a column, from the index `first`. `row` is the struct that the columns are of. Errors: database, for
// text that must be JSON and is not.
void bind_row(Statement& statement, int first, std::span<const Column> columns, const void* row);
// From the columns of column_names(), of which the first has the index `first`; without those that no struct holds.
// Returns the index after the last.
int read_row(const Statement& statement, int first, std::span<const Column> columns, void* row);

std::vector<Column> picked(std::span<const Column> columns, std::initializer_list<const char*> names);
std::vector<Column> joined(std::initializer_list<std::span<const Column>> parts);

}  // namespace deft::results_db
