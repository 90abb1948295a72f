#pragma once
// CPU kernels of layers of experts: what each computes, on which shapes. N rows choose k of E experts each; a *slot* is
// a row of a buffer (slots, ...) in which the rows are grouped by expert: expert e has the slots from start[e] to
// before start[e + 1]. Buffers have N k slots at most; those from start[E] on are neither read nor written.

#include "kernels/cpu/exec.h"
#include "kernels/expert_routing.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// ---- gate ----
// Logits, probabilities and weights are float whatever the type of activations.

// logits (N, E) = x (N, C) w^T + bias; w (E, C), bias (E) or null.
void gate_logits(Exec&, float* logits, const float* x, const float* w, const float* bias, std::int64_t N,
                 std::int64_t C, std::int64_t E);
// dx (N, C) = or += dlogits (N, E) w.
void gate_backward_input(Exec&, float* dx, const float* dlogits, const float* w, std::int64_t N, std::int64_t C,
                         std::int64_t E, Accumulate);
// dw (E, C) = or += dlogits^T x; dbias (E) or null = or += column sums of dlogits.
void gate_backward_weight(Exec&, float* dw, float* dbias, const float* dlogits, const float* x, std::int64_t N,
                          std::int64_t C, std::int64_t E, Accumulate);
std::size_t gate_backward_weight_workspace(int threads, std::int64_t N, std::int64_t C, std::int64_t E);

// y (N, C) = residual + x times jitter_factor; residual may be null, and y may be x or residual. Its own backward op:
// dx of dy, added to what is there.
void jitter_rows(Exec&, float* y, const float* x, const float* residual, const RoutedRows&, std::int64_t C,
                 double epsilon);

// prob (N, E) = softmax(logits); lse (N) = log-sum-exp of the logits; expert (N, k): the highest scores (routing_score)
// in their order, the lower expert where they are equal. Of padding 0, 0 and -1.
void route(Exec&, float* prob, float* lse, std::int32_t* expert, const float* logits, const RoutedRows&,
           const RouteSpec&);

// weight (N, k): of choices that have a slot the expert's probability, of several over the sum of those that have one
// (Lepikhin et al. 2020, algorithm 1); of others 0.
void gate_weights(Exec&, float* weight, const float* prob, const std::int32_t* expert, const std::int32_t* slot,
                  std::int64_t N, std::int64_t E, std::int64_t k);

// losses (kGateLosses), means over real rows: E / balanced_choices(k) x the sum over experts of (mean probability)
// (mean of the counted choices), before any is dropped (Fedus et al. 2021, equation 4); the square of lse (Zoph et al.
// 2022, equation 5); the entropy of the probabilities in nats. chosen (E + 1): the counted choices of each expert, then
// how many rows are real. prob, lse and expert are those of route.
void gate_losses(Exec&, float* losses, std::int32_t* chosen, const float* prob, const float* lse, const float* logits,
                 const std::int32_t* expert, std::int64_t N, std::int64_t E, std::int64_t k);
std::size_t gate_losses_workspace(std::int64_t N, std::int64_t E);

// totals (RoutingTotals of E) = or += the counts of one pass, and its losses times weight. losses and chosen are those
// of gate_losses, start that of place_choices.
void sum_routing(Exec&, double* totals, const float* losses, const std::int32_t* chosen, const std::int32_t* start,
                 std::int64_t E, double weight, Accumulate);

// dlogits (N, E) of sum(dweight weight) + balance_scale losses[0] + z_scale losses[1]. dweight, slot
// and expert (N, k); chosen (E + 1) of gate_losses.
void gate_backward(Exec&, float* dlogits, const float* dweight, const float* logits, const std::int32_t* expert,
                   const std::int32_t* slot, const std::int32_t* chosen, std::int64_t N, std::int64_t E, std::int64_t k,
                   double balance_scale, double z_scale);

// ---- places ----
// Integers alone: the same on every backend.

// start (E + 1), row (N k) and slot (N, k) of expert (N, k): each expert's choices in the order of rows. An expert that
// has more than its capacity keeps the first of them, all rows' first choices ahead of their second ones; or at random,
// as CapacitySpec says. slot: where a choice went, -1 where it was dropped or there is none; row: the row of each slot,
// 0 where a slot is not used.
void place_choices(Exec&, std::int32_t* start, std::int32_t* row, std::int32_t* slot, const std::int32_t* expert,
                   const RoutedRows&, std::int64_t E, std::int64_t k, const CapacitySpec&);
std::size_t place_choices_workspace(std::int64_t N, std::int64_t E, std::int64_t k);

// ---- rows ----

// out (N, C) = the sum over the choices that have a slot of weight y[slot]; weight (N, k), null: 1. y (slots, C).
void combine_rows(Exec&, float* out, const float* y, const float* weight, const std::int32_t* slot, std::int64_t N,
                  std::int64_t k, std::int64_t C);
// dy[slot] = weight dout; dweight (N, k) = dout (N, C) . y[slot], 0 without a slot. dy may be y.
void combine_backward(Exec&, float* dy, float* dweight, const float* dout, const float* y, const float* weight,
                      const std::int32_t* slot, std::int64_t N, std::int64_t k, std::int64_t C);

// out (N, C) = p a + (1 - p) b, of each row p = softmax(logits (N, 2))[0] (Rajbhandari et al. 2022, section 4.1).
void mix_rows(Exec&, float* out, const float* a, const float* b, const float* logits, std::int64_t N, std::int64_t C);
// da, db (N, C) and dlogits (N, 2) of dout (N, C). da may be a, and db may be b or dout.
void mix_backward(Exec&, float* da, float* db, float* dlogits, const float* dout, const float* a, const float* b,
                  const float* logits, std::int64_t N, std::int64_t C);

// ---- grouped linear ----
// A linear layer for each expert: as the linear ops (kernels/cpu/cpu.h), of one expert with their bits. Slot s of
// expert e meets w[e] and bias[e]; w (E, out, in), bias (E, out).

// y (slots, out) = act(x w[e]^T + bias[e]); pre (slots, out) or null, x (slots, in), bias or null.
void grouped_linear_forward(Exec&, float* y, float* pre, const float* x, const float* w, const float* bias,
                            const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                            std::int64_t out, Activation);
// dx (slots, in) = (dy w[e]) act'(pre); dy (slots, out), pre (slots, in) or null.
void grouped_linear_backward_input(Exec&, float* dx, const float* dy, const float* w, const float* pre,
                                   const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                   std::int64_t out, Activation);
// dw (E, out, in) = or += dy^T x over each expert's slots; dbias (E, out) or null = or += column sums of dy.
void grouped_linear_backward_weight(Exec&, float* dw, float* dbias, const float* dy, const float* x,
                                    const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                    std::int64_t out, Accumulate);
// For all three.
std::size_t grouped_linear_workspace(int threads, std::int64_t slots, std::int64_t E, std::int64_t in,
                                     std::int64_t out);

}  // namespace deft::kernels::cpu
