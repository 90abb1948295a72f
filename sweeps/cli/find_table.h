#pragma once
// The sweep of a named table.

#include <string>

#include "reporting/analysis/load_results.h"
#include "results_db/reader.h"

namespace deft::cli {

// Help of an argument that names a table.
inline constexpr const char* kTableHelp =
    "A sweep of the results (NAME, NAME@HASH or its file), or a published table, for the newest sweep that reports it";

// A sweep's name comes first; then a published table's (reporting/paper), of which the newest sweep that names it is
// meant. The newest sweep where the name is empty. Errors: usage, with the nearest or all names.
reporting::Results find_table(const results_db::Reader& reader, const std::string& name,
                              const reporting::CurrentInputs& inputs);

}  // namespace deft::cli
