#pragma once
// The language-model head and its cross-entropy, fused over chunks of rows: the (rows, V) logits never exist whole.

#include "kernels/cpu/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// loss (rows) = -log softmax(x W^T)[target], nats, 0 where target is kIgnoreTarget.
// dx (rows, C) = scale * d(sum of loss)/dx; dw (V, C) = or += scale * d(sum of loss)/dw.
// x (rows, C), w (V, C), target (rows). Errors: config, for a target outside [0, V).
void head_loss_train(Exec&, float* loss, float* dx, float* dw, const float* x, const float* w,
                     const std::int32_t* target, std::int64_t rows, std::int64_t C, std::int64_t V, double scale,
                     Accumulate);

// As above without gradients, and without logits of ignored rows; greedy (rows) or null receives 1 where the target has
// the largest logit (lowest id wins ties).
void head_loss(Exec&, float* loss, std::int32_t* greedy, const float* x, const float* w, const std::int32_t* target,
               std::int64_t rows, std::int64_t C, std::int64_t V);

// For both.
std::size_t head_loss_workspace(std::int64_t rows, std::int64_t C, std::int64_t V);

}  // namespace deft::kernels::cpu
