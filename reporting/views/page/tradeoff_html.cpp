#include "reporting/views/page/tradeoff_html.h"

#include <fmt/format.h>

#include <utility>

#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/comparison/stages.h"
#include "reporting/analysis/experts/dense_multiple.h"
#include "reporting/analysis/tradeoff/tradeoff.h"
#include "reporting/analysis/tradeoff/tradeoff_sentences.h"
#include "reporting/numbers.h"
#include "reporting/views/page/tradeoff_svg.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

Cell quality_cell(const TradeoffPoint& point) {
    if (!point.interval) return Cell(score(point.quality), point.quality);
    return Cell(
        fmt::format("{} [{}, {}]", score(point.quality), score(point.interval->low), score(point.interval->high)),
        point.quality);
}

Cell difference_cell(const TradeoffPoint& point) {
    if (!point.difference) return "-";
    const auto& [value, interval] = *point.difference;
    if (!interval) return Cell(fmt::format("{:+.4g}", value), value);
    return Cell(fmt::format("{:+.4g} [{:+.4g}, {:+.4g}]", value, interval->low, interval->high), value);
}

Cell share_cell(const TradeoffPoint& point) {
    if (!point.relative) return "-";
    const auto& [share, interval] = *point.relative;
    if (!interval) return Cell(fmt::format("{:.1f}%", 100 * share), share);
    return Cell(fmt::format("{:.1f}% [{:.1f}%, {:.1f}%]", 100 * share, 100 * interval->low, 100 * interval->high),
                share);
}

Cell cost_cell(const Tradeoff& tradeoff, const TradeoffPoint& point, std::size_t axis) {
    if (!point.cost[axis]) return "-";
    for (const Resource& resource : resources()) {
        if (std::string(resource.quantity) != kCostAxes[axis].quantity) continue;
        Cell cell(resource.print(*point.cost[axis]), *point.cost[axis]);
        if (const auto share = cost_share(tradeoff, point, axis)) {
            cell.aside = ratio(*share);
            cell.text += " " + cell.aside;
        }
        return cell;
    }
    return "-";
}

}  // namespace

Table tradeoff_table(const Tradeoff& tradeoff) {
    Table table;
    table.caption = "Quality against cost: the points of the picture";
    table.columns = {{"row", Align::left},
                     {"seeds"},
                     {tradeoff.title + "\n[95% interval]"},
                     {"above the baseline\nat the same budget"}};
    const bool has_shares = !tradeoff.nothing.empty();
    if (has_shares) table.columns.push_back({"share of the baseline's\ngain over " + tradeoff.nothing});
    for (std::size_t axis = 0; axis < kCostAxes.size(); ++axis)
        if (has_cost(tradeoff, axis)) table.columns.push_back({kCostAxes[axis].title});
    for (const TradeoffLine& line : tradeoff.lines)
        for (const TradeoffPoint& point : line.points) {
            std::vector<Cell>& row = table.rows.emplace_back();
            row = {point.name,
                   point.seeds == point.asked ? fmt::format("{}", point.seeds)
                                              : fmt::format("{} of {}", point.seeds, point.asked),
                   quality_cell(point), difference_cell(point)};
            if (has_shares) row.push_back(share_cell(point));
            for (std::size_t axis = 0; axis < kCostAxes.size(); ++axis)
                if (has_cost(tradeoff, axis)) row.push_back(cost_cell(tradeoff, point, axis));
            for (Cell& cell : row) cell.flag = point.flag;
        }
    return table;
}

std::string tradeoff_html(const Results& sweep, const SweepAbout& about, const std::string& id,
                          const std::string& suffix) {
    const std::optional<Tradeoff> tradeoff = tradeoff_of(sweep, about);
    if (!tradeoff) return {};
    std::string out = fmt::format("<h2 id=\"tradeoff{}\">Quality against cost{}</h2>\n", id, html_escaped(suffix));
    for (const std::string& sentence : tradeoff_sentences(*tradeoff)) out += "<p>" + html_escaped(sentence) + "</p>\n";
    out += fmt::format(
        "<figure>\n<div class=\"scroll chart\" role=\"region\" tabindex=\"0\" aria-label=\"Quality against "
        "cost\">\n{}</div>\n"
        "<figcaption>{}</figcaption>\n</figure>\n",
        render_svg(*tradeoff, "tradeoff-figure" + id), html_escaped(description(*tradeoff)));
    if (!tradeoff->notes.empty()) out += notes_html(tradeoff->notes);
    return out + "<details><summary>Points as a table</summary>\n" + render_html(tradeoff_table(*tradeoff)) +
           "</details>\n";
}

std::optional<std::string> result_picture(const Results& sweep, const SweepAbout& about) {
    for (const StageResults& stage : stages_of(sweep)) {
        if (const std::optional<Tradeoff> tradeoff = tradeoff_of(stage.sweep, about_stage(about, stage)))
            return svg_file(render_svg(*tradeoff, "tradeoff"));
        const std::vector<Row> rows = rows_of(stage.sweep);
        if (rows.empty()) continue;
        if (const auto compared = experts_against_dense(rows, baseline_recipe(rows, about.baseline, sweep.name)))
            return svg_file(render_svg(multiple_figure(*compared)));
    }
    return std::nullopt;
}

}  // namespace deft::reporting
