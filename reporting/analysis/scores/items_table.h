#pragma once
// The result on each document of a scored task.

#include <string>

#include "reporting/table.h"

namespace deft::reporting {

// `items` as the results database keeps them (reporting/analysis/scores/scored_items.h).
// Errors: database, for a line that is none, with its number.
Table items_table(const std::string& task, const std::string& items);

}  // namespace deft::reporting
