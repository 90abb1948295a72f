#include "reporting/quality/measure.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "reporting/measured.h"

namespace deft::reporting {

namespace {

Measure loss_curve_of(const char* task) {
    return {MeasureKind::curve, task, "", 0, "loss curve", "nats/token", Improves::downwards};
}

}  // namespace

Measure training_loss_curve() {
    return loss_curve_of("training");
}

Measure validation_loss_curve() {
    return loss_curve_of("validation");
}

std::optional<Measure> measure_of(const results_db::ScoreRow& score) {
    if (is_unigram_entropy(score) || (score.better != "lower" && score.better != "higher")) return std::nullopt;
    return Measure{MeasureKind::score,
                   score.task,
                   score.split,
                   score.shots,
                   score.metric,
                   score.unit,
                   score.better == "lower" ? Improves::downwards : Improves::upwards};
}

std::string name(const Measure& measure) {
    std::string text = measure.task + " " + measure.metric;
    if (measure.shots > 0) text += fmt::format(" ({}-shot)", measure.shots);
    return text;
}

Json to_json(const Measure& measure) {
    return {{"kind", measure.kind == MeasureKind::curve ? "curve" : "score"},
            {"task", measure.task},
            {"split", measure.split},
            {"shots", measure.shots},
            {"metric", measure.metric},
            {"unit", measure.unit},
            {"better", measure.improves == Improves::downwards ? "lower" : "higher"}};
}

Measure measure_from(const Json& json) {
    try {
        const auto kind = json.at("kind").get<std::string>(), better = json.at("better").get<std::string>();
        if ((kind != "curve" && kind != "score") || (better != "lower" && better != "higher"))
            throw Error(ErrorKind::database, fmt::format("a measure of the kind {}, {} being better", kind, better));
        return {kind == "curve" ? MeasureKind::curve : MeasureKind::score,
                json.at("task").get<std::string>(),
                json.at("split").get<std::string>(),
                json.at("shots").get<std::int64_t>(),
                json.at("metric").get<std::string>(),
                json.at("unit").get<std::string>(),
                better == "lower" ? Improves::downwards : Improves::upwards};
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::database, fmt::format("a measure that cannot be read: {}", error.what()));
    }
}

}  // namespace deft::reporting
