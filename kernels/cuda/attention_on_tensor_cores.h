#pragma once
// Attention in bf16 on tensor cores. Included by .cu sources alone.

#include "kernels/attention.h"
#include "kernels/bf16.h"
#include "kernels/cuda/exec.h"

namespace deft::kernels::cuda {

// Whether rows of heads can be moved 16 bytes at a time: from the head size, strides and places.
bool fits_tensor_cores(const AttentionSpec&, const AttentionHeads<const bf16>&, const bf16* out);

// As attention_forward and attention_backward, for what fits.
void attention_forward_on_tensor_cores(Exec&, bf16* out, float* lse, const AttentionHeads<const bf16>& in,
                                       const AttentionSpec&);
void attention_backward_on_tensor_cores(Exec&, const AttentionHeads<bf16>& gradients, const bf16* dout, const bf16* out,
                                        const AttentionHeads<const bf16>& in, const float* lse, const AttentionSpec&);

}  // namespace deft::kernels::cuda
