#include "reporting/views/page/tradeoff_svg.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/text.h"
#include "reporting/analysis/statistics/contrast.h"
#include "reporting/text.h"
#include "reporting/views/render/figure.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

constexpr double kChartsWidth = 980, kChartsHeight = 300;  // of the charts with their titles, below the legend
constexpr double kChartsLeft = 74, kChartsRight = 66, kChartGap = 26;  // beside the charts, and between them
constexpr double kPlotHeight = 244;
constexpr double kLegendRow = 22, kLegendTop = 16;
constexpr double kSample = 40;        // of a line in the legend, with the gap after it
constexpr double kMostSideways = 36;  // from the first of them to the last
constexpr double kSideways = 6;       // between the bars of lines that were trained at one budget
constexpr double kNever = std::numeric_limits<double>::infinity();

// A unit in which all values of an axis read well.
struct AxisUnit {
    double of_value = 1;
    const char* suffix = "";
};

AxisUnit unit_of(std::size_t axis, double greatest) {
    if (std::string(kCostAxes[axis].quantity) != "train hours") return {};
    if (greatest < 120) return {1, " (seconds)"};
    return greatest < 7200 ? AxisUnit{60, " (minutes)"} : AxisUnit{3600, " (hours)"};
}

struct Chart {
    std::size_t cost = 0;  // of kCostAxes
    Axis x;
    AxisUnit unit;
    double left = 0, right = 0;

    double px(double value) const { return left + place_on(x, value / unit.of_value) * (right - left); }
};

struct ChartsLayout {
    std::vector<Chart> charts;
    Axis y;
    bool down_is_better = true;
    double top = 0;  // of the plots

    double bottom() const { return top + kPlotHeight; }
    double py(double value) const {
        const double place = place_on(y, value);
        return down_is_better ? top + place * kPlotHeight : bottom() - place * kPlotHeight;
    }
};

// A published share has a place only on an axis of shares.
bool has_published_point(const Tradeoff& tradeoff) {
    return tradeoff.published && tradeoff.scale.nothing;
}

// The published point's position on a chart, in the chart's cost; nothing where it has none.
std::optional<double> published_cost(const Tradeoff& tradeoff, std::size_t axis) {
    if (!has_published_point(tradeoff) || !kCostAxes[axis].is_published || !tradeoff.reference.cost[axis])
        return std::nullopt;
    return *tradeoff.reference.cost[axis] / tradeoff.published->saving;
}

Chart chart_of(const Tradeoff& tradeoff, std::size_t axis) {
    std::vector<double> costs;
    for (const TradeoffLine& line : tradeoff.lines)
        for (const TradeoffPoint& point : line.points)
            if (point.cost[axis]) costs.push_back(*point.cost[axis]);
    if (const auto cost = published_cost(tradeoff, axis)) costs.push_back(*cost);
    const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
    Chart chart;
    chart.cost = axis;
    chart.unit = unit_of(axis, *most);
    const double margin = std::max(1.12, std::pow(*most / *least, 0.05));
    chart.x = {true, *least / chart.unit.of_value / margin, *most / chart.unit.of_value * margin};
    return chart;
}

Axis quality_axis(const Tradeoff& tradeoff) {
    std::vector<double> values;
    for (const TradeoffLine& line : tradeoff.lines)
        for (const TradeoffPoint& point : line.points) {
            values.push_back(point.quality);
            if (point.interval) values.insert(values.end(), {point.interval->low, point.interval->high});
        }
    if (has_published_point(tradeoff)) values.push_back(value_at_share(tradeoff.published->share, tradeoff.scale));
    return axis_for(values, kNever);
}

std::string legend_text(const PublishedTradeoff& published) {
    return fmt::format("published: {:g}% of the quality at 1/{:g}", 100 * published.share, published.saving);
}

// The names of the lines, and of the published point after them, in rows of what fits.
struct LegendItem {
    std::string text;
    const TradeoffLine* line = nullptr;  // null: the published point
    double x = 0, y = 0;
};

std::vector<LegendItem> legend_of(const Tradeoff& tradeoff) {
    std::vector<LegendItem> items;
    for (const TradeoffLine& line : tradeoff.lines) items.push_back({line.name, &line});
    if (has_published_point(tradeoff)) items.push_back({legend_text(*tradeoff.published)});
    double x = kChartsLeft, y = kLegendTop;
    for (LegendItem& item : items) {
        const double width = kSample + svg_text_width(item.text) + 20;
        if (x > kChartsLeft && x + width > kChartsWidth) {
            x = kChartsLeft;
            y += kLegendRow;
        }
        item.x = x;
        item.y = y;
        x += width;
    }
    return items;
}

