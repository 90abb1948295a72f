#include "reporting/analysis/comparison/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/comparison/cost_columns.h"
#include "reporting/analysis/comparison/published_columns.h"
#include "reporting/analysis/comparison/score_marks.h"
#include "reporting/analysis/cost/cpu_contention.h"
#include "reporting/analysis/cost/occupancy.h"
#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/scores/scoring_notes.h"
#include "reporting/analysis/scores/stale_notes.h"
#include "reporting/numbers.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

constexpr std::size_t kVerdictSeeds = 3;
constexpr std::size_t kListedMissing = 6;
constexpr const char* kNoPrice = "no price: set [price] in the sweep file";

std::string joined(const std::set<std::string>& texts) {
    return fmt::format("{}", fmt::join(texts, "; "));
}

std::string short_commit(const Trial& trial) {
    return short_hash(trial.code.git_sha) + (trial.code.dirty ? " + uncommitted changes" : "");
}

std::string short_host(const Trial& trial) {
    return fmt::format("{} ({} cores)", trial.host.cpu_model, trial.host.cores);
}

std::string dataset(const Trial& trial) {
    if (trial.dataset_name.empty() && trial.dataset_sha256.empty()) return "unknown";
    return fmt::format("{} (sha256 {})", trial.dataset_name,
                       trial.dataset_sha256.empty() ? "unknown" : short_hash(trial.dataset_sha256));
}

// Prices of the attempts that count; a trial that went on elsewhere may have several.
std::set<std::string> prices_of(const Trial& trial) {
    std::set<std::string> prices;
    if (trial.imported) return prices;
    for (const results_db::AttemptRow& attempt : trial.attempt_rows)
        if (attempt.counts && attempt.price) prices.insert(price_text(*attempt.price));
    if (!trial.usd) prices.insert(kNoPrice);
    return prices;
}

// Only rows that were trained.
std::string seeds_note(const std::vector<Row>& rows) {
    std::size_t least = SIZE_MAX, most = 0;
    for (const Row& row : rows) {
        if (is_imported(row)) continue;
        least = std::min(least, unit_count(row.ok));
        most = std::max(most, unit_count(row.ok));
    }
    if (least == SIZE_MAX) return "Seeds: none, for no row was trained here.";
    std::string text =
        least == most ? fmt::format("Seeds: {} a row.", least) : fmt::format("Seeds: {} to {} a row.", least, most);
    if (most < kVerdictSeeds) return text + " No verdict: a verdict needs three seeds.";
    return least < kVerdictSeeds ? text + " No verdict on rows of fewer than three." : text;
}

std::string values_note(const std::vector<Row>& rows, const std::string& base_recipe) {
    const Row& row = reference_of(rows, base_recipe, rows.front());
    const std::string budget = row.axes.has_budget ? " at " + row.axes.budget_text() + " of the budget" : "";
    const std::string axes = row.axes.others_text().empty() ? "" : " and the same axes";
    std::string text = fmt::format(
        "Values: means over finished seeds, ± their sample standard deviation. 1.00x: as much as recipe {}{}{}.",
        base_recipe, budget, axes);
    if (is_imported(row))
        return "Values: means over finished seeds, ± their sample standard deviation. No ratios: recipe " +
               base_recipe + " is imported, and took nothing here.";
    if (row.ok.empty()) text += " That row has no finished seed yet, so there are no ratios.";
    return text;
}

std::string scale_note(const Results& sweep, const std::string& scale) {
    const std::int64_t parameters = largest_parameters(sweep);
    std::int64_t tokens = 0;
    for (const Trial& trial : sweep.trials)
        if (trial.last_point) tokens = std::max(tokens, trial.last_point->input_tokens);
    std::string text = "Scale: " + (scale.empty() ? "as written" : scale);
    if (parameters > 0) text += fmt::format(", up to {} parameters", si(static_cast<double>(parameters)));
    if (tokens > 0)
        text += fmt::format("{} {} input tokens", parameters > 0 ? " and" : ", up to", si(static_cast<double>(tokens)));
    text += ".";
    if (is_small_scale(sweep, scale))
        text += " Results at so small a scale say nothing by themselves about the models of the papers.";
    return text;
}

