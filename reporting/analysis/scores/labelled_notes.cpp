#include "reporting/analysis/scores/labelled_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "base/json.h"
#include "base/metric.h"
#include "base/score_key.h"
#include "base/text.h"
#include "reporting/numbers.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

constexpr std::size_t kMostNamedTasks = 6;

std::string valueless_note(const std::vector<Row>& rows) {
    std::map<std::string, std::vector<std::string>> trials;  // by why
    for (const Row& row : rows)
        for (const Trial* trial : row.ok)
            for (const Score& scored : trial->scores)
                if (is_correlation(scored.measure) && std::isnan(scored.value)) {
                    std::vector<std::string>& named = trials[why_no_value(scored.measure)];
                    const std::string name = results_db::trial_name(*trial);
                    if (named.empty() || named.back() != name) named.push_back(name);
                }
    std::string text;
    for (const auto& [why, names] : trials)
        text += fmt::format("{}{} {}", text.empty() ? "" : "; ", first_of(names, kMostNamedTasks, "more trials"), why);
    return text.empty() ? "" : fmt::format("No value: {}.", text);
}

// Which of them the trial has on, as its configuration says.
std::vector<std::string> defects_of(const Trial& trial) {
    std::vector<std::string> defects;
    if (trial.settings.truncates_labels) defects.emplace_back("labels that are numbers are cut to whole ones");
    if (const std::int64_t batch = trial.settings.whole_batches; batch > 0)
        defects.push_back(
            fmt::format("records that fill no batch of {} are left out, in training and in evaluation", batch));
    return defects;
}

std::vector<std::string> defect_notes(const std::vector<Row>& rows) {
    std::map<std::string, std::vector<std::string>> by_defect;  // by defect
    for (const Row& row : rows) {
        if (row.trials.empty()) continue;
        for (const std::string& defect : defects_of(*row.trials.front())) by_defect[defect].push_back(row.name);
    }
    std::vector<std::string> notes;
    for (const auto& [defect, names] : by_defect)
        notes.push_back(fmt::format("Defect of the published code, switched on for {}: {}.",
                                    first_of(names, kMostNamedTasks, "more rows"), defect));
    return notes;
}

}  // namespace

bool is_correlation(const std::string& measure) {
    const Metric* metric = find_metric(measure);
    return metric != nullptr && !metric->correlation.empty();
}

std::string why_no_value(const std::string& measure) {
    return fmt::format("has no {} correlation: all texts have the same prediction, or the same label",
                       find_metric(measure)->correlation);
}

std::vector<std::string> labelled_notes(const std::vector<Row>& rows) {
    std::vector<std::string> notes;
    if (std::string note = valueless_note(rows); !note.empty()) notes.push_back(std::move(note));
    for (std::string& note : defect_notes(rows)) notes.push_back(std::move(note));
    return notes;
}

}  // namespace deft::reporting
