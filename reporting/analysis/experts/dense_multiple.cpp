#include "reporting/analysis/experts/dense_multiple.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/analysis/statistics/contrast.h"
#include "reporting/analysis/tradeoff/relative_quality.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

constexpr double kEqualTokens = 0.01;

// The parts of the configuration that describe the model and its techniques.
struct Traits {
    bool has_experts = false, is_plain = true;
};

Traits traits_of(const Trial& trial) {
    const bool is_sparse = trial.active_parameters > 0 && trial.active_parameters < trial.parameters;
    return {is_sparse || trial.settings.has_experts, trial.settings.is_plain};
}

// Why a row that has a loss is none to read by; empty: it is one.
std::string why_left_out(const Row& row) {
    if (!not_measured(row).empty()) return "it does not count as measured";
    if (diverged_trials(row) > 0) return "a seed diverged";
    Quantity loss;
    loss.kind = Quantity::Kind::task;
    loss.name = "validation";
    loss.metric = "loss";
    return stale_value(loss, row).empty() ? "" : "it is stale";
}

std::optional<SizedRow> sized_row(const Row& row) {
    const Trial& first = *row.ok.front();
    SizedRow sized{
        series_name(row), static_cast<double>(first.parameters), static_cast<double>(first.active_parameters), {}, 0};
    std::vector<std::pair<const Trial*, double>> losses;
    std::vector<double> tokens;
    for (const Trial* trial : row.ok)
        if (const Score* loss = validation_row(*trial, "loss"); loss != nullptr && trial->last_point) {
            losses.emplace_back(trial, loss->value);
            tokens.push_back(static_cast<double>(trial->last_point->layer_tokens));
        }
    sized.losses = unit_means(losses);
    if (sized.losses.empty() || !all_finite(sized.losses) || sized.parameters <= 0) return std::nullopt;
    sized.tokens = mean(tokens);
    return sized;
}

// Two neighbours in size between which a loss lies, and how far from the smaller it does: 1 at the larger.
struct Bracket {
    const SizedRow *small = nullptr, *large = nullptr;
    double share = 0;
};

std::optional<Bracket> bracket_of(double loss, const std::vector<SizedRow>& dense) {
    for (std::size_t i = 0; i + 1 < dense.size(); ++i) {
        const double from = mean(dense[i].losses), to = mean(dense[i + 1].losses);
        if (from > to && from >= loss && loss >= to)
            return Bracket{&dense[i], &dense[i + 1], (from - loss) / (from - to)};
    }
    return std::nullopt;
}

double size_at(const Bracket& bracket, double share) {
    return bracket.small->parameters * std::pow(bracket.large->parameters / bracket.small->parameters, share);
}

// The share, which is (small - row) / (small - large) of the three means.
std::optional<Interval> share_interval(const Bracket& bracket, const SizedRow& row) {
    for (const SizedRow* one : {bracket.small, bracket.large, &row})
        if (one->losses.size() < kFewestSeeds) return std::nullopt;
    const double fall = mean(bracket.small->losses) - mean(bracket.large->losses);
    Contrast spread = contrast(
        std::vector{unpaired_term((1 - bracket.share) / fall, bracket.small->losses),
                    unpaired_term(bracket.share / fall, bracket.large->losses), unpaired_term(-1 / fall, row.losses)},
        {ContrastMethod::welch});
    spread.estimate = bracket.share;
    return interval_of(spread, kShownConfidence);
}

double largest_multiple(const ExpertsAgainstDense& rows) {
    return rows.dense.back().parameters / rows.dense[rows.base].parameters;
}

double smallest_multiple(const ExpertsAgainstDense& rows) {
    return rows.dense.front().parameters / rows.dense[rows.base].parameters;
}

std::string multiple_text(double multiple) {
    return fmt::format("{:.3g}x", multiple);
}

