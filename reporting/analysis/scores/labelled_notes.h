#pragma once
// Notes below a table of labelled texts: scores without a value, and defects of published code that were
// taken over.

#include <string>
#include <vector>

#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

// Whether the measure has no value where all predictions are equal: Matthews, Pearson, Spearman.
bool is_correlation(const std::string& measure);

// Why such a measure is NaN: "has no Matthews correlation: ...".
std::string why_no_value(const std::string& measure);

// "No value: ..." of correlations, and "Defects of the published code ..." where [data.labelled] has them; none: none.
std::vector<std::string> labelled_notes(const std::vector<Row>& rows);

}  // namespace deft::reporting
