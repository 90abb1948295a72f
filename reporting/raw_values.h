#pragma once
// Every trial's numbers as they are stored.

#include "reporting/table.h"
#include "reporting/table_json.h"
#include "results_db/store.h"

namespace deft::reporting {

// One row a trial, numbers in full precision.
Table raw_values_table(const results_db::SweepResults& sweep);

// The same as a JSON array, each score on its own.
OrderedJson raw_values_json(const results_db::SweepResults& sweep);

}  // namespace deft::reporting
