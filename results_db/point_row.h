#pragma once
// A row of train_point as a value.

#include "base/journal.h"
#include "results_db/connection.h"

namespace deft::results_db {

inline constexpr const char* kPointColumns =
    "step, tokens, unique_tokens, layer_tokens, flops, wall_ms, loss, lr, grad_norm, tok_per_s, seqlen, kept_tokens,"
    " nonfinite";

// From the columns of kPointColumns, of which the first is that of index `first`.
journal::TrainPoint point_of(const Statement& row, int first = 0);

}  // namespace deft::results_db