// The most trials of one host that ran at one moment.
std::size_t most_at_once(const Results& sweep) {
    std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> intervals;
    std::set<std::string> seen;  // several places may share a training
    for (const Trial& trial : sweep.trials)
        if (seen.insert(trial.config_hash).second)
            intervals[trial.host.hostname].emplace_back(trial.started_ms, trial.ended_ms);
    std::size_t most = 0;
    for (const auto& [hostname, list] : intervals) most = std::max(most, occupancy(list).most_at_once);
    return most;
}

std::vector<std::string> missing_notes(const Results& sweep, const std::string& command) {
    std::vector<std::string> missing;
    for (const Trial& trial : sweep.trials) {
        if (trial.state == "ok") continue;
        const std::string why = trial.fail_class.empty() ? trial.state : trial.state + ", " + trial.fail_class;
        missing.push_back(fmt::format("{} ({})", results_db::trial_name(trial), why));
    }
    if (missing.empty()) return {};
    return {fmt::format("Missing: {}.", first_sentences(missing, kListedMissing, "more, see deft status")),
            "To fill them: " + (command.empty() ? "run the sweep's file again." : command)};
}

// Commits, builds, hosts, data and prices of the finished trials, each spelling once.
struct Provenance {
    std::set<std::string> commits, builds, hosts, machines, datasets, prices;

    explicit Provenance(const std::vector<Row>& rows) {
        for (const Row& row : rows)
            for (const Trial* trial : row.ok) add(*trial);
    }

    void add(const Trial& trial) {
        commits.insert(short_commit(trial));
        builds.insert(trial.code.git_sha + '|' + trial.code.diff_sha256 + '|' + trial.code.binary_sha256);
        hosts.insert(short_host(trial));
        machines.insert(trial.host.hostname + '|' + short_host(trial));
        datasets.insert(dataset(trial));
        prices.merge(prices_of(trial));
    }

    std::vector<std::string> notes() const {
        std::vector<std::string> out;
        if (!prices.empty()) out.push_back("Cost: " + joined(prices) + ".");
        for (std::string text : {"Code: commit " + joined(commits) + ".", "Host: " + joined(hosts) + ".",
                                 "Data: " + joined(datasets) + "."})
            out.push_back(std::move(text));
        if (builds.size() > 1) out.push_back(fmt::format("Warning: rows mix {} builds of the program.", builds.size()));
        if (machines.size() > 1)
            out.push_back(fmt::format("Warning: rows mix {} hosts; their times do not compare.", machines.size()));
        if (datasets.size() > 1) out.push_back(fmt::format("Warning: rows mix {} datasets.", datasets.size()));
        return out;
    }
};

std::vector<std::string> regime_notes_of(const std::vector<Row>& rows, const std::string& base_recipe,
                                         const SweepAbout& about) {
    const Row& row = reference_of(rows, base_recipe, rows.front());
    const std::optional<Regime> own = regime_of(row);
    if (!own) return {};
    return regime_notes(row.name, *own, about.published ? about.published->regime : std::nullopt);
}

std::vector<std::string> comparison_notes(const Results& sweep, const std::vector<Row>& rows,
                                          const std::string& base_recipe, const SweepAbout& about) {
    if (rows.empty()) return {"The sweep has no trials."};
    std::vector<std::string> notes = {seeds_note(rows), values_note(rows, base_recipe), scale_note(sweep, about.scale)};
    for (std::string& text : regime_notes_of(rows, base_recipe, about)) notes.push_back(std::move(text));
    for (std::string& text : budget_axes_notes(rows)) notes.push_back(std::move(text));
    for (std::string& text : imported_notes(rows)) notes.push_back(std::move(text));
    for (std::string& text : measured_notes(rows)) notes.push_back(std::move(text));
    for (std::string& text : scoring_notes(rows)) notes.push_back(std::move(text));
    for (std::string& text : stale_notes(rows, about.command)) notes.push_back(std::move(text));
    for (std::string& text : missing_notes(sweep, about.command)) notes.push_back(std::move(text));
    if (const std::size_t most = most_at_once(sweep); most > 1)
        notes.push_back(fmt::format("Train time: {} trials side by side on one host.", most));
    for (std::string& text : slot_notes(rows)) notes.push_back(std::move(text));
    for (std::string& text : contention_notes(rows, base_recipe)) notes.push_back(std::move(text));
    for (std::string& text : cost_notes(rows)) notes.push_back(std::move(text));
    const Provenance provenance(rows);
    if (!provenance.commits.empty())
        for (std::string& text : provenance.notes()) notes.push_back(std::move(text));
    if (const std::string text = other_commit_note(rows, about.commit_now); !text.empty()) notes.push_back(text);
    return notes;
}

