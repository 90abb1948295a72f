#include "reporting/views/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/score_key.h"
#include "base/text.h"
#include "reporting/analysis/comparison/cost_columns.h"
#include "reporting/analysis/comparison/stages.h"
#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/glue/glue_table.h"
#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/analysis/search/rate_search.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/ordered_json.h"
#include "reporting/table.h"
#include "reporting/views/page/answer_html.h"
#include "reporting/views/page/expert_routing.h"
#include "reporting/views/page/experts_html.h"
#include "reporting/views/page/plot_data.h"
#include "reporting/views/page/provenance_html.h"
#include "reporting/views/page/run_schedules.h"
#include "reporting/views/page/tradeoff_html.h"
#include "reporting/views/page/verdict_strip.h"
#include "reporting/views/render/html.h"
#include "reporting/views/render/table_json.h"
#include "reporting/views/screen/screen.h"
#include "results_db/sweep_heads.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

OrderedJson scores_json(const Trial& trial) {
    OrderedJson scores = OrderedJson::array();
    for (const Score& row : trial.scores) {
        const ScoreId id = id_of(row);
        OrderedJson json = to_json(id);
        json["value"] = json_number(row.value);
        json["standard_error"] = json_number(row.standard_error);
        json["chance"] = json_number(row.chance);
        json["n"] = row.n;
        json["step"] = row.step;
        json["under_capacity"] = id.under_capacity;
        json["model_sha256"] = row.model_sha256;
        json["evaluator_commit"] = row.git_sha;
        if (!row.stale.empty()) json["stale"] = row.stale;
        scores.push_back(std::move(json));
    }
    return scores;
}

OrderedJson trial_json(const Trial& trial) {
    OrderedJson json = {{"name", results_db::trial_name(trial)},
                        {"stage", trial.stage},
                        {"case", trial.recipe},
                        {"axes", OrderedJson::parse(trial.axes_json, nullptr, false)},
                        {"seed", trial.seed},
                        {"seeds", trial.seeds},
                        {"config_hash", trial.config_hash},
                        {"state", trial.state},
                        {"attempts", trial.attempts},
                        {"commit", trial.code.git_sha},
                        {"dirty", trial.code.dirty},
                        {"host", trial.host.hostname},
                        {"dataset_sha256", trial.dataset_sha256}};
    if (json["axes"].is_discarded()) json["axes"] = trial.axes_json;
    if (trial.imported) json["imported"] = OrderedJson::parse(results_db::imported_json(trial.imported));
    if (trial.last_point) {
        json["steps"] = trial.last_point->step;
        json["input_tokens"] = trial.last_point->input_tokens;
        json["unique_tokens"] = trial.last_point->unique_tokens;
        json["layer_tokens"] = trial.last_point->layer_tokens;
        json["flops"] = json_number(trial.last_point->flops);
        json["train_seconds"] = static_cast<double>(trial.last_point->wall_ms) / 1000;
    }
    if (trial.usd) json["usd"] = json_number(*trial.usd);
    if (trial.parts.whole() > 0) json["device_seconds"] = parts_json(trial.parts);
    if (trial.usd_parts) json["usd_parts"] = parts_json(*trial.usd_parts);
    if (!trial.stale.empty()) json["stale"] = trial.stale;
    json["scores"] = scores_json(trial);
    return json;
}

