#pragma once
// Global gradient norm and AdamW (Loshchilov & Hutter 2019, algorithm 2), over flat buffers.

#include "kernels/bf16.h"
#include "kernels/cpu/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// norm[0] = l2 norm of x (n), summed in double over fixed chunks.
void global_norm(Exec&, double* norm, const float* x, std::int64_t n);
std::size_t global_norm_workspace(std::int64_t n);

// One step on param, m, v (n) with gradient grad (n). rounded (n) or null receives the new weights, rounded. norm[0] is
// the gradient's global norm, read here so that a device needs no host round trip. Nothing is written when norm[0] or
// loss[0] is not finite.
void adamw_update(Exec&, float* param, bf16* rounded, float* m, float* v, const float* grad, const double* norm,
                  const double* loss, std::int64_t n, const AdamW&);

// total[0] = or += sum of x (n), in double over fixed chunks.
void sum(Exec&, double* total, const float* x, std::int64_t n, Accumulate);

}  // namespace deft::kernels::cpu
