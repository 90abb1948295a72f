#include "reporting/views/page/history_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/median.h"
#include "base/text.h"
#include "reporting/analysis/trend/history_table.h"
#include "reporting/numbers.h"
#include "reporting/views/render/figure.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

std::string status_class(const SeriesHistory& history) {
    return history.is(Outcome::worse) ? "slower" : history.is(Outcome::better) ? "faster" : "facts";
}

// "newest 12.3 ms, 2024-05-26 (0123456789ab): 1.101x the median of 24 sessions before".
std::string newest_text(const SeriesHistory& history) {
    const SessionPoint& newest = history.series.points.back();
    std::string text =
        fmt::format("newest {}, {}", small_seconds(newest.seconds), session_text(newest.started_ms, newest.git_sha));
    if (history.newest_ratio)
        text += fmt::format(": {:.3f}x the median of {} before", *history.newest_ratio,
                            counted(history.series.points.size() - 1, "session"));
    return text;
}

std::string panel_html(const SeriesHistory& history, std::size_t number) {
    std::string out = fmt::format(
        "<figure class=\"panel\">\n<h3>{}</h3>\n<p class=\"facts\">{}</p>\n{}<figcaption><strong class=\"{}\">{}"
        "</strong>{}<br>{}",
        html_escaped(history.series.name), html_escaped(history.series.where),
        panel_svg(history, fmt::format("panel-{}", number)), status_class(history), status_text(history),
        history.finding ? ": " + html_escaped(history.finding->text) : "", html_escaped(newest_text(history)));
    if (history.changes.size() > 1)
        for (const ChangePoint& change : history.changes) out += "<br>" + html_escaped(change_text(history, change));
    return out + "</figcaption>\n</figure>\n";
}

std::string section_html(const char* title, const char* nothing, std::span<const SeriesHistory> histories,
                         std::size_t first, std::size_t last) {
    std::string out = fmt::format("<h2>{}</h2>\n", title);
    if (first == last) return out + fmt::format("<p>{}</p>\n", nothing);
    out += "<div class=\"panels\">\n";
    for (std::size_t i = first; i < last; ++i) out += panel_html(histories[i], i + 1);
    return out + "</div>\n";
}

std::string summary_html(std::span<const SeriesHistory> histories) {
    const auto count = [&](const auto& is) {
        return static_cast<std::size_t>(std::count_if(histories.begin(), histories.end(), is));
    };
    const std::size_t slower = count([](const SeriesHistory& one) { return one.is(Outcome::worse); });
    const std::size_t faster = count([](const SeriesHistory& one) { return one.is(Outcome::better); });
    std::int64_t newest_ms = 0;
    for (const SeriesHistory& one : histories) newest_ms = std::max(newest_ms, one.series.points.back().started_ms);
    return fmt::format(
        "<h1>History of benchmark times</h1>\n<p><strong>{} slower, {} faster</strong> of {} in recent sessions; "
        "newest session {}.</p>\n",
        slower, faster, counted(histories.size(), "series", "series"), histories.empty() ? "-" : date(newest_ms));
}

std::string method_html() {
    const TrendRule rule;
    return notes_html(
        {fmt::format("A point: the median over a session's launches of one build; the bar: its least and greatest "
                     "launch, of a single launch the median absolute deviation of its repetitions. Sessions appear "
                     "equally far apart, the newest {} are drawn. Lower is faster. Point at a session to see its "
                     "commit.",
                     most_drawn_sessions()),
         fmt::format(
             "A dashed line: a change of level of {:.0f}% or more (E-divisive in windows of {} sessions, Welch's "
             "test at {}); beside it the mean of the sessions on either level.",
             100 * rule.change.smallest_change, rule.change.window, rule.change.final_alpha),
         fmt::format("Slower and faster are what deft check trend says: a change with {} to {} sessions on its new "
                     "level, or {} sessions in a row beyond what those before them predict, significant after "
                     "correction for the "
                     "number of series (Benjamini-Hochberg, {:.0f}%).",
                     rule.alert.after, rule.alert.recent, rule.prediction.hits, 100 * rule.false_discovery_rate)});
}

}  // namespace

