#include "reporting/views/page/history_chart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/median.h"
#include "base/text.h"
#include "reporting/numbers.h"
#include "reporting/views/render/figure.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

constexpr double kPanelWidth = 360, kPanelHeight = 178;
constexpr double kPanelTop = 34, kPanelBottom = 150,
                 kPanelRight = 350;      // of the plot; above it two lines for the changes' sizes
constexpr double kPanelCharacter = 6.4;  // of a label, about
constexpr std::size_t kMostSessions = 80;
constexpr double kLeastSpan = 0.06;  // of the axis, as a fraction of the middle: noise should look small
constexpr double kPercent = 100;

struct State {
    const char *name, *colour;
    std::size_t style;  // of marker and dash
};

// None has the colour of a change.
constexpr State kStates[] = {{"hot", "s1", 0}, {"cold", "s4", 1}, {"rotating", "s7", 2}};

const State& state_of(const SeriesHistory& history) {
    for (const State& state : kStates)
        if (history.series.caches == state.name) return state;
    return kStates[0];
}

struct Unit {
    double scale;
    const char* name;
};

Unit unit_for(double seconds) {
    for (const Unit unit : {Unit{1e9, "ns"}, {1e6, "us"}, {1e3, "ms"}})
        if (seconds * unit.scale < 1000) return unit;
    return {1, "s"};
}

struct Session {
    std::int64_t started_ms = 0;
    std::string git_sha, machine;
};

// All sessions of a chart's series, oldest first.
std::vector<Session> sessions_of(const HistoryChart& chart) {
    std::map<std::pair<std::int64_t, std::string>, std::string> machines;
    for (const SeriesHistory* history : chart.series)
        for (const SessionPoint& point : history->series.points)
            if (std::string& machine = machines[{point.started_ms, point.git_sha}]; machine.empty())
                machine = point.machine;
    std::vector<Session> sessions;
    for (const auto& [key, machine] : machines) sessions.push_back({key.first, key.second, machine});
    return sessions;
}

bool is_relative(const HistoryChart& chart) {
    return chart.series.size() > 1;
}

// The seconds that are 100%.
double base_of(const SeriesHistory& history) {
    return history.history_median.value_or(history.series.points.back().seconds);
}

// From a chart's sessions and times to places in the panel.
struct Panel {
    const HistoryChart& chart;
    std::vector<Session> sessions;
    std::size_t first = 0;  // drawn session
    Unit unit;              // of the axis, where one series alone has it
    Axis y;
    std::vector<Tick> y_ticks;
    double left = 40;

    double scale(const SeriesHistory& history) const {
        return is_relative(chart) ? kPercent / base_of(history) : unit.scale;
    }
    // The place of a point among all sessions.
    std::size_t index_of(const SessionPoint& point) const {
        const auto found = std::lower_bound(
            sessions.begin(), sessions.end(), point, [](const Session& session, const SessionPoint& sought) {
                return std::tie(session.started_ms, session.git_sha) < std::tie(sought.started_ms, sought.git_sha);
            });
        return static_cast<std::size_t>(found - sessions.begin());
    }
    double px(double index) const {
        return left + (index - static_cast<double>(first) + 0.5) * (kPanelRight - left) /
                          static_cast<double>(sessions.size() - first);
    }
    // Between a session and the one before.
    double edge(std::size_t index) const { return px(static_cast<double>(index) - 0.5); }
    double py(const SeriesHistory& history, double seconds) const {
        return kPanelBottom - place_on(y, seconds * scale(history)) * (kPanelBottom - kPanelTop);
    }
};

// Holds all drawn points and the inner part of their spread: one wild launch must not flatten the rest.
Axis axis_of(const Panel& panel) {
    std::vector<double> values;
    for (const SeriesHistory* history : panel.chart.series)
        for (const SessionPoint& point : history->series.points)
            if (panel.index_of(point) >= panel.first) values.push_back(point.seconds * panel.scale(*history));
    const double middle = median(values);
    values.push_back(middle * (1 - kLeastSpan));
    values.push_back(middle * (1 + kLeastSpan));
    return axis_for(values, std::numeric_limits<double>::infinity());
}