ChartsLayout charts_layout(const Tradeoff& tradeoff, double legend_bottom) {
    ChartsLayout layout;
    layout.y = quality_axis(tradeoff);
    layout.down_is_better = tradeoff.scale.improves == Improves::downwards;
    layout.top = legend_bottom + 16;
    for (std::size_t axis = 0; axis < kCostAxes.size(); ++axis)
        if (has_cost(tradeoff, axis)) layout.charts.push_back(chart_of(tradeoff, axis));
    const auto charts = static_cast<double>(layout.charts.size());
    const double width = (kChartsWidth - kChartsLeft - kChartsRight - kChartGap * (charts - 1)) / charts;
    for (std::size_t i = 0; i < layout.charts.size(); ++i) {
        layout.charts[i].left = kChartsLeft + static_cast<double>(i) * (width + kChartGap);
        layout.charts[i].right = layout.charts[i].left + width;
    }
    return layout;
}

std::string text_svg(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
    return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>", svg_number(x), svg_number(y), anchor,
                       more, html_escaped(text));
}

// One chart; the words of the quality's ticks are on the left of the first.
std::string axes_svg(const ChartsLayout& layout, const Chart& chart, bool is_first) {
    std::string grid, labels;
    for (const Tick& tick : ticks(layout.y, 8)) {
        std::string words;
        add_tick_svg(tick, chart.left, chart.right, layout.py(tick.value), 8, grid, words);
        if (is_first) labels += words;
    }
    for (const Tick& tick : ticks(chart.x, 3)) {
        const double x = chart.px(tick.value * chart.unit.of_value);
        grid += fmt::format("M{} {}v5", svg_number(x), svg_number(layout.bottom()));
        labels += text_svg(x, layout.bottom() + 19, "middle", tick.text);
    }
    labels += text_svg((chart.left + chart.right) / 2, layout.bottom() + 40, "middle",
                       std::string(kCostAxes[chart.cost].title) + chart.unit.suffix);
    return fmt::format("<path class=\"grid\" d=\"{}\"/><path class=\"frame\" d=\"M{} {}V{}H{}\"/><g>{}</g>\n", grid,
                       svg_number(chart.left), svg_number(layout.top), svg_number(layout.bottom()),
                       svg_number(chart.right), labels);
}

// Right of the last chart, in shares of the baseline's gain, where there are any.
std::string share_axis_svg(const Tradeoff& tradeoff, const ChartsLayout& layout) {
    if (!tradeoff.scale.nothing) return {};
    const double right = layout.charts.back().right;
    const auto share_at = [&](double value) { return relative_quality({value}, tradeoff.scale)->share; };
    Axis shares{false, share_at(layout.y.from), share_at(layout.y.to)};
    if (shares.from > shares.to) std::swap(shares.from, shares.to);
    std::string out;
    for (const Tick& tick : ticks(shares, 5)) {
        const double value = value_at_share(tick.value, tradeoff.scale), y = layout.py(value);
        if (!(value >= layout.y.from && value <= layout.y.to)) continue;
        const double percent = std::round(tick.value * 1e4) / 100 + 0.0;  // 0 in place of -0
        out += fmt::format("<path class=\"frame\" d=\"M{} {}h5\"/>", svg_number(right), svg_number(y)) +
               text_svg(right + 9, y, "start", fmt::format("{:g}%", percent), " dy=\"4\"");
    }
    return out + fmt::format(
                     "<text class=\"muted\" transform=\"translate({} {}) rotate(90)\" text-anchor=\"middle\">"
                     "of the baseline's gain over {}</text>\n",
                     svg_number(kChartsWidth - 16), svg_number((layout.top + layout.bottom()) / 2),
                     html_escaped(tradeoff.nothing));
}

bool is_open(const TradeoffPoint& point) {
    return point.seeds < point.asked;
}

std::string point_svg(const TradeoffLine& line, const TradeoffPoint& point, const ChartsLayout& layout, double x) {
    std::string out;
    if (point.interval) {
        const double high = layout.py(point.interval->high), low = layout.py(point.interval->low);
        out += fmt::format("<path class=\"bar\" d=\"M{0} {1}V{2}M{3} {1}h8M{3} {2}h8\"/>", svg_number(x),
                           svg_number(high), svg_number(low), svg_number(x - 4));
    }
    const std::string marker = marker_svg(line.style, x, layout.py(point.quality), 4);
    out += is_open(point) ? "<g class=\"mark\">" + marker + "</g>" : marker;
    if (point.counts()) return out;
    return "<g class=\"flag\">" + out + text_svg(x + 6, layout.py(point.quality) - 4, "start", "†") + "</g>";
}

// Lines that were trained at one budget have paid the same tokens: there they are drawn side by side.
double sideways(const Tradeoff& tradeoff, const Chart& chart, std::size_t line) {
    if (chart.cost != 0) return 0;
    const double gaps = static_cast<double>(tradeoff.lines.size()) - 1;
    return std::min(kSideways, kMostSideways / std::max(gaps, 1.0)) * (static_cast<double>(line) - gaps / 2);
}

