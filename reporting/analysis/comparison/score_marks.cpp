#include "reporting/analysis/comparison/score_marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "base/text.h"
#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/statistics/best_rows.h"
#include "reporting/analysis/statistics/variance_choice.h"
#include "reporting/numbers.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

constexpr const char* kAtChance = "at chance";
constexpr const char* kSeveralSlots = "several workers";
constexpr std::size_t kMostTested = 6;

// Values per row that every column needs.
struct MarkedRows {
    std::vector<bool> count;            // as measured
    std::set<const Row*> references{};  // of the baseline, those that count

    MarkedRows(const std::vector<Row>& rows, const std::string& base_recipe) {
        const References all(rows, base_recipe);
        for (const Row& row : rows) count.push_back(not_measured(row).empty());
        for (const Row& row : rows) {
            const Row& reference = all.of(row);
            if (count[static_cast<std::size_t>(&reference - rows.data())]) references.insert(&reference);
        }
    }
};

// The baseline at the largest budget; among several rows of it any that guesses.
bool baseline_guesses(const MarkedRows& marked, const FieldScores& scores) {
    return std::any_of(marked.references.begin(), marked.references.end(),
                       [&](const Row* reference) { return is_at_chance(*reference, scores.guessed); });
}

bool is_of_several_slots(const std::vector<Row>& rows, const FieldScores& scores) {
    std::set<std::string> shapes;
    if (scores.timed)
        for (const Row& row : rows) shapes.merge(scoring_shapes(row, scores.timed));
    return shapes.size() > 1;
}

std::vector<std::string> tests_of_variances(const Table& table) {
    std::vector<std::string> tests;
    for (const Column& column : table.columns)
        if (!column.variances.empty()) tests.push_back(one_line(column.title) + " " + column.variances);
    return tests;
}

std::vector<std::string> titles_with(const Table& table, const char* caveat) {
    std::vector<std::string> titles;
    for (const Column& column : table.columns)
        if (column.caveat == caveat) titles.push_back(one_line(column.title));
    return titles;
}

// Every row's values; empty where the row does not count, a seed diverged, or the score would be another today.
std::vector<std::vector<double>> counting_values(const Table& table, std::size_t column, const std::vector<Row>& rows,
                                                 const MarkedRows& marked, const FieldScores& scores) {
    std::vector<std::vector<double>> values;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const bool counts =
            marked.count[row] && diverged_trials(rows[row]) == 0 && table.rows[row][column].stale.empty();
        values.push_back(counts ? scores.values(rows[row]) : std::vector<double>());
    }
    return values;
}

std::string equal_variances_text(std::vector<std::vector<double>> values) {
    std::erase_if(values, [](const std::vector<double>& row) { return !all_finite(row); });
    const std::optional<BrownForsythe> test = brown_forsythe(values);
    return test ? fmt::format("p {:.2g}", test->p_value) : "";
}

}  // namespace

void mark_scores(Table& table, const std::vector<Field>& fields, const std::vector<Row>& rows,
                 const std::string& base_recipe) {
    const MarkedRows marked(rows, base_recipe);
    for (std::size_t column = 0; column < fields.size(); ++column) {
        if (!fields[column].scores) continue;
        if (baseline_guesses(marked, *fields[column].scores)) {
            table.columns[column].caveat = kAtChance;
            continue;
        }
        if (is_of_several_slots(rows, *fields[column].scores)) {
            table.columns[column].caveat = kSeveralSlots;
            continue;
        }
        const FieldScores& scores = *fields[column].scores;
        const auto values = counting_values(table, column, rows, marked, scores);
        const std::vector<bool> best = best_rows(values, scores.improves);
        if (std::find(best.begin(), best.end(), true) != best.end())
            table.columns[column].variances = equal_variances_text(values);
        for (std::size_t row = 0; row < rows.size(); ++row) table.rows[row][column].is_best = best[row];
    }
}

std::vector<std::string> score_mark_notes(const Table& table) {
    std::vector<std::string> notes;
    const bool any_best = std::any_of(table.rows.begin(), table.rows.end(), [](const auto& row) {
        return std::any_of(row.begin(), row.end(), [](const Cell& cell) { return cell.is_best; });
    });
    if (any_best)
        notes.emplace_back(
            "Bold (* in plain text): rows that seeds cannot distinguish from the best of their column, which is among "
            "them with 95% confidence (one-sided tests at 5% shared among them, by each row's own variance "
            "from five seeds on or where equal variances are rejected at 25%, else by the pooled one).");
    if (const auto tested = tests_of_variances(table); !tested.empty())
        notes.push_back(fmt::format("Equal variances over seeds (Brown-Forsythe): {}.",
                                    first_of(tested, kMostTested, "more columns")));
    if (const auto guessed = titles_with(table, kAtChance); !guessed.empty())
        notes.push_back(
            fmt::format("At chance: the baseline's score is not significantly above guessing (one-sided 5%, seeds and "
                        "documents): {}. Nothing is concluded from them.",
                        fmt::join(guessed, "; ")));
    if (const auto timed = titles_with(table, kSeveralSlots); !timed.empty())
        notes.push_back(
            fmt::format("Several workers: read off a clock on workers of several shapes: {}. Its rows do not compare.",
                        fmt::join(timed, "; ")));
    return notes;
}

}  // namespace deft::reporting
