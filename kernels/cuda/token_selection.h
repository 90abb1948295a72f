#pragma once
// The tokens that random-LTD keeps: the K smallest Philox keys of each sample, in position order.

#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// index (layers, B, K), ascending in each row. The key of position t is
// philox_u32(seed, RandomPurpose::token_drop, step, layer_id[l], sample_id[b], t); equal keys: the lower position is
// kept. layer_id (layers), sample_id (B): global ids, so the draw does not depend on how a batch is split. All on the
// device.
void select_kept_tokens(Exec&, std::int32_t* index, std::uint64_t seed, std::int64_t step, const std::int32_t* layer_id,
                        std::int64_t layers, const std::int64_t* sample_id, std::int64_t B, std::int64_t T,
                        std::int64_t K);

}  // namespace deft::kernels::cuda
