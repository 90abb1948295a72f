#pragma once
// CPU contention: other processes ran on a trial's processor, so that its clock measures both.

#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

// The part of the time that the finished trials of a row held their thread in which it computed. Of trials on one
// thread of a CPU alone: with several threads, contention and waiting for one another look the same. Nothing:
// unknown.
std::optional<double> computing_share(const Row& row);

// Whether those of both are within a tenth of each other, as far as they are known.
bool have_equal_contention(const Row& a, const Row& b);

// "train hours: compared only between trials of equal CPU contention; share of their time that computed: A for 50%, B
// for 99%"; empty: they were, as far as is known.
std::string contention_differs(const std::vector<const Row*>& rows, const std::string& quantity);

// Rows that contention slowed otherwise than their baseline, so that their cells have no ratio of times.
std::vector<std::string> contention_notes(const std::vector<Row>& rows, const std::string& base_recipe);

}  // namespace deft::reporting
