#pragma once
// The rows of a sweep as a gate sees them: per measure one value a finished seed, and what did not finish.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "reporting/analysis/results/results.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/analysis/statistics/seed_comparison.h"
#include "reporting/analysis/statistics/verdict.h"
#include "reporting/loss_curve.h"

namespace deft::reporting {

// A measurement of every seed of a row: a score, or a loss curve.
enum class MeasureKind { score, curve };

struct Measure {
    MeasureKind kind = MeasureKind::score;
    ScoreId id;  // of a curve: the task is "training" or "validation", the metric "loss curve"

    Improves improves() const { return improves_where(id.better); }

    auto operator<=>(const Measure&) const = default;
};

Measure training_loss_curve();
Measure validation_loss_curve();
// Nothing for what neither improves nor worsens, the corpus's own entropy or a count, and for what is read off a clock,
// which says nothing of a recipe.
std::optional<Measure> measure_of(const Score& score);

// "validation loss", "embedded_questions acc (2-shot)", "training loss curve".
std::string name(const Measure& measure);

Json to_json(const Measure& measure);
// Errors: database.
Measure measure_from(const Json& json);

// Loss against layer-averaged tokens, and the one number in which two such curves are compared.

inline constexpr std::size_t kMostCurvePoints = 256;

// Logged steps and the validations among them; at most kMostCurvePoints, each the mean of its
// neighbours.
LossCurve training_curve(const results_db::TrialCurve& trial);
LossCurve validation_curve(const results_db::TrialCurve& trial);

// The mean loss over the tokens from half of `tokens` to `tokens`, the loss between points being linear in the
// logarithm of the tokens. Half, since the fall at the beginning would hide everything else; a mean, since a single
// step's loss is mostly that of its batch. NaN where a point there is not finite. Nothing where the curve does not
// span that half, or has less than two points in it.
std::optional<double> late_loss(const LossCurve& curve, double tokens);

// As far as all of them go; 0 where one is empty.
double common_tokens(std::span<const LossCurve* const> curves);

struct SeedValue {
    std::int64_t seed = 0;  // by unit_seed(): trials of a later stage that nest in one repeat share it
    std::string attempt_uid;
    double value = 0;      // of a curve: its late loss, NaN where it has none
    LossCurve curve = {};  // of a score: empty
    std::string score_key =
        {};  // how its task was asked (base/score_key.h); of a curve, and before that was known: empty
};

// The values of one seed are averaged, and count as one: repeats of a later stage alone are no independent repeats.
// In the order in which the seeds first come.
std::vector<SeedScore> mean_by_seed(std::span<const SeedScore> values);

struct MeasuredRow {
    std::string name;          // "cl[budget_fraction=0.5]"
    std::string variant_hash;  // of the configuration without its seed
    std::map<Measure, std::vector<SeedValue>> values;
    std::vector<std::string> crashed;     // "seed 4: nan: the loss is not finite"
    std::vector<std::string> unfinished;  // seeds, "1.3" of a chain: waiting, running or stopped
    // "seed 4: code: result epoch 3, now 4": values that would be others today, and are left out.
    std::vector<std::string> stale;
    std::size_t seeds = 0;  // of all its trials, also of those that nest
};

// In the order of the sweep. `curves` by config hash. What is stale must be known of the sweep
// (reporting/analysis/results/stale.h).
std::vector<MeasuredRow> measured_rows(const Results& sweep,
                                       const std::map<std::string, results_db::TrialCurve>& curves);

// The trials that the selectors name, as `deft show` takes them; all without any. Errors: usage, for a selector that
// names none, with the sweep's rows.
Results selected(Results sweep, std::span<const std::string> selectors);

}  // namespace deft::reporting