// An end of an interval, which no dense model beyond the smallest and the largest could show.
std::string end_text(double multiple, const ExpertsAgainstDense& rows) {
    if (multiple > largest_multiple(rows)) return "more than " + multiple_text(largest_multiple(rows));
    if (multiple < smallest_multiple(rows)) return "less than " + multiple_text(smallest_multiple(rows));
    return multiple_text(multiple);
}

CurvePoint level_at(double parameters, const SizedRow& row) {
    const double loss = mean(row.losses);
    const Interval interval = mean_interval(row.losses).value_or(Interval{loss, loss});
    return {parameters, loss, interval.low, interval.high};
}

// Bands are of intervals, which fewer seeds than three do not have.
std::size_t seeds_of_band(const SizedRow& row) {
    return mean_interval(row.losses) ? row.losses.size() : 1;
}

}  // namespace

std::optional<ExpertsAgainstDense> experts_against_dense(const std::vector<Row>& rows, const std::string& base_recipe) {
    struct Found {
        SizedRow row;
        Traits traits;
        bool is_base = false;
    };
    std::vector<Found> found;
    ExpertsAgainstDense compared;
    for (const Row& row : rows) {
        if (row.ok.empty() || is_imported(row)) continue;
        const Traits traits = traits_of(*row.ok.front());
        std::optional<SizedRow> sized = sized_row(row);
        if (!sized || (!traits.has_experts && !traits.is_plain)) continue;
        if (const std::string why = why_left_out(row); !why.empty())
            compared.left_out.push_back(
                fmt::format("{} (validation loss {}; {})", sized->name, score(mean(sized->losses)), why));
        else
            found.push_back({std::move(*sized), traits, row.recipe == base_recipe});
    }
    const auto is_dense = [](const Found& one) { return !one.traits.has_experts; };
    auto base =
        std::find_if(found.begin(), found.end(), [&](const Found& one) { return one.is_base && is_dense(one); });
    if (base == found.end()) base = std::find_if(found.begin(), found.end(), is_dense);
    if (base == found.end()) return std::nullopt;
    const SizedRow base_row = base->row;

    for (const Found& one : found) {
        if (std::abs(one.row.tokens / base_row.tokens - 1) > kEqualTokens) {
            compared.left_out.push_back(one.row.name + " (another amount of tokens)");
            continue;
        }
        const bool is_another_of_its_size =
            std::any_of(compared.dense.begin(), compared.dense.end(),
                        [&](const SizedRow& dense) { return dense.parameters == one.row.parameters; });
        if (one.traits.has_experts)
            compared.experts.push_back(one.row);
        else if (!is_another_of_its_size)
            compared.dense.push_back(one.row);
    }
    std::stable_sort(compared.dense.begin(), compared.dense.end(),
                     [](const SizedRow& a, const SizedRow& b) { return a.parameters < b.parameters; });
    if (compared.experts.empty() || compared.dense.size() < 2) return std::nullopt;
    for (std::size_t i = 0; i < compared.dense.size(); ++i)
        if (compared.dense[i].parameters == base_row.parameters) compared.base = i;
    return compared;
}

DenseMultiple dense_multiple(const SizedRow& row, const ExpertsAgainstDense& rows) {
    const double loss = mean(row.losses), base = rows.dense[rows.base].parameters;
    DenseMultiple found;
    if (const std::optional<Bracket> bracket = bracket_of(loss, rows.dense)) {
        found.place = DenseMultiple::Place::between;
        found.multiple = size_at(*bracket, bracket->share) / base;
        if (const auto interval = share_interval(*bracket, row))
            found.interval =
                Interval{size_at(*bracket, interval->low) / base, size_at(*bracket, interval->high) / base};
        return found;
    }
    // A larger dense model that does not improve says nothing about still larger ones.
    const double smallest = mean(rows.dense.front().losses), largest = mean(rows.dense.back().losses);
    if (!(smallest > largest)) return found;
    if (loss < largest) found.place = DenseMultiple::Place::better_than_all;
    if (loss > smallest) found.place = DenseMultiple::Place::worse_than_all;
    return found;
}

