#pragma once
// CUDA kernels of layers of experts. What each computes, on which shapes: kernels/cpu/experts.h. Nothing waits for the
// host: kernels are started for as many slots as there may be, and read on the device how many there are. Real: float
// or bf16; all of the gate is float.

#include "kernels/bf16.h"
#include "kernels/cuda/exec.h"
#include "kernels/expert_routing.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// ---- gate ----

template <class Real>
void gate_logits(Exec&, float* logits, const Real* x, const float* w, const float* bias, std::int64_t N, std::int64_t C,
                 std::int64_t E);
template <class Real>
void gate_backward_input(Exec&, Real* dx, const float* dlogits, const float* w, std::int64_t N, std::int64_t C,
                         std::int64_t E, Accumulate);
template <class Real>
void gate_backward_weight(Exec&, float* dw, float* dbias, const float* dlogits, const Real* x, std::int64_t N,
                          std::int64_t C, std::int64_t E, Accumulate);

template <class Real>
void jitter_rows(Exec&, Real* y, const Real* x, const Real* residual, const RoutedRows&, std::int64_t C,
                 double epsilon);

void route(Exec&, float* prob, float* lse, std::int32_t* expert, const float* logits, const RoutedRows&,
           const RouteSpec&);
void gate_weights(Exec&, float* weight, const float* prob, const std::int32_t* expert, const std::int32_t* slot,
                  std::int64_t N, std::int64_t E, std::int64_t k);
void gate_losses(Exec&, float* losses, std::int32_t* chosen, const float* prob, const float* lse, const float* logits,
                 const std::int32_t* expert, std::int64_t N, std::int64_t E, std::int64_t k);
void sum_routing(Exec&, double* totals, const float* losses, const std::int32_t* chosen, const std::int32_t* start,
                 std::int64_t E, double weight, Accumulate);
void gate_backward(Exec&, float* dlogits, const float* dweight, const float* logits, const std::int32_t* expert,
                   const std::int32_t* slot, const std::int32_t* chosen, std::int64_t N, std::int64_t E, std::int64_t k,
                   double balance_scale, double z_scale);

// ---- places ----

void place_choices(Exec&, std::int32_t* start, std::int32_t* row, std::int32_t* slot, const std::int32_t* expert,
                   const RoutedRows&, std::int64_t E, std::int64_t k, const CapacitySpec&);

// ---- rows ----

template <class Real>
void combine_rows(Exec&, Real* out, const Real* y, const float* weight, const std::int32_t* slot, std::int64_t N,
                  std::int64_t k, std::int64_t C);
template <class Real>
void combine_backward(Exec&, Real* dy, float* dweight, const Real* dout, const Real* y, const float* weight,
                      const std::int32_t* slot, std::int64_t N, std::int64_t k, std::int64_t C);

template <class Real>
void mix_rows(Exec&, Real* out, const Real* a, const Real* b, const float* logits, std::int64_t N, std::int64_t C);
template <class Real>
void mix_backward(Exec&, Real* da, Real* db, float* dlogits, const Real* dout, const Real* a, const Real* b,
                  const float* logits, std::int64_t N, std::int64_t C);

// ---- grouped linear ----
// Computed by our own products, without tensor cores. Gradients of weights are float.

template <class Real>
void grouped_linear_forward(Exec&, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias,
                            const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                            std::int64_t out, Activation);
template <class Real>
void grouped_linear_backward_input(Exec&, Real* dx, const Real* dy, const Real* w, const Real* pre,
                                   const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                   std::int64_t out, Activation);
template <class Real>
void grouped_linear_backward_weight(Exec&, float* dw, float* dbias, const Real* dy, const Real* x,
                                    const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                    std::int64_t out, Accumulate);

}  // namespace deft::kernels::cuda
