#include "reporting/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "base/json.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using results_db::ScoreRow;
using results_db::TrialRow;

constexpr double kMostOfEntropy = 0.9;

std::optional<std::int64_t> full_length(const std::string& config_json) {
    const Json config = Json::parse(config_json, nullptr, false);
    if (!config.is_object() || !config.contains("model") || !config["model"].is_object()) return std::nullopt;
    const Json& model = config["model"];
    if (!model.contains("seqlen") || !model["seqlen"].is_number_integer()) return std::nullopt;
    return model["seqlen"].get<std::int64_t>();
}

std::optional<double> validation(const TrialRow& trial, const char* metric) {
    for (const ScoreRow& row : trial.scores)
        if (row.task == "validation" && row.metric == metric && row.unit == "nats/token") return row.value;
    return std::nullopt;
}

std::string schedule_failure(const journal::TrainPoint& last, std::int64_t full) {
    if (last.seqlen < full) return fmt::format("the length schedule ended at {} of {}", last.seqlen, full);
    if (last.kept_tokens < last.seqlen)
        return fmt::format("the kept-token schedule ended at {} of {}", last.kept_tokens, last.seqlen);
    return {};
}

std::string entropy_failure(const std::optional<double>& loss, double entropy) {
    if (!loss) return "there is no validation loss";
    if (*loss <= kMostOfEntropy * entropy) return {};  // never for NaN
    return fmt::format("the validation loss {} is not 10% below the unigram entropy {}", score(*loss), score(entropy));
}

bool holds_for_all(const std::vector<Variant>& variants, bool MeasuredRule::*known) {
    for (const Variant& variant : variants)
        for (const TrialRow* trial : variant.ok)
            if (!(measured_rule(*trial).*known)) return false;
    return true;
}

bool any_finished(const std::vector<Variant>& variants) {
    return std::any_of(variants.begin(), variants.end(), [](const Variant& row) { return !row.ok.empty(); });
}

}  // namespace

bool is_unigram_entropy(const ScoreRow& row) {
    return row.task == "validation" && row.metric == "unigram_entropy";
}

MeasuredRule measured_rule(const TrialRow& trial) {
    MeasuredRule rule;
    const std::optional<std::int64_t> full = full_length(trial.config_json);
    rule.length_known = full && trial.last_point;
    if (rule.length_known) rule.failure = schedule_failure(*trial.last_point, *full);
    const std::optional<double> entropy = validation(trial, "unigram_entropy");
    rule.entropy_known = entropy.has_value();
    if (entropy && rule.failure.empty()) rule.failure = entropy_failure(validation(trial, "loss"), *entropy);
    return rule;
}

std::string not_measured(const Variant& variant) {
    std::map<std::string, std::vector<std::int64_t>> seeds;
    for (const TrialRow* trial : variant.ok)
        if (const std::string failure = measured_rule(*trial).failure; !failure.empty())
            seeds[failure].push_back(trial->seed);
    std::string text;
    for (const auto& [failure, which] : seeds)
        text += fmt::format("{}{} (seed{} {})", text.empty() ? "" : "; ", failure, which.size() == 1 ? "" : "s",
                            fmt::join(which, ", "));
    return text;
}

std::vector<std::string> measured_notes(const std::vector<Variant>& variants) {
    if (!any_finished(variants)) return {};
    std::vector<std::string> notes;
    for (const Variant& variant : variants)
        if (const std::string why = not_measured(variant); !why.empty())
            notes.push_back(fmt::format("† Not measured: {}: {}.", variant.name, why));
    const bool length = holds_for_all(variants, &MeasuredRule::length_known);
    const bool entropy = holds_for_all(variants, &MeasuredRule::entropy_known);
    std::string text = notes.empty() ? "Measured: " : "Other rows: ";
    text += length ? "schedules reached their ends" : "full length unknown for some trials";
    text += entropy ? ", validation loss at least 10% below the unigram entropy." : "; unigram entropy unknown.";
    notes.push_back(std::move(text));
    return notes;
}

}  // namespace deft::reporting
