#include "reporting/history/history_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "reporting/figures_page.h"
#include "reporting/history/history_table.h"
#include "reporting/history/panel_svg.h"
#include "reporting/html_text.h"
#include "reporting/numbers.h"

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
        "<h1>History of benchmark times</h1>\n<p><strong>{} slower, {} faster</strong> of {} of late; "
        "newest session {}.</p>\n",
        slower, faster, counted(histories.size(), "series", "series"), histories.empty() ? "-" : date(newest_ms));
}

std::string method_html() {
    const TrendRule rule;
    return notes_html(
        {fmt::format("A point: the median over a session's launches of one build; the bar: its least and greatest "
                     "launch, of a single launch the median absolute deviation of its repetitions. Sessions stand "
                     "equally far apart, the newest {} are drawn. Lower is faster. Point at a session to see its "
                     "commit.",
                     most_drawn_sessions()),
         fmt::format(
             "A dashed line: a change of level of {:.0f}% or more (E-divisive in windows of {} sessions, Welch's "
             "test at {}); beside it the mean of the sessions on either level.",
             100 * rule.change.smallest_change, rule.change.window, rule.change.final_alpha),
         fmt::format("Slower and faster are what deft check trend says: a change with {} to {} sessions on its new "
                     "level, or {} sessions in a row beyond what those before them predict, that stands up to the "
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
    std::string out = page_head("History of benchmark times") + "<body>\n<main>\n" + summary_html(histories);
    out += section_html("Changed", "No series has changed its level.", histories, 0, changed);
    out += section_html("Not changed", "All of them have.", histories, changed, histories.size());
    out += "<h2>Where it was measured</h2>\n" + render_html(environments_table(histories));
    out += "<h2>How to read this</h2>\n" + method_html();
    out +=
        "<details><summary>All series as a table</summary>\n" + render_html(history_table(histories)) + "</details>\n";
    return out + "</main>\n</body>\n</html>\n";
}

}  // namespace deft::reporting
