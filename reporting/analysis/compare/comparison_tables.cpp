#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "reporting/analysis/compare/compare.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

// With the decimals of the value beside it, so that a column of differences is read like the columns it is
// of.
std::string difference_text(double value, double beside) {
    if (!std::isfinite(value) || !std::isfinite(beside)) return score(value);
    if (std::abs(beside) < 0.1) return (value < 0 ? "-" : "+") + score(std::abs(value));
    const int decimals = std::clamp(3 - static_cast<int>(std::floor(std::log10(std::abs(beside)))), 0, 3);
    return fmt::format("{:+.{}f}", value, decimals);
}

Cell difference_cell(double value, double beside) {
    return Cell(difference_text(value, beside), value);
}

Cell interval_cell(const std::optional<Interval>& interval, double beside) {
    if (!interval) return Cell("-");
    return Cell(
        fmt::format("{} to {}", difference_text(interval->low, beside), difference_text(interval->high, beside)));
}

// "+0.012 [-0.003, +0.027]".
Cell bounded_cell(const ItemTest& test, double beside) {
    Cell cell = difference_cell(test.difference, beside);
    if (test.interval)
        cell.text += fmt::format(" [{}, {}]", difference_text(test.interval->low, beside),
                                 difference_text(test.interval->high, beside));
    return cell;
}

std::string chance_text(double p) {
    return p < 0.001 ? "<0.001" : fmt::format("{:.3f}", p);
}

// Sweep and row on lines of their own.
std::string titled(const char* side, const std::string& name) {
    const std::size_t colon = name.find(':');
    return fmt::format("{}\n{}\n{}", side, name.substr(0, colon), name.substr(colon + 1));
}

Table configuration_table(const RowComparison& rows) {
    Table table;
    table.caption = "What differs in the configurations";
    table.columns = {{"key", Align::left}, {titled("A", rows.a), Align::left}, {titled("B", rows.b), Align::left}};
    for (const ConfigurationDifference& one : rows.configuration) table.rows.push_back({one.key, one.from, one.to});
    if (table.rows.empty()) table.notes.emplace_back("Nothing but seeds and where they started.");
    return table;
}

// "1.20M consumed tokens", "$0.12".
std::string paid_text(double paid, const CostWords& words) {
    const bool says_unit = words.cost == Cost::seconds || words.cost == Cost::usd;
    return words.print(paid) + (says_unit ? "" : std::string(" ") + words.title);
}

// " (95% interval 0.40 to 0.61)", as parts of what the side pays that ends with the loss.
std::string range_text(const Reached& reached, const char* other) {
    if (!reached.range) return " (no interval below three seeds)";
    const auto& [from, to] = *reached.range;
    if (!from) return fmt::format(" (95% interval: {} stays above it)", other);
    const std::string least = fmt::format("{:.2f}", *from / reached.paid_by_it);
    if (!to) return fmt::format(" (95% interval from {} to beyond its end)", least);
    return fmt::format(" (95% interval {} to {:.2f})", least, *to / reached.paid_by_it);
}

// "The loss 3.214 with which A ends takes A 2.40M and B 1.20M consumed tokens: 0.50 of it (...)."
std::string reached_text(const Reached& reached, Cost by, const char* it, const char* other) {
    const CostWords& words = words_of(by);
    const std::string loss = fmt::format("The loss {} with which {} ends takes {} {}", score(reached.loss), it, it,
                                         paid_text(reached.paid_by_it, words));
    const std::string range = range_text(reached, other);
    if (!reached.paid_by_other) return fmt::format("{}; the mean of {} never gets there{}.", loss, other, range);
    return fmt::format("{} and {} {}: {:.2f} of it{}.", loss, other, words.print(*reached.paid_by_other),
                       *reached.paid_by_other / reached.paid_by_it, range);
}

