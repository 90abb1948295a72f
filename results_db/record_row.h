#pragma once
// Records of the journal as rows: a column for each field that is a number or text, then `nonfinite` where
// there are reals, since SQLite stores NaN as NULL. For journal::TrainPoint, Sampling and ExpertLoad.

#include <cstdint>
#include <string>

#include "base/journal.h"
#include "results_db/connection.h"

namespace deft::results_db {

// "step, tokens, nonfinite"
template <class Record>
std::string columns_of();

// "table (attempt_id, step, ...) VALUES (?1, ?, ...)" of an INSERT, and what binds it; a column that no field fills may
// be last, bound separately.
template <class Record>
std::string row_of(const char* table, const char* last_column = "");
template <class Record>
void bind_record(Statement& insert, std::int64_t attempt_id, const Record& record);

// From the columns of columns_of(), of which the first is that of index `first`.
template <class Record>
Record record_of(const Statement& row, int first = 0);

}  // namespace deft::results_db
