#pragma once
// Whether seconds of training, and all that follows from them (rates, dollars), compare between two rows.

#include <string>

#include "reporting/variants.h"

namespace deft::reporting {

enum class SecondsCompare { yes, other_slot, held_up };

// Seconds compare within one slot shape, and between trials that contention slowed alike.
SecondsCompare seconds_compare(const Variant& row, const Variant& reference);

// Instead of a ratio in a cell: "other slot", "held up"; empty: they compare.
std::string to_text(SecondsCompare compare);

}  // namespace deft::reporting
