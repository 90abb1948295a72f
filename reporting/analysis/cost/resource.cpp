#include "reporting/analysis/cost/resource.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/journal.h"
#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

std::string whole_or_mean(double value) {
    return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

template <auto Member>
std::optional<double> of_point(const Trial& trial) {
    if (!trial.last_point) return std::nullopt;
    return static_cast<double>((*trial.last_point).*Member);
}

std::optional<double> wall_seconds(const Trial& trial) {
    if (!trial.last_point || slot_shapes(trial).size() > 1) return std::nullopt;
    return static_cast<double>(trial.last_point->wall_ms) / 1000;
}

// Over the whole run: the last step's own rate is noise.
std::optional<double> token_rate(const Trial& trial) {
    if (!trial.last_point || trial.last_point->wall_ms <= 0 || slot_shapes(trial).size() > 1) return std::nullopt;
    return static_cast<double>(trial.last_point->input_tokens) * 1000 / static_cast<double>(trial.last_point->wall_ms);
}

std::optional<double> cost(const Trial& trial) {
    return slot_shapes(trial).size() > 1 ? std::nullopt : trial.usd;
}

double stated_tokens(const results_db::ImportedModel& model) {
    return model.tokens;
}

double stated_flops(const results_db::ImportedModel& model) {
    return model.flops;
}

double stated_seconds(const results_db::ImportedModel& model) {
    return model.hours * 3600;
}

double stated_cost(const results_db::ImportedModel& model) {
    return model.usd;
}

}  // namespace

const std::vector<Resource>& resources() {
    using journal::TrainPoint;
    static const std::vector<Resource> all = {
        {"steps", of_point<&TrainPoint::step>, whole_or_mean, false, "train steps", "", false, nullptr, "", "steps"},
        {"input\ntokens", of_point<&TrainPoint::input_tokens>, si, true, "input tokens", "", false, stated_tokens, "",
         "input_tokens"},
        {"unique\ntokens", of_point<&TrainPoint::unique_tokens>, si, true, "unique tokens", "", false, nullptr, "",
         "unique_tokens"},
        {"consumed\ntokens", of_point<&TrainPoint::layer_tokens>, si, true, "layer tokens", "", false, nullptr,
         "layer-avg\ntokens", "layer_tokens"},
        {"FLOPs", of_point<&TrainPoint::flops>, si, true, "train flops", "", false, stated_flops, "", "flops"},
        {"train\ntime", wall_seconds, short_seconds, true, "train hours", "s", true, stated_seconds, "",
         "train_seconds"},
        {"tokens\nper s", token_rate, si, false, "throughput", "", true, nullptr, "", "tokens_per_second"},
        {"cost", cost, dollars, true, "cost usd", "USD", true, stated_cost, "", "usd"},
    };
    return all;
}

bool is_mixed(const Row& row, const Resource& resource) {
    return resource.from_seconds && slot_shapes(row).size() > 1;
}

std::vector<double> values_of(const Row& row, const Resource& resource) {
    if (is_mixed(row, resource)) return {};
    std::vector<std::pair<const Trial*, double>> values;
    for (const Trial* trial : row.ok) {
        const std::optional<double> value = resource.value(*trial);
        if (!value) return {};
        values.emplace_back(trial, *value);
    }
    return unit_means(values);
}

std::optional<double> mean_of(const Row& row, const Resource& resource) {
    const std::vector<double> values = values_of(row, resource);
    if (values.empty()) return std::nullopt;
    return mean(values);
}

}  // namespace deft::reporting
