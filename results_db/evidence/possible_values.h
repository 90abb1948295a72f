#pragma once
// Values that no measurement has, whatever their hashes: evidence with one is not taken in.

#include "base/journal.h"
#include "base/json_fwd.h"

namespace deft::results_db {

// Each: Errors: BadRecord.

// An accuracy above 1, a negative loss, standard error or perplexity; the level of chance likewise.
void require_possible(const journal::Evaluation& score);
// Negative FLOPs, loss, learning rate, norm or speed.
void require_possible(const journal::TrainPoint& point);
// A share outside of 0 to 1.
void require_possible(const journal::ExpertLoad& load);
// An attempt that ends before it starts.
void require_possible_times(const Json& attempt);
// A slot of more devices, trials or ranks than any machine has.
void require_possible_shape(const Json& setup);

}  // namespace deft::results_db
