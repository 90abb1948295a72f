#include "reporting/analysis/trace/traced_column.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/score_key.h"
#include "base/suggestion.h"
#include "base/suites.h"
#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/comparison/cost_columns.h"
#include "reporting/analysis/comparison/published_columns.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/analysis/scores/suite_average.h"

namespace deft::reporting {

namespace {

// The lines of a title without their directions, joined: "validation loss (nats/token)". `lines`: the first ones alone.
std::string title_words(const std::string& title, std::size_t lines = 99) {
    std::string text;
    for (std::size_t at = 0; at <= title.size() && lines > 0; --lines) {
        const std::size_t end = std::min(title.find('\n', at), title.size());
        text += (at == 0 ? "" : " ") + title.substr(at, end - at);
        at = end + 1;
    }
    for (const char* arrow : {" ↓", " ↑"})
        if (const std::size_t at = text.find(arrow); at != std::string::npos) text.erase(at, std::string(arrow).size());
    return text;
}

// Words in lower case; letters and digits make words, everything else parts them. A '+' or '-' in a word stays.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.')
            words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

std::string shots_text(std::int64_t shots) {
    return shots > 0 ? fmt::format(" shots={}", shots) : std::string();
}

TracedColumn resource_column(const Resource& resource, const SweepAbout& about) {
    TracedColumn column;
    column.title = resource.title;
    column.names = {title_words(resource.title), resource.quantity};
    if (*resource.csv_title != 0) column.names.push_back(title_words(resource.csv_title));
    if (about.published)
        for (const PublishedColumn& published : about.published->columns)
            if (published.measures && published.measures->name.starts_with(resource.quantity))
                column.names.insert(column.names.end(), {published.key, published.title, to_text(*published.measures)});
    column.unit = resource.raw_unit;
    column.is_clocked = column.of_one_slot = resource.from_seconds;
    column.value = [&resource](const Trial& trial) { return trial.imported ? std::nullopt : resource.value(trial); };
    column.scores = [](const Trial&) { return std::vector<TracedScore>(); };
    return column;
}

TracedColumn cost_column(const CostColumn& shown) {
    TracedColumn column;
    column.title = shown.title;
    column.names = {title_words(shown.title), "cost of " + title_words(shown.title)};
    column.unit = shown.unit;
    column.is_clocked = true;
    column.value = shown.value;
    column.scores = [](const Trial&) { return std::vector<TracedScore>(); };
    return column;
}

// Columns that the table has.
void add_cost_columns(const Results& sweep, std::vector<TracedColumn>& columns) {
    const std::vector<Row> rows = rows_of(sweep);
    for (const Field& field : cost_fields(rows))
        for (const CostColumn& shown : cost_columns())
            if (shown.title == field.column.title) columns.push_back(cost_column(shown));
}

// `all`: of the table, among which its first name is the only one.
TracedColumn score_column(const ScoreColumn& shown, const std::vector<ScoreColumn>& all) {
    TracedColumn column;
    column.title = shown.title;
    const std::string name = column_key(shown.id), of_split = column_key_with_split(shown.id);
    const auto same =
        std::count_if(all.begin(), all.end(), [&](const auto& other) { return column_key(other.id) == name; });
    column.names = {same > 1 ? of_split : name, name, "task:" + name, title_words(shown.title, 2),
                    title_words(shown.title)};
    if (!shown.id.split.empty()) column.names.insert(column.names.end(), {of_split, "task:" + of_split});
    column.unit = shown.id.unit;
    column.tasks = {{shown.id.task, shown.id.shots}};
    column.value = [find = shown.find](const Trial& trial) -> std::optional<double> {
        const Score* row = find(trial);
        if (row == nullptr) return std::nullopt;
        return row->value;
    };
    column.scores = [find = shown.find](const Trial& trial) -> std::vector<TracedScore> {
        const Score* row = find(trial);
        if (row == nullptr) return {};
        return {{*row, row->value}};
    };
    return column;
}

// The stored rows that a published column's value comes from.
std::vector<TracedScore> scores_behind(const PublishedColumn& published, const Trial& trial) {
    const Quantity& quantity = *published.measures;
    std::vector<TracedScore> scores;
    if (quantity.kind == Quantity::Kind::suite) {
        if (const auto average = suite_average(project_suite(quantity.name), trial.scores, quantity.shots))
            for (const Score* row : average->rows) scores.push_back({*row, row->value * 100});
    } else if (const Score* row = score_row(quantity, trial)) {
        scores.push_back({*row, score_in_unit(trial, published).value_or(row->value)});
    }
    return scores;
}

// The measured column beside the published one.
TracedColumn published_column(const PublishedColumn& published, const Results& sweep) {
    const Quantity& quantity = *published.measures;
    TracedColumn column;
    column.names = {published.key, published.title, published.title + " measured"};
    // A task's own column has that name, in the task's unit.
    if (quantity.kind == Quantity::Kind::suite || is_perplexity(quantity)) column.names.push_back(to_text(quantity));
    column.unit = published.unit;
    column.is_median = quantity.is_median;
    column.value = [&published](const Trial& trial) { return score_in_unit(trial, published); };
    column.scores = [&published](const Trial& trial) { return scores_behind(published, trial); };
    std::set<std::pair<std::string, std::int64_t>> tasks;
    for (const Trial& trial : sweep.trials)
        for (const TracedScore& score : scores_behind(published, trial))
            tasks.insert({score.row.task, score.row.shots});
    if (tasks.empty() && quantity.kind == Quantity::Kind::task) tasks.insert({quantity.name, quantity.shots});
    for (const auto& [task, shots] : tasks) column.tasks.push_back({task, shots});
    return column;
}

// Scores that trials are asked for and that none has.
void add_unscored(const Results& sweep, std::vector<TracedColumn>& columns) {
    std::set<std::pair<std::string, std::int64_t>> known;
    for (const TracedColumn& column : columns)
        for (const TaskAsked& task : column.tasks) known.insert({task.task, task.shots});
    for (const Trial& trial : sweep.trials)
        for (const results_db::AskedScore& asked : trial.asked) {
            if (!known.insert({asked.task, asked.shots}).second) continue;
            TracedColumn& column = columns.emplace_back();
            column.names = {asked.task + shots_text(asked.shots)};
            column.tasks = {{asked.task, asked.shots}};
            column.value = [](const Trial&) { return std::optional<double>(); };
            column.scores = [](const Trial&) { return std::vector<TracedScore>(); };
        }
}

bool has_name(const TracedColumn& column, const std::vector<std::string>& asked) {
    return std::any_of(column.names.begin(), column.names.end(),
                       [&](const std::string& name) { return words_of(name) == asked; });
}

bool has_words(const TracedColumn& column, const std::vector<std::string>& asked) {
    return std::any_of(column.names.begin(), column.names.end(), [&](const std::string& name) {
        const std::vector<std::string> words = words_of(name);
        return std::all_of(asked.begin(), asked.end(), [&](const std::string& word) {
            return std::find(words.begin(), words.end(), word) != words.end();
        });
    });
}

// The words with each misspelt one replaced by the nearest word of a name, in their order; empty where none is near.
std::string corrected(const std::vector<std::string>& asked, const std::vector<std::string>& names) {
    std::vector<std::string> known;
    for (const std::string& name : names)
        for (std::string& word : words_of(name)) known.push_back(std::move(word));
    std::vector<std::string> words;
    for (const std::string& word : asked) {
        words.push_back(did_you_mean(word, known));
        if (words.back().empty()) return "";
    }
    return fmt::format("{}", fmt::join(words, " "));
}

std::string listed(const std::vector<const TracedColumn*>& columns) {
    std::vector<std::string> names;
    for (const TracedColumn* column : columns) names.push_back("'" + column->names.front() + "'");
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<TracedColumn> traced_columns(const Results& sweep, const SweepAbout& about) {
    std::vector<TracedColumn> columns;
    for (const Resource& resource : resources()) columns.push_back(resource_column(resource, about));
    add_cost_columns(sweep, columns);
    if (about.published)
        for (const PublishedColumn& published : about.published->columns)
            if (published.measures && published.measures->kind != Quantity::Kind::resource)
                columns.push_back(published_column(published, sweep));
    const std::vector<ScoreColumn> shown = score_columns(sweep);
    for (const ScoreColumn& one : shown) columns.push_back(score_column(one, shown));
    add_unscored(sweep, columns);
    return columns;
}

const TracedColumn& find_column(const std::vector<TracedColumn>& columns, const std::string& asked) {
    const std::vector<std::string> words = words_of(asked);
    for (const TracedColumn& column : columns)
        if (!words.empty() && words_of(column.names.front()) == words) return column;
    std::vector<const TracedColumn*> found, all;
    std::vector<std::string> names;
    for (const TracedColumn& column : columns) {
        all.push_back(&column);
        names.insert(names.end(), column.names.begin(), column.names.end());
        if (!words.empty() && has_name(column, words)) found.push_back(&column);
    }
    if (found.empty() && !words.empty())
        for (const TracedColumn& column : columns)
            if (has_words(column, words)) found.push_back(&column);
    if (found.size() == 1) return *found.front();
    if (found.empty()) {
        if (std::find(words.begin(), words.end(), "difference") != words.end())
            throw Error(ErrorKind::usage, "a difference is of two rows, and one row is traced at a time",
                        "trace the same column of both rows; deft compare shows their difference with its interval");
        std::string meant = did_you_mean(asked, names);
        if (meant.empty()) meant = corrected(words, names);
        throw Error(ErrorKind::usage, fmt::format("the table has no column '{}'", asked),
                    fmt::format("{}its columns: {}", meant.empty() ? "" : fmt::format("did you mean {}? ", meant),
                                listed(all)));
    }
    throw Error(ErrorKind::usage, fmt::format("'{}' may be any of {} columns", asked, found.size()),
                fmt::format("choose one of: {}", listed(found)));
}

}  // namespace deft::reporting