std::string line_svg(const Tradeoff& tradeoff, std::size_t index, const Chart& chart, const ChartsLayout& layout) {
    const TradeoffLine& line = tradeoff.lines[index];
    std::string path, points;
    for (const TradeoffPoint& point : line.points) {
        if (!point.cost[chart.cost]) continue;
        const double x = chart.px(*point.cost[chart.cost]) + sideways(tradeoff, chart, index);
        if (point.counts())
            path +=
                fmt::format("{}{} {}", path.empty() ? 'M' : 'L', svg_number(x), svg_number(layout.py(point.quality)));
        points += point_svg(line, point, layout, x);
    }
    if (points.empty()) return {};
    const std::string drawn =
        path.empty() ? "" : fmt::format("<path class=\"line\" d=\"{}\"{}/>", path, dash_svg(line.dash));
    return fmt::format("<g class=\"s{}\">{}{}</g>\n", line.style % kLineColours, drawn, points);
}

std::string star_svg(double x, double y) {
    return fmt::format("<path class=\"published\" d=\"M{} {}l3 7 7 3 -7 3 -3 7 -3 -7 -7 -3 7 -3z\"/>", svg_number(x),
                       svg_number(y - 10));
}

std::string published_svg(const Tradeoff& tradeoff, const Chart& chart, const ChartsLayout& layout) {
    const std::optional<double> cost = published_cost(tradeoff, chart.cost);
    if (!cost) return {};
    return star_svg(chart.px(*cost), layout.py(value_at_share(tradeoff.published->share, tradeoff.scale)));
}

std::string legend_svg(const std::vector<LegendItem>& items) {
    std::string out;
    for (const LegendItem& item : items) {
        if (item.line != nullptr)
            out += fmt::format("<g class=\"s{}\"><path class=\"line\" d=\"M{} {}h30\"{}/>{}</g>",
                               item.line->style % kLineColours, svg_number(item.x), svg_number(item.y),
                               dash_svg(item.line->dash), marker_svg(item.line->style, item.x + 15, item.y, 4));
        else
            out += star_svg(item.x + 20, item.y);
        out += text_svg(item.x + kSample - 4, item.y, "start", item.text, " dy=\"4\"");
    }
    return out + "\n";
}

}  // namespace

std::string description(const Tradeoff& tradeoff) {
    std::vector<std::string> open, flagged;
    bool any_interval = false;
    for (const TradeoffLine& line : tradeoff.lines)
        for (const TradeoffPoint& point : line.points) {
            any_interval = any_interval || point.interval;
            if (!point.counts()) flagged.push_back(point.name);
            if (is_open(point)) open.push_back(fmt::format("{} ({} of {})", point.name, point.seeds, point.asked));
        }
    std::string text = fmt::format("Up is better: {} against what training cost, {}. Points are means over seeds",
                                   tradeoff.title, counted(tradeoff.lines.size(), "line"));
    text += any_interval ? ", bars their 95% intervals by Student's t; rows of fewer than three seeds have none."
                         : ", without intervals, for no row has three.";
    text += " By tokens, lines that were trained at one budget are drawn side by side.";
    if (!open.empty()) text += fmt::format(" Open markers have fewer seeds than asked: {}.", fmt::join(open, ", "));
    if (!flagged.empty())
        text += fmt::format(" Grey points with a dagger do not count as measured: {}.", fmt::join(flagged, ", "));
    if (has_published_point(tradeoff))
        text +=
            " The star is published, not measured here: it marks the paper's share of the baseline's quality, "
            "by its own measure, and of its cost.";
    return text;
}

std::string render_svg(const Tradeoff& tradeoff, const std::string& id) {
    const std::vector<LegendItem> legend = legend_of(tradeoff);
    const ChartsLayout layout = charts_layout(tradeoff, legend.back().y);
    std::string out = fmt::format(
        "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-labelledby=\"{2}-title {2}-desc\">\n"
        "<title id=\"{2}-title\">Quality against cost</title>\n<desc id=\"{2}-desc\">{3}</desc>\n",
        svg_number(kChartsWidth), svg_number(layout.top + kChartsHeight), html_escaped(id),
        html_escaped(description(tradeoff)));
    out += legend_svg(legend);
    for (const Chart& chart : layout.charts) out += axes_svg(layout, chart, &chart == &layout.charts.front());
    out += fmt::format("<text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">{}{}</text>\n",
                       svg_number((layout.top + layout.bottom()) / 2), html_escaped(tradeoff.title),
                       layout.down_is_better ? " (lower is up)" : "");
    out += share_axis_svg(tradeoff, layout);
    for (const Chart& chart : layout.charts) {
        out += published_svg(tradeoff, chart, layout);
        for (std::size_t line = 0; line < tradeoff.lines.size(); ++line) out += line_svg(tradeoff, line, chart, layout);
    }
    return out + "</svg>\n";
}

}  // namespace deft::reporting