Table loss_table(const RowComparison& rows) {
    const EqualCost& losses = rows.losses;
    const CostWords& words = words_of(losses.by);
    Table table;
    table.caption =
        fmt::format("{} at equal cost in {}", losses.is_validation ? "Validation loss" : "Training loss", words.title);
    table.columns = {{words.title}, {"A"}, {"B"}, {"B - A"}, {"95% interval\nof B - A"}};
    for (const EqualCostRow& row : losses.rows)
        table.rows.push_back({Cell(words.print(row.paid), row.paid), Cell(score(row.a), row.a),
                              Cell(score(row.b), row.b), difference_cell(row.difference, row.a),
                              interval_cell(row.interval, row.a)});
    if (losses.of_a) table.notes.push_back(reached_text(*losses.of_a, losses.by, "A", "B"));
    if (losses.of_b) table.notes.push_back(reached_text(*losses.of_b, losses.by, "B", "A"));
    table.notes.insert(table.notes.end(), rows.notes.begin(), rows.notes.end());
    return table;
}

// Each reason once, with the scores that it is of.
std::vector<std::string> reasons(const std::vector<ScoreDifference>& scores) {
    std::vector<std::string> notes;
    std::map<std::string, std::vector<std::string>> titles;
    for (const ScoreDifference& one : scores)
        if (!one.why.empty()) titles[one.why].push_back(one.title);
    for (const auto& [why, of] : titles) notes.push_back(fmt::format("No verdict on {}: {}.", first_of(of, 4), why));
    return notes;
}

Cell score_cell(const std::vector<double>& values, const std::string& flag) {
    if (values.empty()) return "-";
    Cell cell(mean_and_spread(values), mean(values));
    cell.flag = flag;
    return cell;
}

Table score_table(const RowComparison& rows) {
    Table table;
    table.caption = "Scores, means over seeds; the verdict is on B";
    table.columns = {{"score", Align::left},  {"A"}, {"B"}, {"B - A"}, {"95% interval\nof B - A"}, {"p (Holm)"},
                     {"verdict", Align::left}};
    bool pooled = false, welch = false;
    std::vector<std::string> equal;  // tests of equal variances
    for (const ScoreDifference& one : rows.scores) {
        const bool both = one.is_of_both();
        table.rows.push_back(
            {one.title, score_cell(one.a, one.flag_of_a), score_cell(one.b, one.flag_of_b),
             both ? difference_cell(one.difference, mean(one.a)) : Cell("-"), interval_cell(one.interval, mean(one.a)),
             one.p_value ? Cell(chance_text(one.adjusted_p), one.adjusted_p) : Cell("-"), word(one.verdict)});
        if (one.p_value && one.equal_variances)
            equal.push_back(fmt::format("{} p {:.2g}", one.title, one.equal_variances->p_value));
        if (one.p_value) (one.method == ContrastMethod::pooled ? pooled : welch) = true;
    }
    table.notes = reasons(rows.scores);
    if (pooled || welch)
        table.notes.push_back(
            fmt::format("The unit is the seed. Two-sided tests by {}, at 5% over all verdicts of this comparison.",
                        pooled && welch ? "the variance pooled over the sweep's rows or Welch's t"
                        : pooled        ? "the variance pooled over the sweep's rows"
                                        : "Welch's t"));
    if (!equal.empty())
        table.notes.push_back(
            fmt::format("Equal variances over the sweep's rows (Brown-Forsythe): {}. Welch's t below "
                        "{}, and from {} seeds on.",
                        first_of(equal, 4), kEqualVarianceLevel, kSeedsOfOwnVariance));
    return table;
}

std::string task_text(const ItemDifference& one) {
    return one.task + (one.shots > 0 ? fmt::format(" {}-shot", one.shots) : "");
}

Table item_table(const RowComparison& rows) {
    Table table;
    table.caption = "Two checkpoints, document by document";
    table.columns = {{"task", Align::left},
                     {"documents"},
                     {"right\nA"},
                     {"right\nB"},
                     {"only A\nright"},
                     {"only B\nright"},
                     {"right, B - A\n[95% interval]"},
                     {"p, McNemar\n(Holm)"},
                     {"gold log-likelihood\nB - A [95% interval]"},
                     {"p, paired t"},
                     {"verdict", Align::left}};
    for (const ItemDifference& one : rows.items) {
        const std::string task = task_text(one);
        if (!one.why.empty()) {
            table.rows.push_back({task, "-", "-", "-", "-", "-", "-", "-", "-", "-", "-"});
            table.notes.push_back(fmt::format("No verdict on {}: {}.", task, one.why));
            continue;
        }
        const auto count = [](std::size_t n) { return Cell(fmt::format("{}", n), static_cast<double>(n)); };
        table.rows.push_back(
            {task, count(one.right.documents), Cell(fmt::format("{:.1f}%", 100 * one.a), one.a),
             Cell(fmt::format("{:.1f}%", 100 * one.b), one.b), count(one.only_a), count(one.only_b),
             bounded_cell(one.right, 1), Cell(chance_text(one.adjusted_p), one.adjusted_p),
             one.gold ? bounded_cell(*one.gold, 1) : Cell("-"),
             one.gold && one.gold->interval ? Cell(chance_text(one.gold->p_value), one.gold->p_value) : Cell("-"),
             word(one.verdict)});
    }
    table.notes.emplace_back(
        "About these two checkpoints, not about their recipes: another seed of either may give the opposite result. "
        "Documents count as independent, which several questions on one passage are not.");
    return table;
}

