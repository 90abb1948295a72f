#include "reporting/views/page/history_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "reporting/analysis/trend/history_table.h"
#include "reporting/numbers.h"
#include "reporting/views/page/history_chart.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

std::string status_class(const SeriesHistory& history) {
    return history.is(Outcome::worse) ? "slower" : history.is(Outcome::better) ? "faster" : "facts";
}

// ", newest 12.3 ms: +10.1% against the median of 24 sessions before".
std::string newest_text(const SeriesHistory& history) {
    std::string text = ", newest " + small_seconds(history.series.points.back().seconds);
    if (history.newest_ratio)
        text += fmt::format(": {:+.1f}% against the median of {} before", 100 * (*history.newest_ratio - 1),
                            counted(history.series.points.size() - 1, "session"));
    return text;
}

std::string series_caption(const SeriesHistory& history, bool names_state) {
    std::string out = fmt::format("<strong class=\"{}\">{}{}</strong>{}", status_class(history),
                                  names_state ? history.series.caches + ": " : "", status_text(history),
                                  html_escaped(newest_text(history)));
    if (history.finding && !history.is(Outcome::same)) out += "<br>" + html_escaped(history.finding->text);
    if (history.changes.size() > 1)
        for (const ChangePoint& change : history.changes) out += "<br>" + html_escaped(change_text(history, change));
    return out;
}

std::string panel_html(const HistoryChart& chart, std::size_t number) {
    std::string out = fmt::format("<figure class=\"panel\">\n<h3>{}</h3>\n<p class=\"facts\">{}</p>\n{}<figcaption>",
                                  html_escaped(chart.name), html_escaped(chart.where),
                                  history_svg(chart, fmt::format("panel-{}", number)));
    for (const SeriesHistory* history : chart.series)
        out += (history == chart.series.front() ? "" : "<br>") + series_caption(*history, chart.series.size() > 1);
    if (const std::vector<HostChange> changes = host_changes(chart); !changes.empty())
        out += "<br>" + html_escaped(fmt::format("host changed {}: {}, before {}", date(changes.back().started_ms),
                                                 changes.back().after, changes.back().before));
    return out + "</figcaption>\n</figure>\n";
}

std::string section_html(const char* title, const char* nothing, std::span<const HistoryChart> charts,
                         std::size_t number) {
    std::string out = fmt::format("<h2>{}</h2>\n", title);
    if (charts.empty()) return out + fmt::format("<p>{}</p>\n", nothing);
    out += "<div class=\"panels\">\n";
    for (const HistoryChart& chart : charts) out += panel_html(chart, number++);
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
         "Hot, cold and rotating caches of a case share a chart: each in percent of its own median before its newest "
         "session.",
         "A tick below the axis: the code is another than in the session before. A dotted line: the host has another "
         "kernel, system or driver. Another processor, memory or compiler has a chart of its own.",
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

bool is_quiet(const SeriesHistory& history) {
    return status_text(history) != "changed before" &&
           (!history.finding || history.is(Outcome::same) || history.is(Outcome::missing));
}

// Such charts come first, as their series do.
bool has_changed(const HistoryChart& chart) {
    return !std::all_of(chart.series.begin(), chart.series.end(),
                        [](const SeriesHistory* history) { return is_quiet(*history); });
}

}  // namespace

std::string render_history_page(std::span<const SeriesHistory> histories) {
    const std::vector<HistoryChart> charts = history_charts(histories);
    const auto changed =
        static_cast<std::size_t>(std::partition_point(charts.begin(), charts.end(), has_changed) - charts.begin());
    const std::span<const HistoryChart> all = charts;
    std::string out = page_head("History of benchmark times") + summary_html(histories);
    out += section_html("Changed", "No series has changed its level.", all.first(changed), 1);
    out += section_html("Not changed", "All of them have.", all.subspan(changed), changed + 1);
    out += "<h2>Where it was measured</h2>\n" + render_html(environments_table(histories));
    out += "<h2>How to read this</h2>\n" + method_html();
    out +=
        "<details><summary>All series as a table</summary>\n" + render_html(history_table(histories)) + "</details>\n";
    return out + page_end();
}

}  // namespace deft::reporting
