#include "reporting/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "reporting/blocks.h"
#include "reporting/draws.h"
#include "reporting/figures_page.h"
#include "reporting/html_text.h"
#include "reporting/provenance.h"
#include "reporting/raw_values.h"
#include "reporting/scale.h"
#include "reporting/sweep_text.h"
#include "reporting/table_json.h"
#include "reporting/variants.h"
#include "results_db/sweep_heads.h"

namespace deft::reporting {

namespace {

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
    if (finished < trials.size())
        out +=
            fmt::format("<p class=\"caution\">{} missing. To fill them: <code>{}</code></p>\n",
                        trials.size() - finished == 1 ? "One trial is" : "Some trials are",
                        html_escaped(data.about.command.empty() ? "run the sweep's file again" : data.about.command));
    if (data.about.published && is_small_scale(data.sweep, data.about.scale))
        out += fmt::format(
            "<p class=\"caution\">Columns marked (published) were measured by others at another scale ({}). "
            "Compare ratios and differences to the baseline, never absolute values.</p>\n",
            html_escaped(data.about.published->scale));
    return out;
}

// Those columns as a table of their own, under another caption and without notes.
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

// All blocks of the comparison but its first, which is about resources and has a section of its own.
std::string comparison_html(const Table& table, const std::vector<Block>& blocks, const std::string& suffix) {
    std::string out = "<h2 id=\"comparison\">Comparison</h2>\n";
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        // Of the scores, a paper has the averages alone.
        const bool averages = std::any_of(blocks[i].begin(), blocks[i].end(),
                                          [&](std::size_t column) { return table.columns[column].published; });
        out += render_html(part_of(table, blocks[i],
                                   (averages ? "Suite averages: measured, published, and both as differences "
                                               "to the baseline at 100%"
                                             : "Scores of each task, means over seeds") +
                                       suffix));
    }
    if (blocks.size() == 1) out += "<p>No scores have been recorded yet.</p>\n";
    return out + notes_html(table.notes);
}

std::string curves_html(std::vector<Figure> figures, const std::string& suffix) {
    if (figures.empty()) return {};
    std::string out = "<h2 id=\"curves\">Training curves</h2>\n";
    out +=
        "<p>Raw points, not smoothed. Colour and marker name the case, the dash its budget; a band spans the least "
        "and the greatest seed; large open markers are validation losses.</p>\n";
    for (Figure& figure : figures) {
        figure.title += suffix;
        out += figure_html(figure);
        out += "<details><summary>Points as a table</summary>\n" + render_html(figure_table(figure)) + "</details>\n";
    }
    return out;
}

std::string draws_html(const std::vector<Variant>& variants, const Curves& curves, const std::string& suffix) {
    Table table = draws_table(variants, curves);
    if (table.rows.empty()) return {};
    std::string out = "<h2 id=\"draws\">What was drawn</h2>\n";
    for (Figure& figure : pool_figures(variants, curves)) {
        figure.title += suffix;
        out += figure_html(figure);
    }
    table.caption += suffix;
    return out + render_html(table);
}

}  // namespace

std::string render_page(const ReportData& data) {
    const Table table = comparison_table(data.sweep, data.about);
    const std::vector<Variant> variants = variants_of(data.sweep);
    const auto blocks = page_blocks(table);
    const std::string suffix = overrides_suffix(data.sweep);
    std::string out = page_head(title_of(data)) + "<body>\n<main>\n" + summary_html(data, variants.size());
    out += comparison_html(table, blocks, suffix);
    out += curves_html(curve_figures(variants, data.curves), suffix);
    out += draws_html(variants, data.curves, suffix);
    out += "<h2 id=\"cost\">Cost</h2>\n";
    out += render_html(
        part_of(table, blocks.front(), "What each row consumed, and how much of the baseline's that is" + suffix));
    out += "<h2 id=\"provenance\">Provenance</h2>\n<p>Every measured cell above links to the trials behind it.</p>\n";
    out += provenance_html(variants, data.checkpoints, data.about.points);
    out += "<h2 id=\"raw\">Raw values</h2>\n<details><summary>Every trial, as stored</summary>\n" +
           render_html(raw_values_table(data.sweep)) + "</details>\n";
    return out + "</main>\n</body>\n</html>\n";
}

std::string render_report_json(const ReportData& data) {
    OrderedJson json = table_json(comparison_table(data.sweep, data.about));
    json["sweep"] = data.sweep.name;
    json["spec_sha256"] = data.sweep.spec_sha256;
    json["overrides"] = results_db::overrides_text(data.sweep);
    json["scale"] = scale_label(data.sweep, data.about.scale);
    if (data.about.published) json["published_source"] = data.about.published->source;
    json["trials"] = raw_values_json(data.sweep);
    return json_text(json);
}

}  // namespace deft::reporting
