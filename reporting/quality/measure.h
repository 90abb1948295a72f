#pragma once
// What is measured of every seed of a case: a score, or a loss curve.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "reporting/statistics/verdict.h"
#include "results_db/store.h"

namespace deft::reporting {

enum class MeasureKind { score, curve };

struct Measure {
    MeasureKind kind = MeasureKind::score;
    std::string task, split;  // of a curve: "training" or "validation"
    std::int64_t shots = 0;
    std::string metric, unit;
    Improves improves = Improves::downwards;

    auto operator<=>(const Measure&) const = default;
};

Measure training_loss_curve();
Measure validation_loss_curve();
// Nothing for what neither improves nor worsens: the corpus's own entropy, a count.
std::optional<Measure> measure_of(const results_db::ScoreRow& score);

// "validation loss", "embedded_questions acc (2-shot)", "training loss curve".
std::string name(const Measure& measure);

Json to_json(const Measure& measure);
// Errors: database.
Measure measure_from(const Json& json);

}  // namespace deft::reporting
