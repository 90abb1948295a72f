#pragma once
// The cases of a sweep as a gate sees them: per measure one value a finished seed, and what did not finish.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "reporting/quality/loss_curve.h"
#include "reporting/quality/measure.h"
#include "results_db/store.h"

namespace deft::reporting {

struct SeedValue {
    std::int64_t seed = 0;
    std::string attempt_uid;
    double value = 0;      // of a curve: its late loss, NaN where it has none
    LossCurve curve = {};  // of a score: empty
};

struct MeasuredCase {
    std::string name;          // "cl[budget_fraction=0.5]"
    std::string variant_hash;  // of the configuration without its seed
    std::map<Measure, std::vector<SeedValue>> values;
    std::vector<std::string> crashed;      // "seed 4: nan: the loss is not finite"
    std::vector<std::int64_t> unfinished;  // seeds: waiting, running or stopped
    std::size_t seeds = 0;                 // in all
};

// In the order of the sweep. `curves` by config hash.
std::vector<MeasuredCase> measured_cases(const results_db::SweepResults& sweep,
                                         const std::map<std::string, results_db::TrialCurve>& curves);

// The trials that the selectors name, as `deft show` takes them; all without any. Errors: missing, for a selector that
// names none, with the sweep's cases.
results_db::SweepResults selected(results_db::SweepResults sweep, std::span<const std::string> selectors);

}  // namespace deft::reporting
