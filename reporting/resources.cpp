#include "reporting/resources.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using results_db::TrialRow;

std::string whole_or_mean(double value) {
    return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

template <auto Member>
std::optional<double> of_point(const TrialRow& trial) {
    if (!trial.last_point) return std::nullopt;
    return static_cast<double>((*trial.last_point).*Member);
}

std::optional<double> wall_seconds(const TrialRow& trial) {
    if (!trial.last_point) return std::nullopt;
    return static_cast<double>(trial.last_point->wall_ms) / 1000;
}

// Over the whole run: the last step's own rate is noise.
std::optional<double> token_rate(const TrialRow& trial) {
    if (!trial.last_point || trial.last_point->wall_ms <= 0) return std::nullopt;
    return static_cast<double>(trial.last_point->input_tokens) * 1000 / static_cast<double>(trial.last_point->wall_ms);
}

std::optional<double> cost(const TrialRow& trial) {
    return trial.usd;
}

std::vector<double> values_of(const Variant& variant, const Resource& resource) {
    std::vector<double> values;
    for (const TrialRow* trial : variant.ok) {
        const std::optional<double> value = resource.value(*trial);
        if (!value) return {};
        values.push_back(*value);
    }
    return values;
}

Cell resource_cell(const Variant& variant, const Variant& reference, const Resource& resource) {
    const std::vector<double> values = values_of(variant, resource);
    if (values.empty()) return "-";
    Cell cell(resource.print(mean(values)), mean(values));
    if (values.size() > 1) cell.spread = standard_deviation(values);
    if (!resource.with_ratio) return cell;
    const std::optional<double> base = mean_of(reference, resource);
    if (base && *base > 0) {
        cell.aside = ratio(*cell.value / *base);
        cell.text += " " + cell.aside;
    }
    return cell;
}

constexpr Resource kTrainTime = {"train\ntime", wall_seconds, short_seconds, true, "s"};

}  // namespace

const std::vector<Resource>& resources() {
    using journal::TrainPoint;
    static const std::vector<Resource> all = {
        {"steps", of_point<&TrainPoint::step>, whole_or_mean, false},
        {"input\ntokens", of_point<&TrainPoint::input_tokens>, si, true},
        {"unique\ntokens", of_point<&TrainPoint::unique_tokens>, si, true},
        {"layer-avg\ntokens", of_point<&TrainPoint::layer_tokens>, si, true},
        {"FLOPs", of_point<&TrainPoint::flops>, si, true},
        kTrainTime,
        {"tokens\nper s", token_rate, si, false},
        {"cost", cost, dollars, true, "USD"},
    };
    return all;
}

const Resource& train_time() {
    return kTrainTime;
}

std::optional<double> mean_of(const Variant& variant, const Resource& resource) {
    const std::vector<double> values = values_of(variant, resource);
    if (values.empty()) return std::nullopt;
    return mean(values);
}

Field resource_field(const Resource& resource, const std::vector<Variant>& variants, const std::string& base_case) {
    Column column;
    column.title = resource.title;
    column.raw_unit = resource.raw_unit;
    return Field(std::move(column), [&resource, &variants, base_case](const Variant& variant) {
        return resource_cell(variant, reference_of(variants, base_case, variant), resource);
    });
}

}  // namespace deft::reporting
