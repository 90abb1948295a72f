#pragma once
// The tokens that a router keeps: the K smallest keys of each row, in position order.

#include "kernels/cpu/exec.h"
#include "kernels/token_keys.h"

namespace deft::kernels::cpu {

// index (rows, K), ascending in each row, for 0 <= K <= T. Keys, their ties and the meaning of a row:
// kernels/token_keys.h.
void select_kept_tokens(Exec&, std::int32_t* index, const RandomKeys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K);
void select_kept_tokens(Exec&, std::int32_t* index, const ImportanceKeys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K);
std::size_t select_kept_tokens_workspace(int threads, std::int64_t T);

}  // namespace deft::kernels::cpu
