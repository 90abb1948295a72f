#pragma once
// The findings of a gate as a table.

#include <cstddef>
#include <string>

#include "reporting/check_report.h"
#include "reporting/table.h"

namespace deft::reporting {

// "1 worse, 3 same": what was found at all, the gravest first; "nothing was checked" for an empty report.
std::string counts_text(const CheckReport& report);

// The findings that a reader must see first come first; otherwise in the report's order.
std::vector<CheckFinding> by_gravity(const CheckReport& report);

// The gravest findings, at most so many; a note counts the rest.
Table check_table(const CheckReport& report, std::size_t most_rows);

}  // namespace deft::reporting