std::string render_history_page(std::span<const SeriesHistory> histories) {
    const auto quiet = std::find_if(histories.begin(), histories.end(), [](const SeriesHistory& one) {
        return status_text(one) != "changed before" &&
               (!one.finding || one.is(Outcome::same) || one.is(Outcome::missing));
    });
    const auto changed = static_cast<std::size_t>(quiet - histories.begin());
    std::string out = page_head("History of benchmark times") + summary_html(histories);
    out += section_html("Changed", "No series has changed its level.", histories, 0, changed);
    out += section_html("Not changed", "All of them have.", histories, changed, histories.size());
    out += "<h2>Where it was measured</h2>\n" + render_html(environments_table(histories));
    out += "<h2>How to read this</h2>\n" + method_html();
    out +=
        "<details><summary>All series as a table</summary>\n" + render_html(history_table(histories)) + "</details>\n";
    return out + page_end();
}

namespace {

constexpr double kPanelWidth = 360, kPanelHeight = 178;
constexpr double kPanelTop = 34, kPanelBottom = 150,
                 kPanelRight = 350;      // of the plot; above it two lines for the changes' sizes
constexpr double kPanelCharacter = 6.4;  // of a label, about
constexpr std::size_t kMostSessions = 80;
constexpr double kLeastSpan = 0.06;  // of the axis, as a fraction of the middle: noise should look small

struct Unit {
    double scale;
    const char* name;
};

Unit unit_for(double seconds) {
    for (const Unit unit : {Unit{1e9, "ns"}, {1e6, "us"}, {1e3, "ms"}})
        if (seconds * unit.scale < 1000) return unit;
    return {1, "s"};
}

// From a series to places in the panel.
struct Panel {
    const SeriesHistory& history;
    std::size_t first = 0;  // drawn session
    Unit unit;
    Axis y;
    std::vector<Tick> y_ticks;
    double left = 40;

    const std::vector<SessionPoint>& points() const { return history.series.points; }
    double px(double index) const {
        const double sessions = static_cast<double>(points().size() - first);
        return left + (index - static_cast<double>(first) + 0.5) * (kPanelRight - left) / sessions;
    }
    double px(std::size_t index) const { return px(static_cast<double>(index)); }
    double py(double seconds) const {
        return kPanelBottom - place_on(y, seconds * unit.scale) * (kPanelBottom - kPanelTop);
    }
};

// Holds all points and the inner part of their spread: one wild launch must not flatten the rest.
Axis axis_of(const std::vector<SessionPoint>& points, std::size_t first, const Unit& unit) {
    std::vector<double> values;
    for (std::size_t i = first; i < points.size(); ++i) values.push_back(points[i].seconds * unit.scale);
    const double middle = median(values);
    values.push_back(middle * (1 - kLeastSpan));
    values.push_back(middle * (1 + kLeastSpan));
    return axis_for(values, std::numeric_limits<double>::infinity());
}

Panel panel_of(const SeriesHistory& history) {
    const std::vector<SessionPoint>& points = history.series.points;
    Panel panel{history, points.size() > kMostSessions ? points.size() - kMostSessions : 0, {}, {}, {}};
    double most = 0;
    for (std::size_t i = panel.first; i < points.size(); ++i) most = std::max(most, points[i].seconds);
    panel.unit = unit_for(most * (1 + kLeastSpan));
    panel.y = axis_of(points, panel.first, panel.unit);
    panel.y_ticks = ticks(panel.y, 4);
    for (const Tick& tick : panel.y_ticks)
        panel.left = std::max(panel.left, 12 + kPanelCharacter * static_cast<double>(tick.text.size()));
    return panel;
}

std::string axes_svg(const Panel& panel) {
    std::string grid, labels;
    for (const Tick& tick : panel.y_ticks)
        add_tick_svg(tick, panel.left, kPanelRight, panel.py(tick.value / panel.unit.scale), 6, grid, labels);
    labels += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" class=\"muted\">{}</text>",
                          svg_number(panel.left - 6), svg_number(kPanelTop - 12), panel.unit.name);
    const SessionPoint &oldest = panel.points()[panel.first], &newest = panel.points().back();
    labels += fmt::format("<text x=\"{}\" y=\"{}\" class=\"muted\">{}</text>", svg_number(panel.left),
                          svg_number(kPanelHeight - 10), date(oldest.started_ms));
    if (panel.points().size() - panel.first > 1)
        labels += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" class=\"muted\">{}</text>",
                              svg_number(kPanelRight), svg_number(kPanelHeight - 10), date(newest.started_ms));
    return fmt::format("<path class=\"grid\" d=\"{}\"/><path class=\"frame\" d=\"M{} {}H{}\"/>{}\n", grid,
                       svg_number(panel.left), svg_number(kPanelBottom), svg_number(kPanelRight), labels);
}

