#pragma once
// Whether seconds of training, and all that follows from them (rates, dollars), compare between two rows.

#include <string>

#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

enum class SecondsCompare { yes, other_slot, contention };

// Seconds compare within one slot shape, and between trials that contention slowed alike.
SecondsCompare seconds_compare(const Row& row, const Row& reference);

// The text of a cell in place of a ratio: "other slot", "contention"; empty: they compare.
std::string to_text(SecondsCompare compare);

}  // namespace deft::reporting
