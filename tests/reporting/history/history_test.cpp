// The history of benchmarks: from launches to sessions, what changed, and the page.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "reporting/analysis/trend/history_table.h"
#include "reporting/views/page/history_chart.h"
#include "reporting/views/page/history_page.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/reporting/history/invented_past.h"
#include "tests/reporting/without_script.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::reporting;
using results_db::BenchHistoryRow;

namespace {

BenchHistoryRow launch(std::int64_t at, double seconds, std::int64_t code = 1) {
    BenchHistoryRow row;
    row.kernel = "sum";
    row.impl = "cpu";
    row.params_json = R"({"case":"16","caches":"hot","threads":2})";
    row.hostname = "h";
    row.host_fingerprint = "f";
    row.compiler = "c";
    row.code_id = code;
    row.git_sha = "sha" + std::to_string(code);
    row.started_ms = at;
    row.ended_ms = at + 10;
    row.seconds = seconds;
    row.deviation = 0.5;
    return row;
}

std::vector<SeriesHistory> histories_of(const test::Past& past) {
    const test::TemporaryFolder folder;
    results_db::Writer writer(folder / "results.db");
    test::write_past(writer, past);
    return series_histories(bench_series(results_db::Reader(folder / "results.db").bench_history()));
}

const char* const kHot = R"({"case":"64","caches":"hot","threads":1})";

}  // namespace

TEST_CASE("a session knows how far apart its launches were") {
    const std::vector<BenchHistoryRow> rows = {launch(0, 4), launch(100, 2), launch(200, 3), launch(300, 8, 2)};
    const std::vector<BenchSeries> series = bench_series(rows);
    REQUIRE(series.size() == 1);
    const std::vector<SessionPoint>& points = series[0].points;
    REQUIRE(points.size() == 2);
    CHECK(points[0].seconds == 3);
    CHECK(points[0].low == 2);
    CHECK(points[0].high == 4);
    CHECK(points[1].low == 7.5);  // one launch: its own deviation
    CHECK(points[1].high == 8.5);
}

TEST_CASE(
    "what changed lately comes first, the slower before the faster, and no other series is said to have changed") {
    test::Past past;
    past.seed = std::random_device{}();
    INFO("seed " << past.seed);
    past.spike_chance = 0;  // one beside a step would move it
    past.cases = {{"steady1", kHot, 1e-3, {}},
                  {"old", kHot, 2e-6, {{8, 0.8}}},
                  {"steady2", kHot, 0.2, {}},
                  {"faster", kHot, 3e-5, {{20, 0.85}}},
                  {"slower", kHot, 4e-7, {{20, 1.12}}}};
    const std::vector<SeriesHistory> histories = histories_of(past);
    REQUIRE(histories.size() == 5);
    CHECK(histories[0].series.name == "slower/64 (cpu, hot, 1 thread)");
    CHECK(histories[0].is(Outcome::worse));
    REQUIRE(histories[0].changes.size() == 1);
    CHECK(histories[0].changes[0].index == 20);
    CHECK(histories[0].changes[0].ratio() == Approx(1.12).epsilon(0.05));
    CHECK(*histories[0].newest_ratio == Approx(1.12).epsilon(0.05));
    CHECK(status_text(histories[0]) == "slower");
    CHECK(histories[1].series.name == "faster/64 (cpu, hot, 1 thread)");
    CHECK(status_text(histories[1]) == "faster");
    CHECK(histories[2].series.name == "old/64 (cpu, hot, 1 thread)");
    CHECK(status_text(histories[2]) == "changed before");
}

TEST_CASE("a series that nobody measures any more comes last, and bad times are not drawn") {
    std::vector<BenchSeries> series(2);
    for (std::int64_t i = 0; i < 10; ++i) {
        series[0].points.push_back({i, 1.0 + 0.01 * static_cast<double>(i % 3), 1, "a"});
        series[1].points.push_back({i + (std::int64_t{1} << 40), 1, 1, "b"});
    }
    series[0].name = "old";
    series[1].name = "new";
    series[1].points[3].seconds = std::nan("");
    const std::vector<SeriesHistory> histories = series_histories(series);
    REQUIRE(histories.size() == 2);
    CHECK(histories[0].series.name == "new");
    CHECK(histories[0].series.points.size() == 9);
    CHECK(status_text(histories[0]) == "broken");
    CHECK(status_text(histories[1]) == "ended");
    CHECK(series_histories({}).empty());
}

