#include "reporting/analysis/search/rate_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/text.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/numbers.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

constexpr std::string_view kRateAxis = "train.learning_rate";

// The measure of the validation that rates are compared by: bits a byte where the data is text, its loss or share
// otherwise.
const Score* validation(const Trial& trial) {
    for (const char* measure : {"bits_per_byte", "loss"})
        if (const Score* row = validation_row(trial, measure)) return row;
    const auto any = std::find_if(trial.scores.begin(), trial.scores.end(),
                                  [](const Score& row) { return row.task == "validation"; });
    return any == trial.scores.end() ? nullptr : &*any;
}

bool is_ended(const Trial& trial) {
    return trial.state == "ok" && validation(trial) != nullptr;
}

// The rate among its axes, which are then without it.
std::optional<double> take_rate(Json& axes) {
    for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
        const bool is_rate = axis.key() == kRateAxis || axis.key().ends_with("." + std::string(kRateAxis));
        if (!is_rate || !axis->is_number()) continue;
        const double rate = axis->get<double>();
        axes.erase(axis);
        return rate;
    }
    return std::nullopt;
}

void judge_rate(SearchedRate& at) {
    std::vector<double> values;
    for (const Trial* trial : at.trials) {
        if (trial->state != "ok" && trial->fail_class == "nan") at.diverged = true;
        if (is_ended(*trial)) values.push_back(validation(*trial)->value);
    }
    if (at.diverged || values.size() < at.trials.size() || !reporting::all_finite(values)) return;
    at.value = mean(values);
    if (values.size() > 1) at.spread = standard_deviation(values);
}

void choose_rate(SearchedRow& row) {
    if (!row.is_whole()) return;
    for (std::size_t i = 0; i < row.rates.size(); ++i) {
        if (!row.rates[i].value) continue;
        const bool higher = validation(*row.rates[i].trials.front())->better == "higher";
        const double value = *row.rates[i].value;
        if (!row.best || (higher ? value > *row.rates[*row.best].value : value < *row.rates[*row.best].value))
            row.best = i;
    }
}

// As a table calls what is compared.
std::string measure_title(const std::vector<Trial>& trials) {
    for (const Trial& trial : trials)
        if (const Score* row = validation(trial))
            return (row->measure == "bits_per_byte" ? "bits/byte" : row->measure) +
                   (row->better == "higher" ? " ↑" : " ↓");
    return "the validation";
}

Cell rate_cell(const SearchedRow& row, std::size_t i) {
    const SearchedRate& at = row.rates[i];
    if (at.diverged) return Cell("diverged");
    if (!at.value) return Cell("-");
    Cell cell(score(*at.value) + (at.spread ? " ± " + score(*at.spread) : ""), *at.value);
    cell.spread = at.spread;
    cell.is_best = row.best == i;
    for (const Trial* trial : at.trials) {
        cell.trace += (cell.trace.empty() ? "" : " ") + trial->config_hash;
        add_reasons(cell.stale, trial->stale);
    }
    return cell;
}

Cell chosen_cell(const SearchedRow& row) {
    if (!row.best) return Cell("-");
    const double rate = row.rates[*row.best].rate;
    return Cell(fmt::format("{:g}{}", rate, row.is_at_end() ? " (end)" : ""), rate);
}

struct Spent {
    std::size_t trials = 0;
    double flops = 0, train_seconds = 0, device_seconds = 0, usd = 0;
    bool has_price = true;

    void add(const Trial& trial) {
        ++trials;
        if (trial.last_point) flops += trial.last_point->flops;
        train_seconds += trial.train_seconds;
        device_seconds += trial.device_seconds;
        has_price = has_price && trial.usd;
        usd += trial.usd.value_or(0);
    }
};

// Several rows may share a training.
std::string search_cost_note(const std::vector<Trial>& trials) {
    Spent spent;
    std::set<std::string> seen;
    for (const Trial& trial : trials)
        if (seen.insert(trial.config_hash).second) spent.add(trial);
    return fmt::format("The search took {}: {}, {} of device time{}. No other table counts them.",
                       counted(spent.trials, "trial"), si(spent.flops, "FLOP"), seconds(spent.device_seconds),
                       spent.has_price ? ", " + dollars(spent.usd) : "");
}

