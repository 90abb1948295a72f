#pragma once
// A feed-forward part of several experts, of which each row takes few (Shazeer et al. 2017; Lepikhin et al. 2020; Fedus
// et al. 2021), and with a dense one beside them PR-MoE's (Rajbhandari et al. 2022, section 4.1).

#include <cstdint>
#include <optional>

#include "engine/core/expert_ops.h"
#include "engine/nn/expert_exchange.h"
#include "engine/nn/feed_forward.h"
#include "engine/nn/planner.h"

namespace deft::engine {

struct ExpertsConfig {
    std::int64_t count = 8;  // of experts
    std::int64_t top = 1;    // experts per token (top-k)
    // Capacity in training: capacity_factor times an equal share of the choices, at least min_capacity; 0: all that
    // choose it. What more choose it is dropped: the first rows stay, or random ones.
    double capacity_factor = 1;
    std::int64_t min_capacity = 4;
    bool random_token_selection = true;
    double jitter = 0;           // while training the gate sees values times a draw from 1 - jitter to 1 + jitter
    bool sampled_noise = false;  // while training choices are drawn by their probabilities: kernels::RouteSpec
    double aux_weight = 0.01;    // of the balance loss
    double z_weight = 0;         // of the mean square of the gate's log-sum-exp
    bool residual = false;       // a dense part beside the experts, mixed with them by a gate of two
    // A model that is scored keeps to the capacity too, in the order of rows, as the published ones did; else nothing
    // is dropped then.
    bool scores_with_capacity = false;

    CapacitySpec capacity() const { return {capacity_factor, min_capacity, random_token_selection}; }
    bool operator==(const ExpertsConfig&) const = default;
};

// A pass whose rows have draws trains: noise, capacity. One without scores: every choice is kept, and nothing is drawn.
class Experts {
 public:
    // config: of each expert, and of the dense part where there is one.
    Experts(const Planner&, std::int64_t width, const FeedForwardConfig& config, const ExpertsConfig&);

    // out and x (B, K, C), B and K those of the rows; padding gives 0 (with a dense part: what that gives).
    void forward(Exec&, Tensor out, Tensor x, const RoutingRows&) const;
    // The tensors of forward() that the backward pass reads, without out.
    void forward_hidden(Exec&, Tensor x, const RoutingRows&) const;
    // Recomputes the activations' outputs, to the same bits.
    void recompute_activation(Exec&, Tensor x) const;
    // dx, dout and x (B, K, C); dx may be dout. Gradients of loss plus loss_scale times the auxiliary losses, each by
    // its weight.
    void backward(Exec&, Tensor dx, Tensor dout, Tensor x, const RoutingRows&, double loss_scale, Accumulate) const;

    // Losses of the last pass: kernels::kGateLosses values, in the type of sums.
    const Tensor& losses() const { return losses_; }
    const Tensor& choices() const { return expert_; }  // (N, k) i32, N the largest: each row's experts, -1 of padding
    const Tensor& chosen() const { return chosen_; }   // (E + 1) i32: the counted choices of each expert; real rows
    const Tensor& start() const { return start_; }     // (E + 1) i32: the slots of each expert's rows

    // totals (kernels::RoutingTotals) = or += what the last pass counted, and its losses times weight.
    void sum_totals(Exec&, Tensor totals, double weight, Accumulate) const;

    const ExpertsConfig& config() const { return experts_; }
    // FLOPs of the experts per token.
    TrainingFlops flops() const;
    // Parameters of one expert.
    std::int64_t parameters_of_expert() const;

 private:
    void choose(Exec&, Tensor x, const RoutingRows&) const;
    void gather(Exec&, Tensor x) const;
    Tensor gate_input(Exec&, Tensor x, const RoutingRows&) const;
    // The input of this rank's experts: rows (n, C), grouped by experts as start says. n is never 0.
    struct ExpertRows {
        std::int64_t n = 0;
        Tensor x, start;
    };
    ExpertRows expert_rows(std::int64_t slots) const;
    // From the gradient of the combined rows to that of the slots' input, which is in gathered_.
    void backward_slots(Exec&, Tensor d_moe, Tensor x, Accumulate) const;
    void backward_gate(Exec&, Tensor dx, Tensor x, const RoutingRows&, double loss_scale, Accumulate) const;

    FeedForwardConfig config_;
    ExpertsConfig experts_;
    Parameter gate_;                           // (E, C)
    Parameter in_, in_bias_, out_, out_bias_;  // (E, F or 2F, C), (E, F or 2F), (E, C, F), (E, C); E this rank's
    // Buffers for N rows with k choices and so N k slots.
    Tensor logits_, prob_, lse_, weight_, losses_;  // (N, E), (N, E), (N), (N, k), (kGateLosses)
    Tensor expert_, slot_, row_, start_, chosen_;   // (N, k), (N, k), (N k), (E + 1), (E + 1) i32
    Tensor pre_, act_, y_;        // (M, F or 2F), (M, F), (N k, C); M rows come to the experts at most
    Tensor gathered_, jittered_;  // scratch (N k, C), (N, C)
    Tensor d_hidden_, d_act_, d_logits_, d_weight_;  // scratch, as pre, act, logits and weight
    // Where ranks divide the experts: rows that came here, and what goes back, scratch.
    std::optional<ExpertExchange> exchange_;
    Tensor received_, returned_;  // (M, C), (M, C)
    // Where there is a dense part.
    std::optional<FeedForward> dense_;
    Parameter mix_, mix_bias_;                 // (2, C), (2)
    Tensor mix_logits_, moe_out_, dense_out_;  // (N, 2), (N, C), (N, C)
    Tensor d_mix_;                             // scratch (N, 2)
};

}  // namespace deft::engine