TEST_CASE("a history of few sessions says that it is too short") {
    test::Past past;
    past.cases = {{"sum", kHot, 1e-3, {}}};
    past.sessions = 1;
    const std::vector<SeriesHistory> one = histories_of(past);
    CHECK_FALSE(one[0].newest_ratio);
    CHECK(status_text(one[0]) == "too short");
    CHECK_THAT(render_terminal(history_table(one), 0), ContainsSubstring("too short"));
    CHECK_THAT(render_history_page(one), ContainsSubstring("0 slower, 0 faster") &&
                                             ContainsSubstring(": 1 session, newest") &&
                                             ContainsSubstring("<br>1 session: ") && !ContainsSubstring("1 sessions"));
}

TEST_CASE("the page of a history is self-contained, escapes every name and is the same each time") {
    test::Past past;
    past.cases = {{"<script>alert(1)</script>\"'&",
                   R"({"case":"</title>","caches":"\u001b[2J","x":[1,"<b>"]})",
                   1e-3,
                   {{18, 1.3}}},
                  {"sum", kHot, 1e-3, {}}};
    past.hostname = "<img src=x onerror=alert(1)>";
    past.compiler = "</style>";
    past.launches = 1;
    const std::vector<SeriesHistory> histories = histories_of(past);
    const std::string page = without_script(render_history_page(histories));
    for (const char* hostile : {"<script", "<img", "onerror=alert(1)>", "\x1b", "href=\"http", "src=\"http"}) {
        INFO(hostile);
        CHECK(page.find(hostile) == std::string::npos);
    }
    const auto count = [&](const std::string& text) {
        std::size_t found = 0;
        for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) ++found;
        return found;
    };
    CHECK(count("</style>") == 1);
    CHECK(count("<svg ") == 2);
    CHECK(count("</svg>") == 2);
    CHECK(count("<circle ") == 52);
    CHECK(count("class=\"change slower\"") == 1);
    CHECK_THAT(page, ContainsSubstring("1 slower, 0 faster") && ContainsSubstring("default-src 'none'") &&
                         ContainsSubstring("Example CPU 9000"));
    CHECK(page.find("&lt;script&gt;") < page.find("<h3>sum/64"));
    CHECK(page == without_script(render_history_page(histories)));
    CHECK_THAT(render_history_page({}), ContainsSubstring("0 slower, 0 faster"));
}

