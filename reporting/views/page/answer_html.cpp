#include "reporting/views/page/answer_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reporting/analysis/comparison/stages.h"
#include "reporting/analysis/quality/quality_check.h"
#include "reporting/numbers.h"
#include "reporting/text.h"
#include "reporting/views/render/figure.h"
#include "reporting/views/render/html.h"
#include "reporting/views/screen/screen.h"
#include "reporting/views/screen/screen_answer.h"
#include "reporting/views/screen/screen_rows.h"

namespace deft::reporting {

namespace {

constexpr double kDifferencesWidth = 980, kRowHeight = 28, kRowsTop = 30, kBelowRows = 46;
constexpr double kValuesWidth = 300;  // right of the plot
constexpr double kNamesGap = 14, kLeastNames = 90, kMostNames = 270;
constexpr std::size_t kMostBars = 24;

// A row of the picture.
struct Bar {
    const ScreenRow* row = nullptr;
    std::string name;
    double value = 0, low = 0, high = 0;  // low == high: without an interval
};

std::string name_of_row(const ScreenRow& row) {
    return row.measured->axes.has_budget ? row.label + " at " + row.measured->axes.budget_text() : row.label;
}

// Rows at the largest budgets first where there are more than a reader takes in.
std::vector<Bar> bars_of(const ScreenRows& rows, std::size_t& left_out) {
    std::vector<Bar> bars;
    for (const bool full : {true, false})
        for (const ScreenRow& row : rows.rows) {
            if (!row.difference || !std::isfinite(row.difference->value) || row.is_full != full) continue;
            if (bars.size() == kMostBars) {
                ++left_out;
                continue;
            }
            const QualityDifference& difference = *row.difference;
            bars.push_back({&row, name_of_row(row), difference.value,
                            difference.interval ? difference.interval->low : difference.value,
                            difference.interval ? difference.interval->high : difference.value});
        }
    return bars;
}

// The baseline's mean at the largest budget; nothing where it has none.
std::optional<double> baseline_quality(const ScreenRows& rows) {
    for (const ScreenRow& row : rows.rows)
        if (row.is_baseline && row.is_full && row.quality) return row.quality;
    return std::nullopt;
}

// Harm that deft check quality accepts, in the measure's unit; 0 where it is unknown.
double margin_of(const ScreenRows& rows) {
    const QualityRule rule;
    if (rows.measure->improves == Improves::upwards) return rule.score_margin;
    const std::optional<double> quality = baseline_quality(rows);
    return quality ? rule.loss_margin * std::abs(*quality) : 0;
}

const char* class_of(RowVerdict verdict) {
    switch (verdict) {
        case RowVerdict::better:
            return "better";
        case RowVerdict::worse:
            return "worse";
        default:
            return "open";
    }
}

std::string words_of(const Bar& bar) {
    const std::string verdict = name(bar.row->verdict);
    std::string text = fmt::format("{:+.3f}", bar.value);
    if (bar.row->difference->interval) text += fmt::format(" [{:+.3f}, {:+.3f}]", bar.low, bar.high);
    return verdict.empty() ? text : text + " " + verdict;
}

std::string difference_svg(const std::vector<Bar>& bars, double margin, const std::string& id, const std::string& title,
                           const std::string& axis_title) {
    double names = kLeastNames;
    std::vector<double> values = {0, -margin, margin};
    for (const Bar& bar : bars) {
        names = std::max(names, 1.08 * svg_text_width(bar.name));
        values.insert(values.end(), {bar.low, bar.high});
    }
    const double left = std::min(names, kMostNames) + kNamesGap, right = kDifferencesWidth - kValuesWidth;
    const double bottom = kRowsTop + kRowHeight * static_cast<double>(bars.size()), height = bottom + kBelowRows;
    const Axis axis = axis_for(values, std::numeric_limits<double>::infinity());
    const auto px = [&](double value) { return left + place_on(axis, value) * (right - left); };
    std::string out =
        fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}\">\n<title id=\"{}\">{}</title>\n",
                    svg_number(kDifferencesWidth), svg_number(height), id, id, html_escaped(title));
    if (margin > 0)
        out += fmt::format("<path class=\"margin\" d=\"M{0} {2}H{1}V{3}H{0}z\"/>\n", svg_number(px(-margin)),
                           svg_number(px(margin)), svg_number(kRowsTop), svg_number(bottom));
    std::string grid, labels;
    for (const Tick& tick : ticks(axis, 5)) {
        grid += fmt::format("M{} {}V{}", svg_number(px(tick.value)), svg_number(kRowsTop), svg_number(bottom + 5));
        labels += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}{}</text>", svg_number(px(tick.value)),
                              svg_number(bottom + 20), tick.value > 0 ? "+" : "", tick.text);
    }
    labels += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", svg_number((left + right) / 2),
                          svg_number(height - 8), html_escaped(axis_title));
    out += fmt::format("<path class=\"grid\" d=\"{}\"/>\n<path class=\"frame\" d=\"M{} {}V{}\"/>\n<g>{}</g>\n", grid,
                       svg_number(px(0)), svg_number(kRowsTop - 8), svg_number(bottom), labels);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const Bar& bar = bars[i];
        const double y = kRowsTop + kRowHeight * (static_cast<double>(i) + 0.5);
        out += fmt::format("<g class=\"{}\">", class_of(bar.row->verdict));
        if (bar.low < bar.high)
            out += fmt::format("<path class=\"bar\" d=\"M{0} {2}H{1}M{0} {3}v8M{1} {3}v8\"/>", svg_number(px(bar.low)),
                               svg_number(px(bar.high)), svg_number(y), svg_number(y - 4));
        out += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4.5\"/></g>", svg_number(px(bar.value)), svg_number(y));
        out += fmt::format(
            "<text x=\"{}\" y=\"{}\" dy=\"4\" text-anchor=\"end\">{}</text>"
            "<text x=\"{}\" y=\"{}\" dy=\"4\">{}</text>\n",
            svg_number(left - kNamesGap), svg_number(y), html_escaped(bar.name), svg_number(right + 16), svg_number(y),
            html_escaped(words_of(bar)));
    }
    return out + "</svg>\n";
}

