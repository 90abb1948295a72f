#include "reporting/analysis/results/regime.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

// Images, labels and weights that came trained have no such measure.
bool is_pretraining_on_text(const Trial& trial) {
    const Settings& settings = trial.settings;
    return !settings.has_start && settings.samples != "images" && settings.samples != "labelled";
}

std::string times_seen(double passes) {
    const std::string times = fmt::format("{:.2g}", passes);
    return times == "1" ? "text seen once" : fmt::format("text seen {} times", times);
}

std::string regime_text(const Regime& regime) {
    std::vector<std::string> parts = {fmt::format("{:.3g} tokens per parameter", regime.tokens / regime.parameters)};
    if (regime.steps > 0) parts.push_back(si(regime.steps) + " steps");
    parts.push_back(regime.passes > 0 ? times_seen(regime.passes) : "repeats of the text unknown");
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::optional<Regime> regime_of(const Row& row) {
    if (is_imported(row)) return std::nullopt;
    Regime sum;
    double trials = 0;
    for (const Trial* trial : row.ok) {
        if (!trial->last_point || !is_pretraining_on_text(*trial)) continue;
        const journal::TrainPoint& last = *trial->last_point;
        sum.parameters += static_cast<double>(trial->active_parameters);
        sum.tokens += static_cast<double>(last.input_tokens);
        sum.steps += static_cast<double>(last.step);
        if (last.unique_tokens > 0)
            sum.passes += static_cast<double>(last.input_tokens) / static_cast<double>(last.unique_tokens);
        ++trials;
    }
    if (trials == 0) return std::nullopt;
    return Regime{sum.parameters / trials, sum.tokens / trials, sum.steps / trials, sum.passes / trials};
}

std::vector<std::string> regime_notes(const std::string& row, const Regime& own,
                                      const std::optional<Regime>& published) {
    if (!(own.parameters > 0 && own.tokens > 0)) return {};
    std::string text = fmt::format("Regime: {}: {}", row, regime_text(own));
    if (published) text += "; published: " + regime_text(*published);
    std::vector<std::string> notes = {text + "."};
    if (own.tokens / own.parameters < kFewTokensAParameter)
        notes.push_back(
            fmt::format("Warning: below {:g} tokens per parameter, the order of the recipes and the size of their "
                        "effects may differ from the papers' regime.",
                        kFewTokensAParameter));
    return notes;
}

}  // namespace deft::reporting
