// The history of benchmarks: from launches to sessions, what changed, and the page.

#include <algorithm>
#include <cmath>
#include <random>

#include "reporting/analysis/trend/history_table.h"
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
                                             ContainsSubstring(": 1 session: ") && !ContainsSubstring("1 sessions"));
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