// One row a trial, numbers in full precision.
Table raw_values_table(const Results& sweep) {
    Table table;
    table.caption = "Every trial, as stored" + overrides_suffix(sweep);
    table.columns = {{"trial", Align::left}, {"state", Align::left}, {"steps"}, {"input\ntokens"},
                     {"unique\ntokens"},     {"consumed\ntokens"},   {"FLOPs"}, {"train\nseconds"}};
    const std::size_t counts = table.columns.size();  // and the scores after them
    std::set<std::string> titles;
    for (const Trial& trial : sweep.trials)
        for (const Score& row : trial.scores) titles.insert(stacked_title(id_of(row)));
    for (const std::string& title : titles) table.columns.push_back({title});
    for (const Trial& trial : sweep.trials) {
        std::vector<Cell> row = {Cell(results_db::trial_name(trial)), trial.state};
        row.front().stale = trial.stale;
        if (const auto& last = trial.last_point) {
            for (const std::int64_t count : {last->step, last->input_tokens, last->unique_tokens, last->layer_tokens})
                row.push_back({fmt::format("{}", count), static_cast<double>(count)});
            row.push_back(exact_cell(last->flops));
            row.push_back(exact_cell(static_cast<double>(last->wall_ms) / 1000));
        }
        row.resize(counts, Cell("-"));
        std::map<std::string, Cell> scores;
        for (const Score& score : trial.scores) {
            Cell& cell = scores[stacked_title(id_of(score))] = exact_cell(score.value);
            cell.stale = score.stale;
        }
        for (const std::string& title : titles) row.push_back(scores.contains(title) ? scores.at(title) : Cell("-"));
        table.rows.push_back(std::move(row));
    }
    return table;
}

// The same as a JSON array, each score on its own.
OrderedJson raw_values_json(const Results& sweep) {
    OrderedJson trials = OrderedJson::array();
    for (const Trial& trial : sweep.trials) trials.push_back(trial_json(trial));
    return trials;
}

std::string title_of(const ReportData& data) {
    return (data.about.title.empty() ? "Sweep " + data.sweep.name : data.about.title) + overrides_suffix(data.sweep);
}

std::string summary_html(const ReportData& data, std::size_t rows) {
    const auto& trials = data.sweep.trials;
    const auto finished = static_cast<std::size_t>(
        std::count_if(trials.begin(), trials.end(), [](const auto& trial) { return trial.state == "ok"; }));
    std::string out = fmt::format("<h1>{}</h1>\n<p><span class=\"scale\">{}</span></p>\n", html_escaped(title_of(data)),
                                  html_escaped(scale_label(data.sweep, data.about.scale)));
    out += fmt::format("<p class=\"facts\">Sweep {}: {} of {} finished, in {}.</p>\n",
                       html_escaped(sweep_text(data.sweep)), finished, counted(trials.size(), "trial"),
                       counted(rows, "row"));
    if (data.about.published && is_small_scale(data.sweep, data.about.scale))
        out += fmt::format(
            "<p class=\"caution\">Columns marked (published) were measured by others at another scale ({}). "
            "Compare ratios and differences to the baseline, never absolute values.</p>\n",
            html_escaped(data.about.published->scale));
    return out;
}

std::string verdicts_html(const ReportData& data) {
    if (!data.about.published) return {};
    return verdict_strip_html(claims_of(data), *data.about.published, scale_label(data.sweep, data.about.scale));
}

OrderedJson claims_json(const ReportData& data) {
    OrderedJson claims = OrderedJson::array();
    for (const ClaimFinding& one : claims_of(data))
        claims.push_back(
            {{"id", one.claim}, {"verdict", name(one.judged.finding.outcome)}, {"text", one.judged.finding.text}});
    return claims;
}

// These columns as a table of their own, under another caption and without notes.
Table part_of(const Table& table, const Block& columns, const std::string& caption) {
    Table part;
    part.caption = caption;
    part.key_columns = table.key_columns;
    for (const std::size_t column : columns) part.columns.push_back(table.columns[column]);
    for (const std::vector<Cell>& row : table.rows) {
        std::vector<Cell>& cells = part.rows.emplace_back();
        for (const std::size_t column : columns) cells.push_back(row[column]);
    }
    return part;
}

bool is_of_cost(const Table& table, const Block& block) {
    return std::any_of(block.begin(), block.end(), [&](std::size_t column) { return table.columns[column].is_cost; });
}

