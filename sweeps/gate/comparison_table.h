#pragma once
// A comparison as people read it.

#include <span>
#include <string>

#include "reporting/table.h"
#include "sweeps/gate/compare.h"

namespace deft::sweeps {

struct ComparisonNames {
    std::string base = "BASE", head = "HEAD";
};

// "worse", "crashed in HEAD", "only in BASE".
std::string verdict_text(const ComparedCase& one, const ComparisonNames& names);
// "HEAD is 1.034x slower than BASE [1.021, 1.047]", of a case with evidence.
std::string ratio_sentence(const ComparedCase& one, const ComparisonNames& names);

// A row a case, then what is better or worse, troubles, all cases together, and how it was measured.
reporting::Table comparison_table(std::span<const ComparedCase> cases, const ComparisonNames& names,
                                  const ComparisonSettings& settings);

// What comparisons of a program with itself say of this machine: how far apart identical code can seem, how often it
// was called different, and the margin that this supports.
std::vector<std::string> noise_notes(std::span<const ComparedCase> cases, const ComparisonSettings& settings);

}  // namespace deft::sweeps