Cell seeds_cell(const Row& row) {
    if (is_imported(row)) return "-";
    const std::size_t all = row.trials.size(), units = unit_count(row.trials);
    const std::string text =
        row.ok.size() == all ? fmt::format("{}", units) : fmt::format("{} of {}", unit_count(row.ok), units);
    return units == all ? text : text + fmt::format(" ({} trials)", all);
}

void append(std::vector<Field>& to, std::vector<Field> fields) {
    for (Field& field : fields) to.push_back(std::move(field));
}

// The fields from `scores` on measure the models.
struct Fields {
    std::vector<Field> all;
    std::size_t keys = 0, scores = 0;
};

Fields fields_of(const Results& sweep, const std::vector<Row>& rows, const std::string& base_recipe,
                 const PublishedContext* published) {
    Fields fields{key_fields(rows)};
    fields.keys = fields.all.size();
    Column seeds;
    seeds.title = seeds.id = "seeds";
    fields.all.emplace_back(std::move(seeds), seeds_cell);
    for (const Resource& resource : resources()) {
        fields.all.push_back(resource_field(resource, rows, base_recipe));
        if (published != nullptr) append(fields.all, published_resource_fields(*published, resource));
    }
    append(fields.all, cost_fields(rows));
    fields.scores = fields.all.size();
    if (published != nullptr) append(fields.all, published_score_fields(*published));
    std::vector<Field> scores = score_fields(sweep);
    if (!scores.empty()) scores.front().column.begins_block = true;
    append(fields.all, std::move(scores));
    return fields;
}

std::vector<Cell> row_of(const Row& row, const Fields& fields) {
    const std::string flag = not_measured(row), stale = stale_training(row);
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < fields.all.size(); ++i) {
        Cell cell = fields.all[i].cell(row);
        const bool measured =
            !fields.all[i].column.published && !cell.stated && (cell.value || i == 0) && !row.ok.empty();
        if (measured && (i == 0 || i >= fields.keys)) cell.trace = row.name;
        if (measured && (i == 0 || i >= fields.scores)) cell.flag = flag;
        if (measured && (i == 0 || i >= fields.keys)) cell.stale = with_reasons(stale, cell.stale);
        cells.push_back(std::move(cell));
    }
    return cells;
}

}  // namespace

Table comparison_table(const Results& sweep, const SweepAbout& about) {
    const std::vector<Row> rows = rows_of(sweep);
    const std::string base_recipe = baseline_recipe(rows, about.baseline, sweep.name);
    std::optional<PublishedContext> published;
    if (about.published) published.emplace(PublishedContext{*about.published, sweep, rows, base_recipe, about.scale});
    const Fields fields = fields_of(sweep, rows, base_recipe, published ? &*published : nullptr);

    Table table;
    table.caption = "Sweep " + sweep_text(sweep) + (about.title.empty() ? "" : ": " + about.title);
    table.key_columns = fields.keys;
    for (const Field& field : fields.all) table.columns.push_back(field.column);
    for (const Row& row : rows) {
        table.rows.push_back(row_of(row, fields));
        table.row_ids.push_back(row.name);
    }
    if (!rows.empty()) mark_scores(table, fields.all, rows, base_recipe);
    table.notes = comparison_notes(sweep, rows, base_recipe, about);
    std::vector<std::string> marks = score_mark_notes(table);
    table.notes.insert(table.notes.begin() + std::min<std::ptrdiff_t>(2, std::ssize(table.notes)),
                       std::make_move_iterator(marks.begin()), std::make_move_iterator(marks.end()));
    if (published && !rows.empty())
        for (std::string& text : published_notes(*published)) table.notes.push_back(std::move(text));
    return table;
}

}  // namespace deft::reporting