std::string multiple_text(const DenseMultiple& multiple, const ExpertsAgainstDense& rows) {
    switch (multiple.place) {
        case DenseMultiple::Place::better_than_all:
            return "more than " + multiple_text(largest_multiple(rows));
        case DenseMultiple::Place::worse_than_all:
            return "less than " + multiple_text(smallest_multiple(rows));
        case DenseMultiple::Place::between:
            if (!multiple.interval) return multiple_text(*multiple.multiple);
            return fmt::format("{} [{}, {}]", multiple_text(*multiple.multiple), end_text(multiple.interval->low, rows),
                               end_text(multiple.interval->high, rows));
        case DenseMultiple::Place::unknown:
            break;
    }
    return {};
}

std::vector<std::string> multiple_sentences(const ExpertsAgainstDense& rows) {
    const SizedRow& base = rows.dense[rows.base];
    std::vector<std::string> sentences;
    bool any_without = false;
    for (const SizedRow& row : rows.experts) {
        const DenseMultiple multiple = dense_multiple(row, rows);
        const std::string text = multiple_text(multiple, rows), loss = score(mean(row.losses));
        any_without = any_without || !multiple.interval;
        const std::string who = fmt::format("{} (validation loss {}; {} parameters, {} active per token)", row.name,
                                            loss, si(row.parameters), si(row.active_parameters));
        if (text.empty())
            sentences.push_back(who + ": no multiple, for here the larger dense model is no better than the smaller.");
        else
            sentences.push_back(
                fmt::format("{} ends as a dense model of {} the parameters of {} would, by dense models of {} to {}.",
                            who, text, base.name, si(rows.dense.front().parameters), si(rows.dense.back().parameters)));
    }
    sentences.push_back(
        fmt::format("Multiples: of all parameters of {}, at equal tokens, by the losses at the end; between dense "
                    "models the loss is linear in "
                    "the logarithm of the parameters, and beyond them nothing is said.{}{}",
                    base.name, any_without ? " No interval below three seeds of each." : " Intervals: 95%, over seeds.",
                    rows.left_out.empty() ? "" : fmt::format(" Left out: {}.", fmt::join(rows.left_out, ", "))));
    return sentences;
}

Figure multiple_figure(const ExpertsAgainstDense& rows) {
    Figure figure;
    figure.id = "dense-multiple";
    figure.title = "Which dense model a model with experts comes to";
    figure.x_title = "parameters of a dense model";
    figure.y_title = "Validation loss at the end (nats)";
    figure.log_x = true;
    Series line{"dense models", 0, 0, 1, {}, {}, 0};
    for (const SizedRow& row : rows.dense) line.points.push_back(level_at(row.parameters, row));
    line.marks = line.points;
    line.seeds = seeds_of_band(rows.dense.front());
    for (const SizedRow& row : rows.dense) line.seeds = std::min(line.seeds, seeds_of_band(row));
    figure.series.push_back(line);
    for (std::size_t i = 0; i < rows.experts.size(); ++i) {
        const SizedRow& row = rows.experts[i];
        Series level{row.name, i + 1, i + 1, seeds_of_band(row), {}, {}, 0};
        for (const SizedRow* end : {&rows.dense.front(), &rows.dense.back()})
            level.points.push_back(level_at(end->parameters, row));
        if (const DenseMultiple multiple = dense_multiple(row, rows); multiple.multiple)
            level.marks.push_back(level_at(*multiple.multiple * rows.dense[rows.base].parameters, row));
        figure.series.push_back(level);
    }
    figure.words =
        "The line joins the dense models; levels are models with experts, and an open marker on one shows where it "
        "meets "
        "that line. Bands are 95% intervals of means over three seeds or more.";
    return figure;
}

}  // namespace deft::reporting