Panel panel_of(const HistoryChart& chart) {
    Panel panel{chart, sessions_of(chart), 0, {kPercent, "%"}, {}, {}};
    if (panel.sessions.size() > kMostSessions) panel.first = panel.sessions.size() - kMostSessions;
    if (!is_relative(chart)) {
        double most = 0;
        for (const SessionPoint& point : chart.series[0]->series.points)
            if (panel.index_of(point) >= panel.first) most = std::max(most, point.seconds);
        panel.unit = unit_for(most * (1 + kLeastSpan));
    }
    panel.y = axis_of(panel);
    panel.y_ticks = ticks(panel.y, 4);
    for (const Tick& tick : panel.y_ticks)
        panel.left = std::max(panel.left, 12 + kPanelCharacter * static_cast<double>(tick.text.size()));
    return panel;
}

std::string frame_svg(const Panel& panel) {
    std::string grid, labels;
    for (const Tick& tick : panel.y_ticks)
        add_tick_svg(tick, panel.left, kPanelRight,
                     kPanelBottom - place_on(panel.y, tick.value) * (kPanelBottom - kPanelTop), 6, grid, labels);
    labels += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" class=\"muted\">{}</text>",
                          svg_number(panel.left - 6), svg_number(kPanelTop - 12), panel.unit.name);
    labels += fmt::format("<text x=\"{}\" y=\"{}\" class=\"muted\">{}</text>", svg_number(panel.left),
                          svg_number(kPanelHeight - 8), date(panel.sessions[panel.first].started_ms));
    if (panel.sessions.size() - panel.first > 1)
        labels +=
            fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" class=\"muted\">{}</text>",
                        svg_number(kPanelRight), svg_number(kPanelHeight - 8), date(panel.sessions.back().started_ms));
    return fmt::format("<path class=\"grid\" d=\"{}\"/><path class=\"frame\" d=\"M{} {}H{}\"/>{}\n", grid,
                       svg_number(panel.left), svg_number(kPanelBottom), svg_number(kPanelRight), labels);
}

// The states' marks and names, between the two dates.
std::string states_svg(const Panel& panel) {
    if (!is_relative(panel.chart)) return {};
    constexpr double kSample = 12, kBetween = 8;
    double width = -kBetween;
    for (const SeriesHistory* history : panel.chart.series)
        width += kSample + kPanelCharacter * static_cast<double>(history->series.caches.size()) + kBetween;
    double x = (panel.left + kPanelRight - width) / 2;
    const double y = kPanelHeight - 12;
    std::string out;
    for (const SeriesHistory* history : panel.chart.series) {
        const State& state = state_of(*history);
        out += fmt::format("<g class=\"{}\">{}<text x=\"{}\" y=\"{}\" dy=\"4\">{}</text></g>", state.colour,
                           marker_svg(state.style, x + 4, y, 3.5), svg_number(x + kSample), svg_number(y), state.name);
        x += kSample + kPanelCharacter * static_cast<double>(history->series.caches.size()) + kBetween;
    }
    return out + "\n";
}

std::string marks_svg(const Panel& panel) {
    std::string code, out;
    for (std::size_t i = panel.first + 1; i < panel.sessions.size(); ++i)
        if (panel.sessions[i].git_sha != panel.sessions[i - 1].git_sha)
            code += fmt::format("M{} {}v4", svg_number(panel.edge(i)), svg_number(kPanelBottom));
    if (!code.empty()) out = fmt::format("<path class=\"code\" d=\"{}\"/>", code);
    for (const HostChange& change : host_changes(panel.chart)) {
        const auto found = std::find_if(panel.sessions.begin(), panel.sessions.end(), [&](const Session& session) {
            return session.started_ms >= change.started_ms;
        });
        const auto index = static_cast<std::size_t>(found - panel.sessions.begin());
        if (index <= panel.first) continue;
        out += fmt::format("<path class=\"host\" d=\"M{} {}V{}\"><title>{}</title></path>",
                           svg_number(panel.edge(index)), svg_number(kPanelTop), svg_number(kPanelBottom + 6),
                           html_escaped(fmt::format("host: {}, before {}", change.after, change.before)));
    }
    return out.empty() ? out : out + "\n";
}

