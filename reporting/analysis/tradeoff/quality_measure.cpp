#include "reporting/analysis/tradeoff/quality_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reporting/analysis/scores/chance_level.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

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
std::vector<Quantity> candidates(const Results& sweep, const SweepAbout& about) {
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

// The loss of a model that knows the token frequencies of the validation text, in the unit of the quantity: nats a
// token, or bits a byte by the ratio of the trial's own two scores.
std::optional<NothingLearnt> unigram_model(const Quantity& quantity, const Trial& trial) {
    const Score *entropy = validation_row(trial, "unigram_entropy"), *loss = validation_row(trial, "loss"),
                *bits = validation_row(trial, "bits_per_byte");
    if (entropy == nullptr || entropy->unit != "nats/token") return std::nullopt;
    NothingLearnt unigram{entropy->value, "a unigram model",
                          "which knows only how often each token occurs in the validation text"};
    if (quantity.metric == "loss") return unigram;
    if (quantity.metric != "bits_per_byte" || loss == nullptr || bits == nullptr || !(loss->value > 0))
        return std::nullopt;
    unigram.value *= bits->value / loss->value;
    return unigram;
}

std::optional<NothingLearnt> of_trial(const QualityMeasure& measure, const Trial& trial) {
    if (measure.improves == Improves::upwards) {
        const std::optional<GuessedScore> score = guessed(measure.quantity, trial);
        return score ? NothingLearnt{score->chance, "guessing", "which is right by chance"}
                     : NothingLearnt{0, "a score of 0", "the least there is"};
    }
    if (measure.quantity.kind != Quantity::Kind::task || measure.quantity.name != "validation") return std::nullopt;
    return unigram_model(measure.quantity, trial);
}

}  // namespace

std::optional<QualityMeasure> quality_measure(const std::vector<Row>& rows, const Results& sweep,
                                              const SweepAbout& about) {
    for (const Quantity& quantity : candidates(sweep, about)) {
        const QualityMeasure measure{quantity, title_of(quantity), improves_where(better_of(quantity))};
        if (std::any_of(rows.begin(), rows.end(),
                        [&](const Row& row) { return !quality_values(measure, row).empty(); }))
            return measure;
    }
    return std::nullopt;
}

std::vector<double> quality_values(const QualityMeasure& measure, const Row& row) {
    std::vector<std::pair<const Trial*, double>> values;
    for (const Trial* trial : row.ok)
        if (const auto value = value_of(measure.quantity, *trial)) values.emplace_back(trial, *value);
    return unit_means(values);
}

std::optional<NothingLearnt> nothing_learnt(const QualityMeasure& measure, const Row& baseline) {
    std::optional<NothingLearnt> found;
    std::vector<double> values;
    for (const Trial* trial : baseline.ok) {
        if (!value_of(measure.quantity, *trial)) continue;
        found = of_trial(measure, *trial);
        if (!found) return std::nullopt;
        values.push_back(found->value);
    }
    if (found) found->value = mean(values);
    return found;
}

}  // namespace deft::reporting
