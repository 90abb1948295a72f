#pragma once
// Rows that a journal gives, as texts that decide equality.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "results_db/connection.h"

namespace deft::results_db {

// A kind of rows that belong to an attempt.
struct RowKind {
    std::string name;   // for messages: "train_point"
    std::string query;  // key and values as texts, of the attempt ?1
};
// The kinds that a journal gives, in a database with the newest schema. Row numbers, and what an attempt's end or
// another attempt decides, are in none.
std::vector<RowKind> journal_row_kinds(Connection& connection);

// Values by key.
using RowTexts = std::map<std::string, std::string>;
RowTexts row_texts(Connection& connection, const RowKind& kind, std::int64_t attempt_id);

// How two sets of rows differ; empty where they are equal: "3 rows differ, 1 is missing in the database; the first is
// step 40".
std::string difference(const RowTexts& stored, const RowTexts& of_journal);

}  // namespace deft::results_db
