#pragma once
// When a trial counts as a measurement of its recipe: it ran at least 200 steps, its length and kept-token schedules
// reached their ends (a constant number of kept tokens has none), and its validation loss lies at least a tenth below
// the unigram entropy, so that it learned more than token frequencies.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

bool is_unigram_entropy(const Score& row);

struct MeasuredRule {
    std::string failure;         // empty: the trial counts, as far as is known
    bool length_known = false;   // the configuration names the full length, and there is a last step
    bool entropy_known = false;  // older results lack it
};

MeasuredRule measured_rule(const Trial& trial);

// Why the row does not count, with the seeds of each reason; empty where it does or has no finished seed.
std::string not_measured(const Row& row);

// Trials of the row whose loss was no number: a mean over its others would flatter it.
std::size_t diverged_trials(const Row& row);

// The rule's findings, as notes below the table.
std::vector<std::string> measured_notes(const std::vector<Row>& rows);

}  // namespace deft::reporting
