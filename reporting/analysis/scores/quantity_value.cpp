#include "reporting/analysis/scores/quantity_value.h"

#include <cmath>

#include "base/json.h"
#include "base/metric.h"
#include "base/score_key.h"
#include "base/suites.h"
#include "reporting/analysis/cost/resource.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/scores/suite_average.h"

namespace deft::reporting {

namespace {

std::optional<double> score_of(const Quantity& quantity, const Trial& trial) {
    const Score* row = score_row(quantity, trial);
    if (row == nullptr) return std::nullopt;
    return is_perplexity(quantity) ? std::exp(row->value) : row->value;
}

std::optional<double> resource_value(const Quantity& quantity, const Trial& trial) {
    for (const Resource& resource : resources()) {
        if (!quantity.name.starts_with(resource.quantity)) continue;
        const std::optional<double> value = resource.value(trial);
        if (!value) return std::nullopt;
        if (quantity.name == "train hours") return *value / 3600;
        if (quantity.name != "throughput samples/s") return value;
        const std::optional<std::int64_t> length = trial.settings.seqlen;
        if (!length || *length <= 0) return std::nullopt;
        return *value / static_cast<double>(*length);
    }
    return std::nullopt;
}

}  // namespace

bool is_from_seconds(const Quantity& quantity) {
    if (quantity.kind == Quantity::Kind::task) return is_timed(quantity.metric);
    if (quantity.kind != Quantity::Kind::resource) return false;
    for (const Resource& resource : resources())
        if (quantity.name.starts_with(resource.quantity)) return resource.from_seconds;
    return false;
}

bool is_perplexity(const Quantity& quantity) {
    return quantity.name == kValidationTask && quantity.metric == "perplexity";
}

const FineTuned* fine_tuned(const Quantity& quantity, const Trial& trial) {
    const bool is_of_it =
        quantity.kind == Quantity::Kind::suite && trial.fine_tuned && trial.fine_tuned->suite == quantity.name;
    return is_of_it ? &*trial.fine_tuned : nullptr;
}

const Score* score_row(const Quantity& quantity, const Trial& trial) {
    const std::string metric = is_perplexity(quantity) ? "loss" : quantity.metric;
    for (const Score& row : trial.scores)
        if (row.task == quantity.name && row.measure == metric && row.shots == quantity.shots &&
            (quantity.split.empty() || row.split == quantity.split))
            return &row;
    return nullptr;
}

std::optional<double> value_of(const Quantity& quantity, const Trial& trial) {
    switch (quantity.kind) {
        case Quantity::Kind::task:
            return score_of(quantity, trial);
        case Quantity::Kind::suite:
            if (const auto* tuned = fine_tuned(quantity, trial)) return tuned->average;
            if (const auto average = suite_average(project_suite(quantity.name), trial.scores, quantity.shots))
                return average->percent;
            return std::nullopt;
        case Quantity::Kind::resource:
            return resource_value(quantity, trial);
    }
    return std::nullopt;
}

std::string stale_score(const Quantity& quantity, const Trial& trial) {
    if (quantity.kind == Quantity::Kind::task) {
        const Score* row = score_row(quantity, trial);
        return row == nullptr ? "" : row->stale;
    }
    if (const auto* tuned = fine_tuned(quantity, trial)) return tuned->stale;
    if (quantity.kind == Quantity::Kind::suite)
        if (const auto average = suite_average(project_suite(quantity.name), trial.scores, quantity.shots))
            return average->stale;
    return "";
}

std::string stale_value(const Quantity& quantity, const Row& row) {
    std::string stale = stale_training(row);
    for (const Trial* trial : row.ok) add_reasons(stale, stale_score(quantity, *trial));
    return stale;
}

const Score* validation_row(const Trial& trial, std::string_view measure) {
    for (const Score& row : trial.scores)
        if (row.task == "validation" && row.measure == measure) return &row;
    return nullptr;
}

}  // namespace deft::reporting
