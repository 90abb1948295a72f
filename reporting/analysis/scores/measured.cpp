#include "reporting/analysis/scores/measured.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/json.h"
#include "base/metric.h"
#include "base/text.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

constexpr double kMostOfEntropy = 0.9;
constexpr std::int64_t kFewestSteps = 200;
constexpr std::size_t kMostNotes = 6, kMostNames = 6;

std::optional<double> nats_a_token(const Trial& trial, const char* measure) {
    const Score* row = validation_row(trial, measure);
    return row != nullptr && row->unit == "nats/token" ? std::optional(row->value) : std::nullopt;
}

std::string length_failure(const journal::TrainPoint& last) {
    if (last.step >= kFewestSteps) return {};
    return fmt::format("it ran {}, fewer than {}", counted(static_cast<std::size_t>(last.step), "step"), kFewestSteps);
}

std::string schedule_failure(const journal::TrainPoint& last, std::int64_t full, bool kept_grows) {
    if (last.seqlen < full) return fmt::format("the length schedule ended at {} of {}", last.seqlen, full);
    if (kept_grows && last.kept_tokens < last.seqlen)
        return fmt::format("the kept-token schedule ended at {} of {}", last.kept_tokens, last.seqlen);
    return {};
}

std::string entropy_failure(const std::optional<double>& loss, double entropy) {
    if (!loss) return "validation loss is absent";
    if (*loss <= kMostOfEntropy * entropy) return {};  // never for NaN
    return fmt::format("the validation loss {} is not 10% below the unigram entropy {}", score(*loss), score(entropy));
}

bool holds_for_all(const std::vector<Row>& rows, bool MeasuredRule::*known) {
    for (const Row& row : rows)
        for (const Trial* trial : row.ok)
            if (!(measured_rule(*trial).*known)) return false;
    return true;
}

bool any_finished(const std::vector<Row>& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.ok.empty(); });
}

// Rows of one reason share a note, and further reasons are counted: each cell carries its own reason.
std::vector<std::string> failure_notes(const std::vector<Row>& rows) {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;  // by reason, in the order of the rows
    for (const Row& row : rows) {
        const std::string why = not_measured(row);
        if (why.empty()) continue;
        auto found =
            std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& entry) { return entry.first == why; });
        if (found == by_reason.end()) found = by_reason.insert(found, {why, {}});
        found->second.push_back(row.name);
    }
    std::vector<std::string> notes;
    std::size_t left = 0;
    for (const auto& [why, names] : by_reason) {
        if (notes.size() == kMostNotes) {
            left += names.size();
            continue;
        }
        notes.push_back(fmt::format("† Not measured: {}: {}.", first_of(names, kMostNames, "more rows"), why));
    }
    if (left > 0)
        notes.push_back(
            fmt::format("† Not measured: {} more; each has its reason as `flag` in CSV and JSON, and under "
                        "Provenance in HTML.",
                        counted(left, "row")));
    if (!notes.empty())
        notes.emplace_back(
            "† Values of these rows are shown in grey, in plain text in parentheses, and count in no verdict.");
    return notes;
}

}  // namespace

bool is_unigram_entropy(const Score& row) {
    const Metric* metric = find_metric(row.measure);
    return metric != nullptr && metric->is_of_data;
}

MeasuredRule measured_rule(const Trial& trial) {
    MeasuredRule rule;
    const std::optional<std::int64_t> full = trial.settings.seqlen;
    rule.length_known = (full && trial.last_point) || trial.imported;  // which has no schedule
    if (trial.last_point) rule.failure = length_failure(*trial.last_point);
    if (full && trial.last_point && rule.failure.empty())
        rule.failure = schedule_failure(*trial.last_point, *full, !trial.settings.keeps_a_constant_number);
    const std::optional<double> entropy = nats_a_token(trial, "unigram_entropy");
    rule.entropy_known = entropy.has_value();
    if (entropy && rule.failure.empty()) rule.failure = entropy_failure(nats_a_token(trial, "loss"), *entropy);
    return rule;
}

std::string not_measured(const Row& row) {
    std::map<std::string, std::vector<std::int64_t>> seeds;
    for (const Trial* trial : row.ok)
        if (const std::string failure = measured_rule(*trial).failure; !failure.empty())
            seeds[failure].push_back(trial->seed);
    std::string text;
    for (const auto& [failure, which] : seeds)
        text += fmt::format("{}{} (seed{} {})", text.empty() ? "" : "; ", failure, which.size() == 1 ? "" : "s",
                            fmt::join(which, ", "));
    return text;
}

std::size_t diverged_trials(const Row& row) {
    return static_cast<std::size_t>(std::count_if(row.trials.begin(), row.trials.end(), [](const Trial* trial) {
        return trial->state != "ok" && trial->fail_class == "nan";
    }));
}

std::vector<std::string> measured_notes(const std::vector<Row>& rows) {
    if (!any_finished(rows)) return {};
    std::vector<std::string> notes = failure_notes(rows);
    const bool length = holds_for_all(rows, &MeasuredRule::length_known);
    const bool entropy = holds_for_all(rows, &MeasuredRule::entropy_known);
    std::string text = notes.empty() ? "Measured: " : "Other rows: ";
    text += fmt::format("at least {} steps, ", kFewestSteps);
    text += length ? "schedules reached their ends" : "full length unknown for some trials";
    text += entropy ? ", validation loss at least 10% below the unigram entropy." : "; unigram entropy unknown.";
    notes.push_back(std::move(text));
    return notes;
}

}  // namespace deft::reporting
