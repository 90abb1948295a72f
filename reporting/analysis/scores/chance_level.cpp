#include "reporting/analysis/scores/chance_level.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/suites.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/analysis/scores/suite_average.h"
#include "reporting/analysis/statistics/distributions.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

// So many that Student's t is the normal distribution.
constexpr double kKnownSpread = 1e9;

double or_zero(double value) {
    return std::isfinite(value) ? value : 0;
}

std::optional<GuessedScore> guessed_average(const Quantity& quantity, const Trial& trial) {
    const auto average = suite_average(project_suite(quantity.name), trial.scores, quantity.shots);
    if (!average) return std::nullopt;
    GuessedScore score{average->percent, 0, 0};
    bool any = false;
    double squares = 0;
    for (const Score* row : average->rows) {
        any = any || std::isfinite(row->chance);
        score.chance += 100 * or_zero(row->chance);
        squares += std::pow(100 * or_zero(row->standard_error), 2);
    }
    if (!any) return std::nullopt;
    const auto tasks = static_cast<double>(average->rows.size());
    score.chance /= tasks;
    score.item_error = std::sqrt(squares) / tasks;
    return score;
}

}  // namespace

std::optional<GuessedScore> guessed(const Score& row) {
    if (!std::isfinite(row.chance) || row.better != "higher") return std::nullopt;
    return GuessedScore{row.value, row.chance, or_zero(row.standard_error)};
}

std::optional<GuessedScore> guessed(const Quantity& quantity, const Trial& trial) {
    if (quantity.kind == Quantity::Kind::suite) return guessed_average(quantity, trial);
    const Score* row = quantity.kind == Quantity::Kind::task ? score_row(quantity, trial) : nullptr;
    return row == nullptr ? std::nullopt : guessed(*row);
}

bool is_at_chance(std::span<const GuessedScore> by_unit, double level) {
    if (by_unit.empty()) return false;
    std::vector<double> above;
    double item_error = 0;
    for (const GuessedScore& score : by_unit) {
        above.push_back(score.value - score.chance);
        item_error += score.item_error / static_cast<double>(by_unit.size());
    }
    const double seeds = static_cast<double>(above.size());
    const double deviation = above.size() > 1 ? standard_deviation(above) : 0;
    const double of_seeds = deviation * deviation / seeds, of_items = item_error * item_error;
    const double error = std::sqrt(of_seeds + of_items);
    if (!(error > 0)) return !(mean(above) > 0);
    // Satterthwaite 1946: the test set's part is known as well as by any number of seeds.
    const double degrees =
        of_seeds > 0 ? std::pow(of_seeds + of_items, 2) / (of_seeds * of_seeds / (seeds - 1)) : kKnownSpread;
    return !(mean(above) / error > student_t_quantile(1 - 2 * level, std::min(degrees, kKnownSpread)));
}

bool is_at_chance(const Row& row, const GuessedScoreOf& score) {
    std::map<std::string, std::vector<GuessedScore>> by_unit;
    for (const Trial* trial : row.ok)
        if (const auto own = score(*trial)) by_unit[unit_seed(*trial)].push_back(*own);
    std::vector<GuessedScore> units;
    for (const auto& [unit, scores] : by_unit) {
        GuessedScore sum;
        for (const GuessedScore& one : scores) {
            sum.value += one.value / static_cast<double>(scores.size());
            sum.chance += one.chance / static_cast<double>(scores.size());
            sum.item_error += one.item_error / static_cast<double>(scores.size());
        }
        units.push_back(sum);
    }
    return is_at_chance(units);
}

}  // namespace deft::reporting