// Between two changes, the mean of the sessions there.
std::string levels_svg(const Panel& panel, const SeriesHistory& history) {
    const std::vector<ChangePoint>& changes = history.changes;
    const std::vector<SessionPoint>& points = history.series.points;
    const auto edge = [&](std::size_t point) {
        return point < points.size() ? panel.index_of(points[point]) : panel.index_of(points.back()) + 1;
    };
    std::string path;
    for (std::size_t i = 0; i <= changes.size() && !changes.empty(); ++i) {
        const std::size_t begin = edge(i == 0 ? 0 : changes[i - 1].index),
                          end = edge(i == changes.size() ? points.size() : changes[i].index);
        if (end <= panel.first) continue;
        const double level = i == changes.size() ? changes.back().after : changes[i].before;
        path += fmt::format("M{} {}H{}", svg_number(panel.edge(std::max(begin, panel.first))),
                            svg_number(panel.py(history, level)), svg_number(panel.edge(end)));
    }
    return path.empty() ? "" : fmt::format("<path class=\"level\" d=\"{}\"/>\n", path);
}

std::string point_title(const SeriesHistory& history, const SessionPoint& point) {
    return html_escaped(fmt::format(
        "{}{}: {}, {}, {} to {}", history.series.caches.empty() ? "" : history.series.caches + ", ",
        session_text(point.started_ms, point.git_sha), small_seconds(point.seconds),
        counted(point.launches, "launch", "launches"), small_seconds(point.low), small_seconds(point.high)));
}

std::string points_svg(const Panel& panel, const SeriesHistory& history) {
    const State& state = state_of(history);
    std::string line, spreads, marks;
    for (const SessionPoint& point : history.series.points) {
        const std::size_t index = panel.index_of(point);
        if (index < panel.first) continue;
        const double x = panel.px(static_cast<double>(index)), y = panel.py(history, point.seconds);
        const double low = std::clamp(panel.py(history, point.low), kPanelTop - 4, kPanelBottom),
                     high = std::clamp(panel.py(history, point.high), kPanelTop - 4, kPanelBottom);
        line += fmt::format("{}{} {}", line.empty() ? 'M' : 'L', svg_number(x), svg_number(y));
        spreads += fmt::format("M{} {}V{}", svg_number(x), svg_number(low), svg_number(high));
        marks += fmt::format("<g><title>{}</title>{}</g>", point_title(history, point),
                             marker_svg(state.style, x, y, &point == &history.series.points.back() ? 3.5 : 2));
    }
    if (line.empty()) return {};
    return fmt::format("<g class=\"{}\"><path class=\"spread\" d=\"{}\"/><path class=\"line\" d=\"{}\"{}/>{}</g>\n",
                       state.colour, spreads, line, dash_svg(state.style), marks);
}

std::string size_text(const ChangePoint& change) {
    return fmt::format("{} {:.3g}x", change.ratio() > 1 ? "▲" : "▼", change.ratio());
}

struct PlacedChange {
    std::size_t index = 0;  // of its session
    const ChangePoint* change = nullptr;
};

