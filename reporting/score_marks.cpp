#include "reporting/score_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "reporting/measured.h"
#include "reporting/statistics/best_rows.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

constexpr const char* kAtChance = "at chance";

// The baseline at the largest budget; among several rows of it any that guesses.
bool baseline_guesses(const std::vector<Variant>& variants, const std::string& base_case, const FieldScores& scores) {
    return std::any_of(variants.begin(), variants.end(), [&](const Variant& variant) {
        const Variant& reference = reference_of(variants, base_case, variant);
        return not_measured(reference).empty() && is_at_chance(reference, scores.guessed);
    });
}

// A row that does not count, or whose score would be another today, is none.
std::vector<bool> may_be_best(const Table& table, std::size_t column, const std::vector<Variant>& variants,
                              const FieldScores& scores) {
    std::vector<std::vector<double>> values;
    for (std::size_t row = 0; row < variants.size(); ++row) {
        const bool counts = not_measured(variants[row]).empty() && table.rows[row][column].stale.empty();
        values.push_back(counts ? scores.values(variants[row]) : std::vector<double>());
    }
    return best_rows(values, scores.improves);
}

std::string one_line(const std::string& title) {
    std::string text;
    for (const std::string_view line : lines_of(title)) (text += text.empty() ? "" : " ") += line;
    return text;
}

}  // namespace

void mark_scores(Table& table, const std::vector<Field>& fields, const std::vector<Variant>& variants,
                 const std::string& base_case) {
    for (std::size_t column = 0; column < fields.size(); ++column) {
        if (!fields[column].scores) continue;
        if (baseline_guesses(variants, base_case, *fields[column].scores)) {
            table.columns[column].caveat = kAtChance;
            continue;
        }
        const std::vector<bool> best = may_be_best(table, column, variants, *fields[column].scores);
        for (std::size_t row = 0; row < variants.size(); ++row) table.rows[row][column].is_best = best[row];
    }
}

std::vector<std::string> score_mark_notes(const Table& table) {
    std::vector<std::string> notes, guessed;
    const bool any_best = std::any_of(table.rows.begin(), table.rows.end(), [](const auto& row) {
        return std::any_of(row.begin(), row.end(), [](const Cell& cell) { return cell.is_best; });
    });
    if (any_best)
        notes.emplace_back("Bold (* in plain text): rows that seeds cannot tell from the best of their column, which is among "
                           "them with 95% confidence (variance pooled over the rows, one-sided tests at 5% shared among "
                           "them).");
    for (const Column& column : table.columns)
        if (!column.caveat.empty()) guessed.push_back(one_line(column.title));
    if (!guessed.empty())
        notes.push_back(fmt::format("At chance: the baseline's score cannot be told from guessing (one-sided 5%, seeds and "
                                    "documents): {}. Nothing is concluded from them.",
                                    fmt::join(guessed, "; ")));
    return notes;
}

}  // namespace deft::reporting
