#include "reporting/tradeoff/quality_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "reporting/numbers.h"
#include "reporting/scores/chance_level.h"
#include "reporting/scores/quantity_value.h"

namespace deft::reporting {

namespace {

using results_db::TrialRow;

Quantity validation(const char* metric) {
    Quantity quantity;
    quantity.kind = Quantity::Kind::task;
    quantity.name = "validation";
    quantity.metric = metric;
    return quantity;
}

std::string title_of(const Quantity& quantity) {
    std::string title = quantity.name + " " + quantity.metric;
    if (quantity.shots > 0) title += fmt::format(" ({}-shot)", quantity.shots);
    std::replace(title.begin(), title.end(), '_', ' ');
    return title;
}

// In the order in which they are preferred.
std::vector<Quantity> candidates(const results_db::SweepResults& sweep, const SweepAbout& about) {
    std::vector<Quantity> found;
    if (about.published)
        for (const Claim& claim : about.published->claims) {
            const ClaimScale& scale = sweep.scale == "paper" ? claim.paper : claim.proxy;
            if (!scale.not_judged.empty() || scale.quantity.kind == Quantity::Kind::resource) continue;
            found.push_back(scale.quantity);
            break;
        }
    found.push_back(validation("bits_per_byte"));
    found.push_back(validation("loss"));
    return found;
}

// The entries of the tokenizer that a trial asked for; nothing where its configuration does not say.
std::optional<double> vocabulary_of(const TrialRow& trial) {
    const Json config = try_parse_json(trial.config_json);
    if (!config.is_object() || !config.contains("data") || !config["data"].is_object()) return std::nullopt;
    const Json& data = config["data"];
    if (!data.contains("vocab") || !data["vocab"].is_number()) return std::nullopt;
    const auto vocab = data["vocab"].get<double>();
    return vocab > 1 ? std::optional(vocab) : std::nullopt;
}

// Of one trial, in the unit of the quantity: nats a token, or in bits a byte by the ratio of the trial's own two
// scores.
std::optional<NothingLearnt> uniform_guess(const Quantity& quantity, const TrialRow& trial) {
    const std::optional<double> vocab = vocabulary_of(trial), loss = value_of(validation("loss"), trial);
    if (!vocab) return std::nullopt;
    const std::string words = fmt::format("a uniform guess over the {:g} entries of the vocabulary", *vocab);
    if (quantity.metric == "loss") return NothingLearnt{std::log(*vocab), words};
    const std::optional<double> bits = value_of(validation("bits_per_byte"), trial);
    if (quantity.metric != "bits_per_byte" || !loss || !bits || !(*loss > 0)) return std::nullopt;
    return NothingLearnt{std::log(*vocab) * *bits / *loss, words};
}

std::optional<NothingLearnt> of_trial(const QualityMeasure& measure, const TrialRow& trial) {
    if (measure.improves == Improves::upwards) {
        const std::optional<GuessedScore> score = guessed(measure.quantity, trial);
        return score ? NothingLearnt{score->chance, "guessing"} : NothingLearnt{0, "a score of 0"};
    }
    if (measure.quantity.kind != Quantity::Kind::task || measure.quantity.name != "validation") return std::nullopt;
    return uniform_guess(measure.quantity, trial);
}

}  // namespace

std::optional<QualityMeasure> quality_measure(const std::vector<Variant>& variants,
                                              const results_db::SweepResults& sweep, const SweepAbout& about) {
    for (const Quantity& quantity : candidates(sweep, about)) {
        const QualityMeasure measure{quantity, title_of(quantity),
                                     better_of(quantity) == "higher" ? Improves::upwards : Improves::downwards};
        if (std::any_of(variants.begin(), variants.end(),
                        [&](const Variant& row) { return !quality_values(measure, row).empty(); }))
            return measure;
    }
    return std::nullopt;
}

std::vector<double> quality_values(const QualityMeasure& measure, const Variant& row) {
    std::vector<std::pair<const TrialRow*, double>> values;
    for (const TrialRow* trial : row.ok)
        if (const auto value = value_of(measure.quantity, *trial)) values.emplace_back(trial, *value);
    return unit_means(values);
}

std::optional<NothingLearnt> nothing_learnt(const QualityMeasure& measure, const Variant& baseline) {
    std::optional<NothingLearnt> found;
    std::vector<double> values;
    for (const TrialRow* trial : baseline.ok) {
        if (!value_of(measure.quantity, *trial)) continue;
        found = of_trial(measure, *trial);
        if (!found) return std::nullopt;
        values.push_back(found->value);
    }
    if (found) found->value = mean(values);
    return found;
}

}  // namespace deft::reporting