// Labels go on the first of two lines where they do not run into the one before; a third would find no place.
std::string changes_svg(const Panel& panel) {
    std::vector<PlacedChange> placed;
    for (const SeriesHistory* history : panel.chart.series)
        for (const ChangePoint& change : history->changes)
            if (const std::size_t index = panel.index_of(history->series.points[change.index]); index > panel.first)
                placed.push_back({index, &change});
    std::stable_sort(placed.begin(), placed.end(),
                     [](const PlacedChange& a, const PlacedChange& b) { return a.index < b.index; });
    std::string out;
    double ends[] = {0, 0};  // of the labels on either line
    for (const auto& [index, change] : placed) {
        const double x = panel.edge(index);
        const char* style = change->ratio() > 1 ? "slower" : "faster";
        out += fmt::format("<path class=\"change {}\" d=\"M{} {}V{}\"/>", style, svg_number(x),
                           svg_number(kPanelTop - 6), svg_number(kPanelBottom));
        const std::string text = size_text(*change);
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

std::string words_of(const HistoryChart& chart) {
    std::string words = fmt::format("{}, {}", chart.name, chart.where);
    for (const SeriesHistory* history : chart.series)
        words += fmt::format("{}: {}, newest {}, {}", is_relative(chart) ? "; " + history->series.caches : "",
                             counted(history->series.points.size(), "session"),
                             small_seconds(history->series.points.back().seconds), status_text(*history));
    return words;
}

std::vector<std::string> parts_of(const std::string& machine) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= machine.size();) {
        const std::size_t end = std::min(machine.find(", ", at), machine.size());
        parts.push_back(machine.substr(at, end - at));
        at = end + 2;
    }
    return parts;
}

// The parts of one machine that the other has not.
std::string other_parts(const std::string& one, const std::string& other) {
    const std::vector<std::string> of_other = parts_of(other);
    std::vector<std::string> parts = parts_of(one);
    std::erase_if(parts, [&](const std::string& part) {
        return std::find(of_other.begin(), of_other.end(), part) != of_other.end();
    });
    return parts.empty() ? "nothing more" : fmt::format("{}", fmt::join(parts, ", "));
}

// Only named states share a chart.
bool has_room(const HistoryChart& chart, const std::string& caches) {
    return !caches.empty() && std::none_of(chart.series.begin(), chart.series.end(), [&](const SeriesHistory* history) {
        return history->series.caches == caches || history->series.caches.empty();
    });
}

}  // namespace

std::vector<HistoryChart> history_charts(std::span<const SeriesHistory> histories) {
    std::vector<HistoryChart> charts;
    std::map<std::tuple<std::string, std::string, std::int64_t>, std::size_t> places;
    for (const SeriesHistory& history : histories) {
        const BenchSeries& series = history.series;
        const auto [place, is_new] = places.try_emplace({series.chart, series.where, series.version}, charts.size());
        if (is_new || !has_room(charts[place->second], series.caches)) {
            place->second = charts.size();
            charts.push_back({series.name, series.where, {&history}});
        } else {
            charts[place->second].name = series.chart;
            charts[place->second].series.push_back(&history);
        }
    }
    for (HistoryChart& chart : charts)
        std::stable_sort(chart.series.begin(), chart.series.end(),
                         [](const SeriesHistory* a, const SeriesHistory* b) { return &state_of(*a) < &state_of(*b); });
    return charts;
}

std::vector<HostChange> host_changes(const HistoryChart& chart) {
    std::vector<HostChange> changes;
    std::string before;
    for (const Session& session : sessions_of(chart)) {
        if (session.machine.empty()) continue;
        if (!before.empty() && session.machine != before)
            changes.push_back(
                {session.started_ms, other_parts(before, session.machine), other_parts(session.machine, before)});
        before = session.machine;
    }
    return changes;
}

std::size_t most_drawn_sessions() {
    return kMostSessions;
}

std::string history_svg(const HistoryChart& chart, const std::string& id) {
    const Panel panel = panel_of(chart);
    std::string out =
        fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}\">\n<title id=\"{}\">{}</title>\n",
                    svg_number(kPanelWidth), svg_number(kPanelHeight), html_escaped(id), html_escaped(id),
                    html_escaped(words_of(chart)));
    out += frame_svg(panel) + states_svg(panel) + marks_svg(panel);
    for (const SeriesHistory* history : chart.series) out += levels_svg(panel, *history);
    out += changes_svg(panel);
    for (const SeriesHistory* history : chart.series) out += points_svg(panel, *history);
    return out + "</svg>\n";
}

}  // namespace deft::reporting