// All blocks of the comparison but those of what rows consumed, which have a section of their own.
std::string comparison_html(const Table& table, const std::vector<std::string>& notes, const std::vector<Block>& blocks,
                            const std::string& id, const std::string& suffix) {
    std::string out = fmt::format("<h2 id=\"comparison{}\">Comparison</h2>\n", id);
    bool any = false;
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        if (is_of_cost(table, blocks[i])) continue;
        any = true;
        const bool published = std::any_of(blocks[i].begin(), blocks[i].end(),
                                           [&](std::size_t column) { return table.columns[column].published; });
        out += render_html(part_of(table, blocks[i],
                                   (published ? "Published scores: measured, published, and both as differences "
                                                "to the baseline at 100%"
                                              : "Scores of each task, means over seeds") +
                                       suffix));
    }
    if (!any) out += "<p>No scores have been recorded yet.</p>\n";
    return out + notes_html(notes);
}

// With a script one chart has all axes; without it each axis has a chart.
std::string curves_html(std::vector<Figure> figures, const std::string& data, const std::string& id,
                        const std::string& suffix) {
    if (figures.empty()) return {};
    std::string out = fmt::format("<h2 id=\"curves{}\">Training curves</h2>\n", id);
    out +=
        "<p>Raw points, not smoothed. Colour and marker name the recipe, the dash its budget; a band spans the least "
        "and the greatest seed; large open markers are validation losses.</p>\n";
    out += "<div class=\"figures\">\n";
    for (Figure& figure : figures) {
        const bool is_first = &figure == &figures.front();
        figure.title += suffix;
        if (!is_first) out += "<div class=\"one-axis\">\n";
        out += figure_html(figure);
        out += "<details><summary>Points as a table</summary>\n" + render_html(figure_table(figure)) + "</details>\n";
        if (!is_first) out += "</div>\n";
    }
    return out + data + "</div>\n";
}

// The trials that train now, one line each.
std::string running_html(const ReportData& data) {
    const std::optional<Figure> figure = running_figure(data.sweep, data.curves);
    return figure ? "<h2 id=\"running\">Training now</h2>\n" + figure_html(*figure) : "";
}

// Names of recipes for the script, which hides rows and lines by them.
std::string recipes_html(const std::vector<Row>& rows) {
    OrderedJson names = OrderedJson::array();
    std::set<std::string> seen;
    for (const Row& row : rows)
        if (seen.insert(row.recipe).second) names.push_back(row.recipe);
    return fmt::format("<p id=\"recipes\" hidden data-names=\"{}\"></p>\n",
                       html_escaped(names.dump(-1, ' ', false, OrderedJson::error_handler_t::replace)));
}

std::string draws_html(const std::vector<Row>& rows, const Curves& curves, const std::string& id,
                       const std::string& suffix) {
    Table table = draws_table(rows, curves);
    if (table.rows.empty()) return {};
    std::string out = fmt::format("<h2 id=\"draws{}\">What was drawn</h2>\n", id);
    for (Figure& figure : pool_figures(rows, curves)) {
        figure.title += suffix;
        out += figure_html(figure);
    }
    table.caption += suffix;
    return out + render_html(table);
}

std::vector<std::string> without(std::vector<std::string> notes, const std::vector<std::string>& others) {
    std::erase_if(
        notes, [&](const std::string& note) { return std::find(others.begin(), others.end(), note) != others.end(); });
    return notes;
}

