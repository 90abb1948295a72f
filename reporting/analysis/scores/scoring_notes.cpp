#include "reporting/analysis/scores/scoring_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/metric.h"
#include "base/score_key.h"
#include "base/text.h"
#include "reporting/analysis/scores/labelled_notes.h"

namespace deft::reporting {

namespace {

std::string selection_note(const std::vector<Row>& rows) {
    std::int64_t selecting = 0, before_the_end = 0;
    for (const Row& row : rows)
        for (const Trial* trial : row.ok) {
            if (!trial->result || !selects_best(*trial)) continue;
            ++selecting;
            if (trial->result->role == "best") ++before_the_end;
        }
    if (selecting == 0) return {};
    return fmt::format(
        "Scored weights: the best validated ones of {} (eval.select = \"best\"), {} of them from before "
        "the end of training.",
        counted(selecting, "trial"), before_the_end);
}

struct Cut {
    double share = 0, shots_left = 0;  // sums
    std::int64_t trials = 0;
};

std::string cut_note(const std::vector<Row>& rows) {
    std::map<std::pair<std::string, std::int64_t>, Cut> cuts;  // by task and shots
    for (const Row& row : rows)
        for (const Trial* trial : row.ok) {
            std::map<std::pair<std::string, std::int64_t>, const Score*> tasks;  // a task has several measures
            for (const Score& score : trial->scores) tasks[{score.task, score.shots}] = &score;
            for (const auto& [task, score] : tasks) {
                Cut& cut = cuts[task];
                cut.share += score->cut_share;
                cut.shots_left += score->mean_shots;
                ++cut.trials;
            }
        }
    std::vector<std::string> texts;
    for (const auto& [task, cut] : cuts) {
        if (!(cut.share > 0)) continue;
        const auto n = static_cast<double>(cut.trials);
        std::string text = fmt::format("{} {:.1f}%", task.first, 100 * cut.share / n);
        if (task.second > 0)
            text = fmt::format("{} ({}-shot) {:.1f}%, {:.1f} shots left", task.first, task.second, 100 * cut.share / n,
                               cut.shots_left / n);
        texts.push_back(std::move(text));
    }
    if (texts.empty()) return {};
    return fmt::format("Truncated prompts, longer than the model's sequences: {}.", fmt::join(texts, "; "));
}

}  // namespace

bool selects_best(const Trial& trial) {
    return trial.settings.selects_best;
}

bool scored_under_capacity(const Row& row) {
    return std::any_of(row.ok.begin(), row.ok.end(), [](const Trial* trial) {
        return std::any_of(trial->scores.begin(), trial->scores.end(),
                           [](const Score& score) { return is_under_capacity(score.score_key); });
    });
}

namespace {

std::string capacity_note(const std::vector<Row>& rows) {
    std::vector<std::string> names;
    for (const Row& row : rows)
        if (scored_under_capacity(row)) names.push_back(row.name);
    if (names.empty()) return {};
    return fmt::format(
        "Scored under training's capacity (eval.capacity = \"reference\"): {}. Their experts drop what is "
        "beyond it, as the published models' did; other rows drop nothing.",
        fmt::join(names, ", "));
}

// Scores of a clock say something of rows that were scored alike.
std::string timed_note(const std::vector<Row>& rows) {
    std::set<std::string> tasks;
    for (const Row& row : rows)
        for (const Trial* trial : row.ok)
            for (const Score& score : trial->scores)
                if (is_timed(score.measure)) tasks.insert(score.task);
    if (tasks.empty()) return {};
    return fmt::format(
        "Read off a clock: {}. It compares where all rows were scored on one kind of worker that nothing else "
        "used.",
        fmt::join(tasks, ", "));
}

}  // namespace

std::vector<std::string> scoring_notes(const std::vector<Row>& rows) {
    std::vector<std::string> notes;
    for (std::string text : {capacity_note(rows), selection_note(rows), cut_note(rows), timed_note(rows)})
        if (!text.empty()) notes.push_back(std::move(text));
    for (std::string& text : labelled_notes(rows)) notes.push_back(std::move(text));
    return notes;
}

}  // namespace deft::reporting
