#pragma once
// A sweep without its means: one row a trial, or one a logged step of a trial.

#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/results.h"
#include "reporting/table.h"

namespace deft::reporting {

// Every trial with its state, what it consumed and its scores.
Table per_seed_table(const Results& sweep);

// Every logged step of every trial, undecimated: counts, losses, learning rate, lengths and what was drawn.
Table curves_table(const Results& sweep, const Curves& curves);

}  // namespace deft::reporting