std::string difference_html(const ScreenRows& rows, const std::string& id, const std::string& suffix) {
    if (!rows.measure) return {};
    std::size_t left_out = 0;
    const std::vector<Bar> bars = bars_of(rows, left_out);
    if (bars.empty()) return {};
    const double margin = margin_of(rows);
    const bool down = rows.measure->improves == Improves::downwards;
    const std::string title = "Difference to the baseline at equal budget" + suffix;
    const std::string axis =
        fmt::format("{}, minus the baseline's ({} is better)", rows.measure->title, down ? "left" : "right");
    const bool has_intervals = std::any_of(bars.begin(), bars.end(), [](const Bar& bar) { return bar.low < bar.high; });
    std::string caption =
        fmt::format("Each row's {} minus the baseline's on the same budget{}.", rows.measure->title,
                    has_intervals ? ", with its 95% interval over seeds" : "; intervals need three seeds per row");
    if (margin > 0) caption += fmt::format(" The shaded margin is what deft check quality accepts: {:.2g}.", margin);
    if (left_out > 0) caption += fmt::format(" {} at smaller budgets are in the table.", counted(left_out, "row"));
    return fmt::format(
        "<h2 id=\"difference{}\">{}</h2>\n<figure>\n<div class=\"scroll chart\" role=\"region\" tabindex=\"0\" "
        "aria-label=\"{}\">\n{}</div>\n<figcaption>{}</figcaption>\n</figure>\n",
        id, html_escaped(title), html_escaped(title),
        difference_svg(bars, margin, "difference-figure" + id, title, axis), html_escaped(caption));
}

}  // namespace

std::string answer_html(const ReportData& data, const std::string& suffix) {
    if (data.sweep.trials.empty()) return {};
    const StageResults stage = answering_stage(data);
    const SweepAbout about = about_stage(data.about, stage);
    const ScreenRows rows = screen_rows(stage.sweep, about);
    std::string out = "<section class=\"answer\" aria-label=\"Answer\">\n";
    for (const ScreenEntry& entry : screen_entries(data, rows, stage.sweep, about, {})) {
        out += fmt::format("<p><strong>{}</strong> {}", html_escaped(entry.label), html_escaped(entry.text));
        if (!entry.command.empty()) out += fmt::format(" <code>{}</code>", html_escaped(entry.command));
        out += "</p>\n";
    }
    Table table = screen_table(rows, stage.sweep, about, kMostBars, 0);
    table.caption = (stage.name.empty() ? "Recipes" : "Recipes of stage " + stage.name) + suffix;
    table.key_columns = 1;
    return out + "</section>\n" + difference_html(rows, "", suffix) + render_html(table);
}

std::string difference_html(const Results& sweep, const SweepAbout& about, const std::string& id,
                            const std::string& suffix) {
    return difference_html(screen_rows(sweep, about), id, suffix);
}

}  // namespace deft::reporting
