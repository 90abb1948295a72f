#pragma once
// A sweep without its means: one row a trial, or one a logged step of a trial.

#include "reporting/page/curves.h"
#include "reporting/table.h"
#include "results_db/store.h"

namespace deft::reporting {

// Every trial with its state, what it consumed and its scores.
Table per_seed_table(const results_db::SweepResults& sweep);

// Every logged step of every trial, undecimated: counts, losses, learning rate, lengths and what was drawn.
Table curves_table(const results_db::SweepResults& sweep, const Curves& curves);

}  // namespace deft::reporting
