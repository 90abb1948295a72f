#pragma once
// Linear layers of each expert's rows on tensor cores, in bf16. Included by .cu sources alone.

#include <cstdint>

#include "kernels/bf16.h"
#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// As grouped_linear_forward, _backward_input and _backward_weight without its bias. False, with nothing done, where
// rows cannot be moved 16 bytes at a time: in and out are multiples of 8, and buffers begin at multiples of 16 bytes.

bool grouped_forward_on_tensor_cores(Exec&, bf16* y, bf16* pre, const bf16* x, const bf16* w, const bf16* bias,
                                     const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                     std::int64_t out, Activation);

bool grouped_backward_input_on_tensor_cores(Exec&, bf16* dx, const bf16* dy, const bf16* w, const bf16* pre,
                                            const std::int32_t* start, std::int64_t slots, std::int64_t E,
                                            std::int64_t in, std::int64_t out, Activation);

bool grouped_backward_weight_on_tensor_cores(Exec&, float* dw, const bf16* dy, const bf16* x, const std::int32_t* start,
                                             std::int64_t E, std::int64_t in, std::int64_t out, Accumulate);

}  // namespace deft::kernels::cuda
