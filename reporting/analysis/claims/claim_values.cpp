#include "reporting/analysis/claims/claim_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/analysis/published/published.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "results_db/row_name.h"

namespace deft::reporting {

namespace {

bool has_value(const Row& row, const Quantity& quantity) {
    for (const Trial* trial : row.ok)
        if (value_of(quantity, *trial)) return true;
    return false;
}

// A share that is printed in percent.
double in_unit(double value, const ClaimScale& scale) {
    return scale.unit == "%" && scale.quantity.kind == Quantity::Kind::task ? 100 * value : value;
}

std::string seed_text(const Trial& trial) {
    return trial.seeds.empty() ? std::to_string(trial.seed) : trial.seeds;
}

std::string row_name(const ClaimedRow& row) {
    return fmt::format("{} at {:g}%", row.recipe, 100 * row.budget_fraction);
}

// Values of one seed of the first stage, whose later stages nest in it, are averaged.
std::vector<SeedScore> by_unit(const Row& row, const ClaimScale& scale) {
    std::map<std::int64_t, std::pair<double, int>> sums;
    for (const Trial* trial : row.ok)
        if (const auto value = value_of(scale.quantity, *trial)) {
            auto& [sum, count] = sums[std::stoll(unit_seed(*trial))];
            sum += in_unit(*value, scale);
            ++count;
        }
    std::vector<SeedScore> scores;
    for (const auto& [seed, of_seed] : sums) scores.push_back({seed, of_seed.first / of_seed.second});
    return scores;
}

void count_ends(ClaimValues& values) {
    double seconds = 0, usd = 0;
    for (const Trial* trial : values.measured->trials) {
        if (trial->state == "ok") {
            seconds += trial->device_seconds;
            usd += trial->usd.value_or(0);
        } else if (trial->fail_class == "nan") {
            values.diverged.push_back(seed_text(*trial));
        } else {
            values.unfinished.push_back(seed_text(*trial));
        }
    }
    const auto finished = static_cast<double>(values.values.size());
    if (finished == 0) return;
    values.seconds_a_seed = seconds / finished;
    values.usd_a_seed = usd / finished;
}

std::string why_missing(const std::vector<Row>& rows, const ClaimedRow& claimed, const ClaimScale& scale) {
    bool has_recipe = false;
    for (const Row& row : rows) {
        if (const std::string why = several_slots({&row}, scale.quantity); is_claimed(row, claimed) && !why.empty())
            return why;
        if (is_claimed(row, claimed))
            return row.ok.empty() ? fmt::format("no seed of {} has finished", row_name(claimed))
                                  : fmt::format("{} has no {}", row_name(claimed), to_text(scale.quantity));
        has_recipe = has_recipe || row.recipe == claimed.recipe;
    }
    return has_recipe ? fmt::format("the sweep has {}, and not at {:g}%", claimed.recipe, 100 * claimed.budget_fraction)
                      : fmt::format("the sweep has no recipe {}", claimed.recipe);
}

}  // namespace

bool is_claimed(const Row& row, const ClaimedRow& claimed) {
    return row.recipe == claimed.recipe && results_db::same_budget(row.axes.budget_fraction, claimed.budget_fraction);
}

std::string several_slots(const std::vector<const Row*>& rows, const Quantity& quantity) {
    if (!is_from_seconds(quantity)) return {};
    const bool is_score = quantity.kind == Quantity::Kind::task;
    std::set<std::string> shapes;
    const auto score_of = [&](const Trial& trial) { return score_row(quantity, trial); };
    for (const Row* row : rows) shapes.merge(is_score ? scoring_shapes(*row, score_of) : slot_shapes(*row));
    if (shapes.size() < 2) return {};
    return fmt::format("{} is read only of trials of one worker shape, and these were {} on {}", to_text(quantity),
                       is_score ? "scored" : "trained", fmt::join(shapes, " and on "));
}

ClaimValues claim_values(const std::vector<Row>& rows, const ClaimedRow& claimed, const ClaimScale& scale) {
    ClaimValues result;
    result.name = row_name(claimed);
    for (const Row& row : rows) {
        if (!is_claimed(row, claimed) || !has_value(row, scale.quantity)) continue;
        if (result.measured != nullptr && result.measured->stage == row.stage) {
            result.missing = fmt::format("the sweep has several rows of {}: {} and {}", result.name,
                                         result.measured->name, row.name);
            return result;
        }
        if (result.measured == nullptr) result.measured = &row;
    }
    if (result.measured == nullptr) {
        result.missing = why_missing(rows, claimed, scale);
        return result;
    }
    result.values = by_unit(*result.measured, scale);
    count_ends(result);
    for (const SeedScore& value : result.values)
        if (!std::isfinite(value.value))
            result.missing = fmt::format("seed {} of {} has the value {}", value.seed, result.name, value.value);
    if (const std::string why = stale_value(scale.quantity, *result.measured); !why.empty())
        result.missing = fmt::format("{} is stale by {}", result.name, why);
    if (const std::string why = not_measured(*result.measured); !why.empty())
        result.missing = fmt::format("{} does not count as measured: {}", result.name, why);
    return result;
}

std::vector<std::vector<double>> values_of_stage(const std::vector<Row>& rows, const std::string& stage,
                                                 const ClaimScale& scale) {
    std::vector<std::vector<double>> recipes;
    for (const Row& row : rows) {
        if (row.stage != stage || !stale_value(scale.quantity, row).empty() || !not_measured(row).empty()) continue;
        std::vector<double> values;
        for (const SeedScore& score : by_unit(row, scale))
            if (std::isfinite(score.value)) values.push_back(score.value);
        if (values.size() > 1) recipes.push_back(std::move(values));
    }
    return recipes;
}

}  // namespace deft::reporting
