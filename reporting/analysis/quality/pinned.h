#pragma once
// A baseline as rows of the database, and as measured rows again.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reporting/analysis/quality/measured_row.h"
#include "reporting/table.h"
#include "results_db/gate_rows.h"

namespace deft::reporting {

struct PinRequest {
    std::string name;  // of the baseline
    std::string pinned_by, reason;
    std::int64_t now_ms = 0;
};

// A database row for each row and measure. Errors: missing (no finished trial), usage (a trial that crashed or has not
// finished: the baseline would be of fewer seeds than it says), data (a value that is not finite).
std::vector<results_db::BaselineRow> baseline_rows(std::span<const MeasuredRow> measured, const std::string& sweep,
                                                   const PinRequest& request);

// The live baseline of that name. Errors: usage, with the nearest live name; missing, for a
// retired one or without any; database, for rows that cannot be read.
std::vector<MeasuredRow> pinned_rows(std::span<const results_db::BaselineRow> rows, const std::string& name);

// A row a baseline, retired ones too.
Table baseline_table(std::span<const results_db::BaselineRow> rows);

}  // namespace deft::reporting