// A note that several tables share follows the last of them.
void keep_last_of_equal_notes(std::vector<Table>& tables) {
    std::set<std::string> later;
    for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
        std::erase_if(table->notes, [&](const std::string& note) { return later.contains(note); });
        later.insert(table->notes.begin(), table->notes.end());
    }
}

}  // namespace

std::vector<Table> comparison_tables(const Comparison& comparison) {
    std::vector<Table> tables;
    for (const RowComparison& rows : comparison.rows) {
        tables.push_back(configuration_table(rows));
        tables.push_back(loss_table(rows));
        tables.push_back(score_table(rows));
        if (!rows.items.empty()) tables.push_back(item_table(rows));
    }
    for (const auto& [side, only] :
         {std::pair(&comparison.a, &comparison.only_a), std::pair(&comparison.b, &comparison.only_b)})
        if (!only->empty()) tables.back().notes.push_back(fmt::format("Only {} has: {}.", *side, first_of(*only, 8)));
    if (!comparison.same.empty())
        tables.back().notes.push_back(
            fmt::format("The same trainings on both sides: {}.", first_of(comparison.same, 8)));
    keep_last_of_equal_notes(tables);
    return tables;
}

Table comparison_lines(const Comparison& comparison) {
    Table table;
    table.caption = fmt::format("{} and {}", comparison.a, comparison.b);
    table.columns = {{"A", Align::left},
                     {"B", Align::left},
                     {"what", Align::left},
                     {"of", Align::left},
                     {"cost"},
                     {"a"},
                     {"b"},
                     {"difference"},
                     {"low"},
                     {"high"},
                     {"p (Holm)"},
                     {"verdict", Align::left},
                     {"why none", Align::left}};
    const auto number = [](double value) { return exact_cell(value); };
    const auto ends = [](const std::optional<Interval>& interval) {
        return interval ? std::pair(exact_cell(interval->low), exact_cell(interval->high)) : std::pair(Cell(), Cell());
    };
    for (const RowComparison& rows : comparison.rows) {
        for (const EqualCostRow& row : rows.losses.rows) {
            const auto [low, high] = ends(row.interval);
            table.rows.push_back({rows.a, rows.b, rows.losses.is_validation ? "validation loss" : "training loss",
                                  words_of(rows.losses.by).name, number(row.paid), number(row.a), number(row.b),
                                  number(row.difference), low, high, Cell(), Cell(), Cell()});
        }
        for (const ScoreDifference& one : rows.scores) {
            const auto [low, high] = ends(one.interval);
            const bool both = one.is_of_both();
            table.rows.push_back(
                {rows.a, rows.b, "score", one.title, Cell(), one.a.empty() ? Cell() : number(mean(one.a)),
                 one.b.empty() ? Cell() : number(mean(one.b)), both ? number(one.difference) : Cell(), low, high,
                 one.p_value ? number(one.adjusted_p) : Cell(), word(one.verdict), one.why});
        }
        for (const ItemDifference& one : rows.items) {
            std::vector<Cell>& line =
                table.rows.emplace_back(std::vector<Cell>{rows.a, rows.b, "documents right", task_text(one), Cell()});
            if (one.why.empty()) {
                const auto [low, high] = ends(one.right.interval);
                line.insert(line.end(), {number(one.a), number(one.b), number(one.right.difference), low, high,
                                         number(one.adjusted_p), word(one.verdict)});
            }
            line.resize(table.columns.size());
            line.back() = one.why;
        }
    }
    table.key_columns = 4;
    return table;
}

}  // namespace deft::reporting
