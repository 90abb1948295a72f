#pragma once
// Global gradient norm and AdamW (Loshchilov & Hutter 2019, algorithm 2), over flat buffers. Master weights, moments
// and gradients are float whatever the type of activations.

#include "kernels/bf16.h"
#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// norm[0] = l2 norm of x (n), summed in double over fixed chunks.
void global_norm(Exec&, double* norm, const float* x, std::int64_t n);

// One step on param, m, v (n) with gradient grad (n). rounded (n) or null receives the new weights, rounded. norm[0] is
// the gradient's global norm. Nothing is written when norm[0] or loss[0] is not finite.
void adamw_update(Exec&, float* param, bf16* rounded, float* m, float* v, const float* grad, const double* norm,
                  const double* loss, std::int64_t n, const AdamW&);

// total[0] = or += sum of x (n), in double.
void sum(Exec&, double* total, const float* x, std::int64_t n, Accumulate);

// to (n) = from (n), rounded: the copy of freshly loaded weights that kernels read.
template <class Real>
void round_to(Exec&, Real* to, const float* from, std::int64_t n);

}  // namespace deft::kernels::cuda
