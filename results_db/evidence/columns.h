#pragma once
// Columns of a table as keys of a record, both ways: what each holds is checked when a record is read.

#include <initializer_list>
#include <span>
#include <string>

#include "base/json_fwd.h"
#include "results_db/connection.h"

namespace deft::results_db {

enum class Holds {
    integer,
    count,
    time,
    real,
    amount,
    text,
    name,
    sha256,
    json
};  // count and amount: 0 or more; time: ms since 1970, up to the year 9999; name: of letters, digits, _, - and +

struct Column {
    const char* name;
    Holds holds;
    bool may_be_absent = false;  // NULL, or an empty text where the column has no NULL
};

// "a.uid, a.number"; without a table "uid, number".
std::string column_names(std::span<const Column> columns, const char* table);

// From the columns of column_names(), of which the first has the index `first`. NULL and empty texts that may be absent
// are left out, and no text has the absolute path of a file.
Json object_of(const Statement& row, int first, std::span<const Column> columns);

// Errors: BadRecord, for a key that is missing, wrong, or neither a column nor one of `others`.
void require_columns(const Json& object, std::span<const Column> columns,
                     std::initializer_list<const char*> others = {});

// One parameter a column, from the index `first`. A number that is absent is NULL, and so is a text unless its column
// has no NULL.
enum class IfAbsent { null, empty_text };
void bind_columns(Statement& statement, int first, const Json& object, std::span<const Column> columns,
                  IfAbsent absent = IfAbsent::null);

// Errors: BadRecord.
const std::string& text_at(const Json& object, const char* key);
std::string text_or_empty(const Json& object, const char* key);
bool is_name(const std::string& text);
bool is_sha256(const std::string& text);

}  // namespace deft::results_db