TEST_CASE("a long history draws its newest sessions and stays small") {
    test::Past past;
    past.sessions = 200;
    past.launches = 1;
    past.cases = {{"sum", kHot, 1e-3, {{30, 1.2}, {190, 1.2}}}};
    const std::vector<SeriesHistory> histories = histories_of(past);
    const std::string page = without_script(render_history_page(histories));
    std::size_t circles = 0;
    for (std::size_t at = page.find("<circle"); at != std::string::npos; at = page.find("<circle", at + 1)) ++circles;
    CHECK(circles == most_drawn_sessions());
    CHECK(page.size() < 40'000);
}

namespace {

// Twelve sessions of two states of the caches, the cold one three times as slow; the newest of that 20% slower.
std::vector<BenchHistoryRow> two_states() {
    std::vector<BenchHistoryRow> rows;
    for (const char* caches : {"cold", "hot"})
        for (int session = 0; session < 12; ++session) {
            const bool is_cold = std::string(caches) == "cold";
            BenchHistoryRow row =
                launch(86'400'000LL * session, is_cold ? (session == 11 ? 3.6 : 3.0) : 1.0, 1 + session / 2);
            row.deviation = 0.01;
            row.params_json = fmt::format(R"({{"case":"16","caches":"{}","threads":2}})", caches);
            row.machine_json = session < 6 ? R"({"hostname":"a","kernel":"Linux <6.1>","os":"Debian 12"})"
                                           : R"({"hostname":"b","kernel":"Linux <6.2>","os":"Debian 12"})";
            rows.push_back(std::move(row));
        }
    return rows;
}

}  // namespace

TEST_CASE("states of the caches share a chart, each in percent of its own median") {
    const std::vector<SeriesHistory> histories = series_histories(bench_series(two_states()));
    REQUIRE(histories.size() == 2);
    const std::vector<HistoryChart> charts = history_charts(histories);
    REQUIRE(charts.size() == 1);
    CHECK(charts[0].name == "sum/16 (cpu, 2 threads)");
    REQUIRE(charts[0].series.size() == 2);
    CHECK(charts[0].series[0]->series.caches == "hot");
    CHECK(charts[0].series[1]->series.caches == "cold");
    const std::string svg = history_svg(charts[0], "id");
    CHECK_THAT(svg, ContainsSubstring("class=\"muted\">%</text>") && ContainsSubstring(">hot</text>") &&
                        ContainsSubstring(">cold</text>") && !ContainsSubstring(">rotating</text>"));
    // The axis is from 94% less 4% of the span to 120% and as much: 92.96 to 121.04. All but the newest are at 100%.
    const double y_of_100 = 150 - (100 - 92.96) / (121.04 - 92.96) * (150 - 34);
    CHECK_THAT(svg, ContainsSubstring(fmt::format("cy=\"{:.1f}\"", y_of_100)));
    CHECK_THAT(svg, ContainsSubstring("<title>cold, 1970-01-12 (sha6): 3.60 s, 1 launch, 3.59 s to 3.61 s</title>"));
    const std::string page = render_history_page(histories);
    CHECK_THAT(page, ContainsSubstring("hot: ") && ContainsSubstring("cold: ") &&
                         ContainsSubstring(": +20.0% against the median of 11 sessions before") &&
                         ContainsSubstring(": +0.0% against the median"));
}

TEST_CASE("a chart marks sessions of other code and of a host that changed") {
    std::vector<BenchHistoryRow> rows = two_states();
    const std::vector<SeriesHistory> histories = series_histories(bench_series(rows));
    const HistoryChart chart = history_charts(histories).at(0);
    const std::vector<HostChange> changes = host_changes(chart);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].started_ms == 86'400'000LL * 6);
    CHECK(changes[0].before == "Linux <6.1>");  // the same Debian
    CHECK(changes[0].after == "Linux <6.2>");
    const std::string svg = history_svg(chart, "id");
    const std::size_t code = svg.find("<path class=\"code\" d=\"");
    REQUIRE(code != std::string::npos);
    const std::string ticks = svg.substr(code, svg.find("/>", code) - code);
    CHECK(std::count(ticks.begin(), ticks.end(), 'M') == 5);  // six builds
    // The seventh of twelve sessions begins in the middle of the plot, from 40 to 350.
    CHECK_THAT(svg, ContainsSubstring("<path class=\"host\" d=\"M195 34V156\"><title>host: Linux &lt;6.2&gt;, before "
                                      "Linux &lt;6.1&gt;</title>"));
    CHECK_THAT(render_history_page(histories),
               ContainsSubstring("host changed 1970-01-07: Linux &lt;6.2&gt;, before "));
    for (BenchHistoryRow& row : rows) row.machine_json = row.code_id < 3 ? "" : "[";  // nobody says
    const std::vector<SeriesHistory> silent = series_histories(bench_series(rows));
    CHECK(host_changes(history_charts(silent).at(0)).empty());
}

TEST_CASE("charts come by the first of their series, and two versions or hosts of a case have two") {
    std::vector<BenchHistoryRow> rows = two_states();
    for (BenchHistoryRow row : two_states()) {
        row.version = 2;
        rows.push_back(row);
    }
    for (BenchHistoryRow row : two_states()) {
        row.host_fingerprint = "other";
        rows.push_back(row);
    }
    const std::vector<SeriesHistory> histories = series_histories(bench_series(rows));
    REQUIRE(histories.size() == 6);
    const std::vector<HistoryChart> charts = history_charts(histories);
    REQUIRE(charts.size() == 3);
    for (const HistoryChart& chart : charts) {
        REQUIRE(chart.series.size() == 2);
        CHECK(chart.series[0]->series.version == chart.series[1]->series.version);
    }
    CHECK(history_charts({}).empty());
}

TEST_CASE("a history of a thousand cases is one page") {
    std::vector<BenchHistoryRow> rows;
    for (int i = 0; i < 1000; ++i)
        for (BenchHistoryRow row : two_states()) {
            row.kernel = fmt::format("sum{}", i);
            rows.push_back(row);
        }
    const std::string page = render_history_page(series_histories(bench_series(rows)));
    CHECK(page.size() < 12'000'000);
    CHECK_THAT(page, ContainsSubstring("aria-labelledby=\"panel-1000\""));
}
