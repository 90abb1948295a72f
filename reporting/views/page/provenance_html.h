#pragma once
// The trials of each row of a comparison, as parts of its page.

#include <string>
#include <vector>

#include "reporting/analysis/results/rows.h"
#include "results_db/rows.h"

namespace deft::reporting {

// One table with a body a row of the comparison, which its cells link to: its head is on the page once.
std::string provenance_html(const std::vector<Row>& rows, const std::vector<results_db::Checkpoint>& checkpoints,
                            const std::string& points);

}  // namespace deft::reporting