std::string search_seeds_note(const std::vector<Trial>& trials) {
    std::set<std::int64_t> seeds;
    for (const Trial& trial : trials) seeds.insert(trial.seed);
    return fmt::format(
        "Every row was trained at the same rates, at its own budget, with the seed{} {} of the search alone; "
        "the table's trials have the best rate of their row, and other seeds.",
        seeds.size() == 1 ? "" : "s", fmt::join(seeds, ", "));
}

std::vector<std::string> names_at_end(const std::vector<SearchedRow>& rows, const std::vector<std::string>& recipes) {
    std::vector<std::string> names;
    for (const SearchedRow& row : rows)
        if (row.is_at_end() &&
            (recipes.empty() || std::find(recipes.begin(), recipes.end(), row.recipe) != recipes.end()))
            names.push_back(row.name());
    return names;
}

}  // namespace

void split_search_trials(Results& sweep) {
    const auto searched = std::stable_partition(sweep.trials.begin(), sweep.trials.end(), [](const Trial& trial) {
        return trial.stage != results_db::kSearchStage;
    });
    sweep.searched.assign(std::make_move_iterator(searched), std::make_move_iterator(sweep.trials.end()));
    sweep.trials.erase(searched, sweep.trials.end());
}

bool SearchedRow::is_whole() const {
    return std::all_of(rates.begin(), rates.end(), [](const SearchedRate& at) { return at.is_whole(); });
}

std::string SearchedRow::name() const {
    const std::string name = results_db::trial_name("", recipe, axes, "");
    return name.substr(0, name.rfind('/'));
}

std::vector<SearchedRow> searched_rows(const std::vector<Trial>& trials) {
    std::vector<SearchedRow> rows;
    for (const Trial& trial : trials) {
        Json axes = Json::parse(trial.axes_json, nullptr, false);
        const std::optional<double> rate = axes.is_object() ? take_rate(axes) : std::nullopt;
        if (!rate) continue;
        auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const SearchedRow& one) { return one.recipe == trial.recipe && one.axes == axes; });
        if (row == rows.end()) row = rows.insert(rows.end(), {trial.recipe, axes, {}, {}});
        auto at = std::find_if(row->rates.begin(), row->rates.end(),
                               [&](const SearchedRate& one) { return one.rate >= *rate; });
        if (at == row->rates.end() || at->rate != *rate)
            at = row->rates.insert(at, SearchedRate{*rate, {}, {}, {}, false});
        at->trials.push_back(&trial);
    }
    for (SearchedRow& row : rows) {
        for (SearchedRate& at : row.rates) judge_rate(at);
        choose_rate(row);
    }
    return rows;
}

std::optional<Table> rate_search_table(const Results& sweep) {
    const std::vector<SearchedRow> rows = searched_rows(sweep.searched);
    if (rows.empty()) return std::nullopt;
    std::set<double> rates;
    for (const SearchedRow& row : rows)
        for (const SearchedRate& at : row.rates) rates.insert(at.rate);
    Table table;
    table.caption = fmt::format("Sweep {}: search of the learning rate, {} of the validation at each",
                                sweep_text(sweep), measure_title(sweep.searched));
    table.columns = {{"row", Align::left}};
    for (const double rate : rates) table.columns.push_back({fmt::format("{:g}", rate)});
    table.columns.push_back({"chosen"});
    for (Column& column : table.columns) column.id = column.title;
    for (const SearchedRow& row : rows) {
        std::vector<Cell>& cells = table.rows.emplace_back();
        cells.emplace_back(row.name());
        for (const double rate : rates) {
            const auto at = std::find_if(row.rates.begin(), row.rates.end(),
                                         [&](const SearchedRate& one) { return one.rate == rate; });
            cells.push_back(at == row.rates.end() ? Cell("-")
                                                  : rate_cell(row, static_cast<std::size_t>(at - row.rates.begin())));
        }
        cells.push_back(chosen_cell(row));
    }
    table.notes = {search_seeds_note(sweep.searched), search_cost_note(sweep.searched)};
    if (const std::string note = rate_at_end_note(sweep, {}); !note.empty()) table.notes.push_back(note);
    return table;
}

std::string rate_at_end_note(const Results& sweep, const std::vector<std::string>& recipes) {
    const std::vector<std::string> names = names_at_end(searched_rows(sweep.searched), recipes);
    if (names.empty()) return {};
    return fmt::format("The best learning rate is at the end of its list for {}: one outside it may be better.",
                       fmt::join(names, ", "));
}

}  // namespace deft::reporting