// Between two changes, the mean of the sessions there.
std::string levels_svg(const Panel& panel) {
    const std::vector<ChangePoint>& changes = panel.history.changes;
    std::string path;
    for (std::size_t i = 0; i <= changes.size() && !changes.empty(); ++i) {
        const std::size_t begin = i == 0 ? 0 : changes[i - 1].index,
                          end = i == changes.size() ? panel.points().size() : changes[i].index;
        if (end <= panel.first) continue;
        const double level = i == changes.size() ? changes.back().after : changes[i].before;
        path += fmt::format("M{} {}H{}", svg_number(panel.px(static_cast<double>(std::max(begin, panel.first)) - 0.5)),
                            svg_number(panel.py(level)), svg_number(panel.px(static_cast<double>(end) - 0.5)));
    }
    return path.empty() ? "" : fmt::format("<path class=\"level\" d=\"{}\"/>\n", path);
}

std::string point_title(const SessionPoint& point) {
    return html_escaped(fmt::format("{}: {}, {}, {} to {}", session_text(point.started_ms, point.git_sha),
                                    small_seconds(point.seconds), counted(point.launches, "launch", "launches"),
                                    small_seconds(point.low), small_seconds(point.high)));
}

std::string points_svg(const Panel& panel) {
    std::string line, spreads, circles;
    for (std::size_t i = panel.first; i < panel.points().size(); ++i) {
        const SessionPoint& point = panel.points()[i];
        const std::string x = svg_number(panel.px(i)), y = svg_number(panel.py(point.seconds));
        const double low = std::clamp(panel.py(point.low), kPanelTop - 4, kPanelBottom),
                     high = std::clamp(panel.py(point.high), kPanelTop - 4, kPanelBottom);
        line += fmt::format("{}{} {}", line.empty() ? 'M' : 'L', x, y);
        spreads += fmt::format("M{} {}V{}", x, svg_number(low), svg_number(high));
        const bool newest = i + 1 == panel.points().size();
        circles += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"><title>{}</title></circle>", x, y,
                               newest ? "3.5" : "2", point_title(point));
    }
    return fmt::format("<g class=\"s1\"><path class=\"spread\" d=\"{}\"/><path class=\"line\" d=\"{}\"/>{}</g>\n",
                       spreads, line, circles);
}

std::string size_text(const ChangePoint& change) {
    const bool slower = change.ratio() > 1;
    return fmt::format("{} {:.3g}x", slower ? "▲" : "▼", change.ratio());
}

// On the first of two lines where it does not run into the one before; a third would find no place.
std::string changes_svg(const Panel& panel) {
    std::string out;
    double ends[] = {0, 0};  // of the labels on either line
    for (const ChangePoint& change : panel.history.changes) {
        if (change.index <= panel.first) continue;
        const double x = panel.px(static_cast<double>(change.index) - 0.5);
        const char* style = change.ratio() > 1 ? "slower" : "faster";
        out += fmt::format("<path class=\"change {}\" d=\"M{} {}V{}\"/>", style, svg_number(x),
                           svg_number(kPanelTop - 6), svg_number(kPanelBottom));
        const std::string text = size_text(change);
        const double width = kPanelCharacter * 8,
                     middle = std::clamp(x, panel.left + width / 2, kPanelRight - width / 2);
        for (int row = 0; row < 2; ++row) {
            if (middle - width / 2 < ends[row] + 4) continue;
            ends[row] = middle + width / 2;
            out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" class=\"{}\">{}</text>",
                               svg_number(middle), svg_number(kPanelTop - 10 - 13 * row), style, text);
            break;
        }
    }
    return out.empty() ? out : out + "\n";
}

}  // namespace

std::size_t most_drawn_sessions() {
    return kMostSessions;
}

std::string panel_svg(const SeriesHistory& history, const std::string& id) {
    const Panel panel = panel_of(history);
    return fmt::format(
               "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}\">\n<title id=\"{}\">{}</title>\n",
               svg_number(kPanelWidth), svg_number(kPanelHeight), html_escaped(id), html_escaped(id),
               html_escaped(fmt::format("{}, {}: {}, newest {}, {}", history.series.name, history.series.where,
                                        counted(history.series.points.size(), "session"),
                                        small_seconds(history.series.points.back().seconds), status_text(history)))) +
           axes_svg(panel) + levels_svg(panel) + changes_svg(panel) + points_svg(panel) + "</svg>\n";
}

}  // namespace deft::reporting
