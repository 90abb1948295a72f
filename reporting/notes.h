#pragma once
// What a reader must know to judge a comparison; printed below it.

#include <string>
#include <vector>

#include "reporting/comparison.h"
#include "reporting/variants.h"

namespace deft::reporting {

std::vector<std::string> comparison_notes(const results_db::SweepResults& sweep, const std::vector<Variant>& variants,
                                          const std::string& base_case, const SweepAbout& about);

}  // namespace deft::reporting
