#pragma once
// The tokens that a router keeps: the K smallest keys of each row, in position order.

#include "kernels/cuda/exec.h"
#include "kernels/token_keys.h"

namespace deft::kernels::cuda {

// index (rows, K), ascending in each row, for 0 <= K <= T, which has no limit. Keys, their ties and the meaning of a
// row: kernels/token_keys.h.
template <class Keys>
void select_kept_tokens(Exec&, std::int32_t* index, const Keys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K);

}  // namespace deft::kernels::cuda
