#pragma once
// The operations of a layer of experts; semantics: kernels/ops.h. Shapes are checked here, as in
// engine/core/ops.h. N rows choose k of E experts each and lie in (slots, ...) by their experts, with N k slots at
// most. Tensors of N rows may have their rows in several dimensions.

#include <cstdint>

#include "engine/core/exec.h"
#include "engine/core/ops.h"
#include "engine/core/tensor.h"
#include "kernels/expert_routing.h"

namespace deft::engine {

using kernels::CapacitySpec;

// The rows of one pass, and the numbers that seed their random draws.
struct RoutingRows {
    std::int64_t B = 0, K = 0;  // samples, and rows of each; of packed samples K is how many rows there are, and B is 1
    Tensor length = {};         // (B) i32 real rows of each sample; empty: all are, or samples are packed
    SampleStarts packed = {};
    std::uint64_t seed = 0;
    StepValue<std::uint64_t> step = 0;
    std::int64_t layer = 0;
    Tensor draw = {};  // (samples) i64; empty: nothing is drawn

    std::int64_t rows() const { return B * K; }
};

// logits (N, E) sums, x (N, C), weight (E, C) sums, bias (E) sums or empty
void gate_logits(Exec&, Tensor logits, Tensor x, Tensor weight, Tensor bias);
void gate_backward_input(Exec&, Tensor dx, Tensor dlogits, Tensor weight, Accumulate);
void gate_backward_weight(Exec&, Tensor dweight, Tensor dbias, Tensor dlogits, Tensor x, Accumulate);
// y, x (N, C), residual likewise or empty
void jitter_rows(Exec&, Tensor y, Tensor x, Tensor residual, const RoutingRows&, double epsilon);

// prob and logits (N, E), lse (N), expert (N, k) i32
void route(Exec&, Tensor prob, Tensor lse, Tensor expert, Tensor logits, const RoutingRows&, bool is_sampled);
// start (E + 1), row (N k) and slot (N, k) i32
void place_choices(Exec&, Tensor start, Tensor row, Tensor slot, Tensor expert, const RoutingRows&,
                   const CapacitySpec&);
// weight (N, k)
void gate_weights(Exec&, Tensor weight, Tensor prob, Tensor expert, Tensor slot);
// losses (kernels::kGateLosses), chosen (E + 1) i32
void gate_losses(Exec&, Tensor losses, Tensor chosen, Tensor prob, Tensor lse, Tensor logits, Tensor expert);
// totals (kernels::RoutingTotals of E) f64
void sum_routing(Exec&, Tensor totals, Tensor losses, Tensor chosen, Tensor start, double weight, Accumulate);
// dlogits (N, E), which is not logits; dweight (N, k)
void gate_backward(Exec&, Tensor dlogits, Tensor dweight, Tensor logits, Tensor expert, Tensor slot, Tensor chosen,
                   double balance_scale, double z_scale);

// out (N, C), y (slots, C), weight (N, k) or empty, slot (N, k)
void combine_rows(Exec&, Tensor out, Tensor y, Tensor weight, Tensor slot);
// dy and y (slots, C), which may be one; dweight and weight (N, k), dout (N, C)
void combine_backward(Exec&, Tensor dy, Tensor dweight, Tensor dout, Tensor y, Tensor weight, Tensor slot);
// out, a, b (N, C), logits (N, 2) sums
void mix_rows(Exec&, Tensor out, Tensor a, Tensor b, Tensor logits);
// da may be a, and db may be b or dout
void mix_backward(Exec&, Tensor da, Tensor db, Tensor dlogits, Tensor dout, Tensor a, Tensor b, Tensor logits);

// y (slots, out), pre likewise or empty, x (slots, in), weight (E, out, in), bias (E, out) or empty, start (E + 1)
void grouped_linear_forward(Exec&, Tensor y, Tensor pre, Tensor x, Tensor weight, Tensor bias, Tensor start,
                            Activation);
void grouped_linear_backward_input(Exec&, Tensor dx, Tensor dy, Tensor weight, Tensor pre, Tensor start, Activation);
void grouped_linear_backward_weight(Exec&, Tensor dweight, Tensor dbias, Tensor dy, Tensor x, Tensor start, Accumulate);

}  // namespace deft::engine
