#pragma once
// The statistics of the expert layers in one optimizer step.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/models/transformer.h"

namespace deft::engine {

// One layer's part of a buffer of f64 that holds the totals of all.
struct ExpertTotals {
    std::int64_t layer = 0;  // of the model, from 0
    std::int64_t first = 0;  // where its kernels::RoutingTotals begin
    kernels::RoutingTotals at;
};

// One entry per layer of experts; they begin at `first`.
std::vector<ExpertTotals> expert_totals(const TransformerConfig& config, std::int64_t first);
// Where those end.
std::int64_t end_of(const std::vector<ExpertTotals>& totals, std::int64_t first);

// The load of one layer in a step, as means over its micro-batches by their rows.
struct ExpertLoad {
    std::int64_t layer = 0;
    std::vector<double> load;  // (E) share of the counted choices that each expert was given, before any is dropped
    double dropped = 0;        // share of the choices beyond the capacity
    double entropy = 0;        // of the gate's probabilities, nats
    double balance_loss = 0, z_loss = 0;  // without their weights
};

// values: the whole buffer, on the host.
ExpertLoad load_of(const ExpertTotals& totals, std::span<const double> values, const ExpertsConfig& config);

// The auxiliary losses of a step, times their weights.
struct AuxiliaryLoss {
    double balance = 0, z = 0;
};
AuxiliaryLoss auxiliary_loss(const std::vector<ExpertTotals>& totals, std::span<const double> values,
                             const TransformerConfig& config);

// FLOPs of training the choices that no expert had room for.
double dropped_flops(const std::vector<ExpertTotals>& totals, std::span<const double> values, const Transformer& model);

}  // namespace deft::engine
