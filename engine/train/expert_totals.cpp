#include "engine/train/expert_totals.h"

#include <algorithm>

namespace deft::engine {

namespace {

const ExpertsConfig& experts_of(const TransformerConfig& config, const ExpertTotals& totals) {
    return *config.blocks[static_cast<std::size_t>(totals.layer)].experts;
}

double at(std::span<const double> values, const ExpertTotals& totals, std::int64_t item) {
    return values[static_cast<std::size_t>(totals.first + item)];
}

double sum_of_choices(std::span<const double> values, const ExpertTotals& totals) {
    double sum = 0;
    for (std::int64_t e = 0; e < totals.at.E; ++e) sum += at(values, totals, totals.at.chosen(e));
    return sum;
}

double dropped_choices(std::span<const double> values, const ExpertTotals& totals, std::int64_t top) {
    double kept = 0;
    for (std::int64_t e = 0; e < totals.at.E; ++e) kept += at(values, totals, totals.at.kept(e));
    return at(values, totals, totals.at.rows()) * static_cast<double>(top) - kept;
}

}  // namespace

std::vector<ExpertTotals> expert_totals(const TransformerConfig& config, std::int64_t first) {
    std::vector<ExpertTotals> all;
    for (std::int64_t layer = 0; layer < config.layers(); ++layer) {
        const auto& experts = config.blocks[static_cast<std::size_t>(layer)].experts;
        if (!experts) continue;
        all.push_back({layer, first, {experts->count}});
        first += all.back().at.size();
    }
    return all;
}

std::int64_t end_of(const std::vector<ExpertTotals>& totals, std::int64_t first) {
    return totals.empty() ? first : totals.back().first + totals.back().at.size();
}

ExpertLoad load_of(const ExpertTotals& totals, std::span<const double> values, const ExpertsConfig& config) {
    ExpertLoad load;
    load.layer = totals.layer;
    const double choices = std::max(1.0, sum_of_choices(values, totals));
    for (std::int64_t e = 0; e < totals.at.E; ++e)
        load.load.push_back(at(values, totals, totals.at.chosen(e)) / choices);
    const double rows = std::max(1.0, at(values, totals, totals.at.rows()));
    load.dropped = dropped_choices(values, totals, config.top) / (rows * static_cast<double>(config.top));
    load.balance_loss = at(values, totals, totals.at.loss(kernels::kBalanceLoss));
    load.z_loss = at(values, totals, totals.at.loss(kernels::kZLoss));
    load.entropy = at(values, totals, totals.at.loss(kernels::kGateEntropy));
    return load;
}

AuxiliaryLoss auxiliary_loss(const std::vector<ExpertTotals>& totals, std::span<const double> values,
                             const TransformerConfig& config) {
    AuxiliaryLoss loss;
    for (const ExpertTotals& layer : totals) {
        const ExpertsConfig& experts = experts_of(config, layer);
        loss.balance += experts.aux_weight * at(values, layer, layer.at.loss(kernels::kBalanceLoss));
        loss.z += experts.z_weight * at(values, layer, layer.at.loss(kernels::kZLoss));
    }
    return loss;
}

double dropped_flops(const std::vector<ExpertTotals>& totals, std::span<const double> values,
                     const Transformer& model) {
    constexpr double kFlopsOfParameter = 6;  // of a row, forward and backward: TrainingFlops
    double flops = 0;
    for (const ExpertTotals& layer : totals) {
        const Experts& experts = *model.blocks()[static_cast<std::size_t>(layer.layer)].experts();
        flops += kFlopsOfParameter * static_cast<double>(experts.parameters_of_expert()) *
                 dropped_choices(values, layer, experts.config().top);
    }
    return flops;
}

}  // namespace deft::engine
