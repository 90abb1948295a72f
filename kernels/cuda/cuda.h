#pragma once
// All CUDA kernels. kernels/ops.h says what each computes; here is what only CUDA has.

#include "kernels/attention.h"
#include "kernels/bf16.h"
#include "kernels/cuda/exec.h"
#include "kernels/cuda/workspace.h"
#include "kernels/dropout_key.h"
#include "kernels/embedding_tables.h"
#include "kernels/expert_routing.h"
#include "kernels/token_keys.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// Each op is defined for Real = float and bf16, and none waits for the host:
// - linear: the library adds the bias and the tanh form of GELU where it can. In bf16, the bits of that activation
//   differ from those of activation_forward.
// - attention: errors also for d > kMostHeadSize.
// - embedding: an id outside [0, V) gives a row of NaN, and B T < 2^31.
// - head loss: a target outside [0, V), or after the first target_rows, gives a loss of NaN and no gradient. Logits are
//   Real in training, replaced by their gradients, and float in evaluation.
// - add_entry_losses: atomic sums of integers, whose order does not change the result.
// - experts: kernels start for as many slots as there may be, and read their number on the device.
#include "kernels/ops.h"

inline constexpr std::int64_t kMostHeadSize = 128;

// How w and dw of a head are stored, and how many rows are computed at once.
struct HeadLayout {
    // Rows of w and dw, at least V, with zeros after V in w and dw; 0: V. padded_vocabulary(V) makes products fast.
    std::int64_t weight_rows = 0;
    std::int64_t most_rows = 0;  // of a chunk; 0: head_chunk_rows
};

// The losses of a head with such a layout; the ops without one take HeadLayout{}.
template <class Real>
void head_loss_train(Exec&, float* loss, Real* dx, float* dw, float* dbias, const Real* x, const Real* w,
                     const Real* bias, const std::int32_t* target, std::int64_t rows, std::int64_t target_rows,
                     std::int64_t C, std::int64_t V, StepValue<double> scale, Accumulate, const HeadLayout&);
template <class Real>
void head_loss(Exec&, float* loss, std::int32_t* greedy, const Real* x, const Real* w, const Real* bias,
               const std::int32_t* target, std::int64_t rows, std::int64_t target_rows, std::int64_t C, std::int64_t V,
               const HeadLayout&);

// to (n) = from (n), rounded: the copy of freshly loaded weights that kernels read.
template <class Real>
void round_to(Exec&, Real* to, const float* from, std::int64_t n);

}  // namespace deft::kernels::cuda
