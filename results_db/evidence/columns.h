#pragma once
// Columns of a table as keys of a record, both ways: what each holds is checked when a record is read.

#include <initializer_list>
#include <span>
#include <string>

#include "base/json_fwd.h"
#include "results_db/column.h"

namespace deft::results_db {

// From the columns of column_names(), of which the first has the index `first`. Absent values are left out, and no text
// has the absolute path of a file.
Json object_of(const Statement& row, int first, std::span<const Column> columns);

// Errors: BadRecord, for a key that is missing, wrong, or neither a column nor one of `others`.
void require_columns(const Json& object, std::span<const Column> columns,
                     std::initializer_list<const char*> others = {});

// One parameter a column, from the index `first`, of a record that require_columns() accepted.
void bind_columns(Statement& statement, int first, const Json& object, std::span<const Column> columns);

// Errors: BadRecord.
const std::string& text_at(const Json& object, const char* key);
std::string text_or_empty(const Json& object, const char* key);
bool is_name(const std::string& text);
bool is_sha256(const std::string& text);

}  // namespace deft::results_db