// The tables and figures of one stage, under its name where it has one.
// `answers`: its differences are at the top of the page.
std::string stage_html(const ReportData& data, const StageResults& stage, bool answers, const std::string& suffix) {
    const Table table = comparison_table(stage.sweep, about_stage(data.about, stage));
    const std::vector<Row> rows = rows_of(stage.sweep);
    const std::vector<Block> blocks = page_blocks(table);
    const std::string id = stage.name.empty() ? "" : "-" + html_id(stage.name);
    std::string out;
    if (!stage.name.empty()) out += fmt::format("<h2 id=\"stage{}\">Stage {}</h2>\n", id, html_escaped(stage.name));
    if (!answers) out += difference_html(stage.sweep, about_stage(data.about, stage), id, suffix);
    out += tradeoff_html(stage.sweep, about_stage(data.about, stage), id, suffix);
    if (!rows.empty())
        out += experts_html(rows, data.curves, baseline_recipe(rows, data.about.baseline, data.sweep.name), id, suffix);
    out += comparison_html(table, without(table.notes, cost_notes(rows)), blocks, id, suffix);
    const std::vector<Figure> curves = curve_figures(rows, data.curves);
    out += curves_html(curves, plot_data_html(curves, rows, data.curves), id, suffix);
    out += schedules_html(rows, data.curves, id, suffix);
    out += draws_html(rows, data.curves, id, suffix);
    out += routing_html(rows, data.experts, id, suffix);
    out += fmt::format("<h2 id=\"cost{}\">Cost</h2>\n", id);
    out += render_html(
        part_of(table, blocks.front(), "What each row consumed, and how much of the baseline's that is" + suffix));
    for (const Block& block : blocks)
        if (is_of_cost(table, block))
            out += render_html(part_of(table, block, "Cost breakdown, means over seeds" + suffix)) +
                   notes_html(cost_notes(rows));
    return out;
}

}  // namespace

std::string render_page(const ReportData& data, const std::string& body) {
    const std::vector<Row> rows = rows_of(data.sweep);
    const std::string suffix = overrides_suffix(data.sweep);
    std::string out = page_head(title_of(data), body) + summary_html(data, rows.size()) + answer_html(data, suffix) +
                      recipes_html(rows) + verdicts_html(data) + running_html(data);
    if (const std::optional<Table> glue = glue_table(data.sweep))
        out += "<h2 id=\"glue\">GLUE</h2>\n" + render_html(*glue);
    const std::string answering = data.sweep.trials.empty() ? "" : answering_stage(data).name;
    for (const StageResults& stage : stages_of(data.sweep))
        out += stage_html(data, stage, stage.name == answering, suffix);
    if (const std::optional<Table> search = rate_search_table(data.sweep))
        out += "<h2 id=\"search\">Search of the learning rate</h2>\n" + render_html(*search);
    if (const std::string note = stage_costs_note(data.sweep); !note.empty())
        out += "<p class=\"facts\">" + html_escaped(note) + "</p>\n";
    out += "<h2 id=\"provenance\">Provenance</h2>\n<p>Every measured cell above links to its trials.</p>\n";
    out += provenance_html(rows, data.checkpoints, data.about.points);
    out += "<h2 id=\"raw\">Raw values</h2>\n<details><summary>Every trial, as stored</summary>\n" +
           render_html(raw_values_table(data.sweep)) + "</details>\n";
    return out + page_end();
}

std::string render_report_json(const ReportData& data) {
    OrderedJson json;
    const std::vector<StageResults> stages = stages_of(data.sweep);
    if (stages.size() == 1 && stages.front().name.empty()) {
        json = table_json(comparison_table(data.sweep, data.about));
    } else {
        for (const StageResults& stage : stages)
            json["stages"][stage.name] = table_json(comparison_table(stage.sweep, about_stage(data.about, stage)));
        json["notes"] = {stage_costs_note(data.sweep)};
    }
    if (const std::optional<Table> glue = glue_table(data.sweep)) json["glue"] = table_json(*glue);
    if (const std::optional<Table> search = rate_search_table(data.sweep)) json["search"] = table_json(*search);
    json["sweep"] = data.sweep.name;
    json["spec_sha256"] = data.sweep.spec_sha256;
    json["overrides"] = results_db::overrides_text(data.sweep);
    json["scale"] = scale_label(data.sweep, data.about.scale);
    if (data.about.published) json["published_source"] = data.about.published->source;
    if (data.about.published) json["claims"] = claims_json(data);
    json["trials"] = raw_values_json(data.sweep);
    return json_text(json);
}

}  // namespace deft::reporting
