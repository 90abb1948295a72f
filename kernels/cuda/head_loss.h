#pragma once
// The language-model head and its cross-entropy, fused over chunks of rows: the (rows, V) logits never exist whole.
// Real: float or bf16; losses and gradients of weights are float. Logits are float.

#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// loss (rows) = -log softmax(x W^T)[target], nats, 0 where target is kIgnoreTarget.
// dx (rows, C) = scale * d(sum of loss)/dx; dw (V, C) = or += scale * d(sum of loss)/dw.
// x (rows, C), w (V, C), target (rows). A target outside [0, V), which a caller should have refused, gives a loss of
// NaN and no gradient.
template <class Real>
void head_loss_train(Exec&, float* loss, Real* dx, float* dw, const Real* x, const Real* w, const std::int32_t* target,
                     std::int64_t rows, std::int64_t C, std::int64_t V, double scale, Accumulate);

// As above without gradients; greedy (rows) or null receives 1 where the target has the largest logit (lowest id wins
// ties).
template <class Real>
void head_loss(Exec&, float* loss, std::int32_t* greedy, const Real* x, const Real* w, const std::int32_t* target,
               std::int64_t rows, std::int64_t C, std::int64_t V);

}  // namespace deft::kernels::cuda
