// Figures and the HTML page.

#include "reporting/views/page/page.h"
#include "base/sha256.h"
#include "reporting/views/render/html.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "base/json.h"
#include "base/sha256.h"
#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/views/render/figure.h"
#include "reporting/views/render/html.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/without_script.h"

using namespace deft;
using namespace deft::reporting;

namespace {

// The first thing wrong with the nesting of tags or the quoting of attributes; empty when well-formed. The next cell of
// a row, or the row's end, closes a cell.
std::string markup_fault(const std::string& html) {
    static const std::set<std::string> kVoid = {"meta", "br", "!DOCTYPE"};
    std::vector<std::string> open;
    for (std::size_t at = 0; (at = html.find('<', at)) != std::string::npos;) {
        std::size_t end = at + 1;
        for (bool quoted = false; end < html.size() && (quoted || html[end] != '>'); ++end) {
            if (html[end] == '"') quoted = !quoted;
            if (!quoted && html[end] == '<') return "a stray < near " + html.substr(at, 40);
        }
        if (end >= html.size()) return "an open tag at the end";
        const std::string tag = html.substr(at + 1, end - at - 1);
        const std::string name =
            tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /\n", 1) - (tag[0] == '/' ? 1 : 0));
        const bool ends_cell = tag == "/tr" || (name == "td" && tag[0] != '/');
        if (ends_cell && !open.empty() && open.back() == "td") open.pop_back();
        if (tag[0] == '/') {
            if (open.empty() || open.back() != tag.substr(1)) return "</" + tag.substr(1) + "> closes nothing";
            open.pop_back();
        } else if (!kVoid.contains(name) && tag.back() != '/') {
            open.push_back(name);
        }
        at = end + 1;
    }
    return open.empty() ? "" : open.back() + " stays open";
}

journal::TrainPoint a_point(std::int64_t step, double loss) {
    journal::TrainPoint point;
    point.step = step;
    point.input_tokens = point.unique_tokens = point.layer_tokens = step * 100;
    point.flops = static_cast<double>(step) * 1e6;
    point.loss = loss;
    return point;
}

ReportData a_report() {
    ReportData data;
    data.sweep = a_sweep_of({a_finished_trial("base", kFullBudget, 1, 3), a_finished_trial("base", kFullBudget, 2, 3.1),
                             a_finished_trial("cl", kHalfBudget, 1, 2.9)});
    data.about = {"base", "smoke", "A title", "deft run q.toml", "q.toml"};
    for (const auto& trial : data.sweep.trials)
        for (int step = 1; step <= 50; ++step)
            data.curves[trial.config_hash].points.push_back(
                a_point(step, 5.0 / step + 0.1 * static_cast<double>(trial.seed)));
    data.curves[data.sweep.trials[2].config_hash].validation_losses = {{25, 2.0}, {50, 1.5}};
    data.checkpoints = {{data.sweep.trials[2].config_hash, "runs/x/final.safetensors", "c0ffee", 50, 10}};
    return data;
}

std::size_t count_of(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("decimation keeps the extremes and the ends") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> noise(1, 2);
    std::vector<CurvePoint> points;
    for (int i = 0; i < 10007; ++i) {
        const double y = noise(random);
        points.push_back({static_cast<double>(i), y, y - 0.5, y + 0.5});
    }
    points[4321].y = 9;
    points[7654].y = -9;
    points[5555].low = -20;
    points[6666].high = 20;
    const std::vector<CurvePoint> kept = decimate(points, 600);
    CHECK(kept.size() <= 600);
    CHECK(kept.size() > 500);
    const auto has = [&](double x, double y) {
        return std::any_of(kept.begin(), kept.end(), [&](const CurvePoint& p) { return p.x == x && p.y == y; });
    };
    CHECK(has(4321, 9));
    CHECK(has(7654, -9));
    CHECK(kept.front().x == 0);
    CHECK(kept.back().x == 10006);
    CHECK(std::is_sorted(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.x < b.x; }));
    CHECK(std::any_of(kept.begin(), kept.end(), [](const CurvePoint& p) { return p.low == -20; }));
    CHECK(std::any_of(kept.begin(), kept.end(), [](const CurvePoint& p) { return p.high == 20; }));
    CHECK(decimate({points[0], points[1]}, 600).size() == 2);
    CHECK(decimate({}, 600).empty());
}

TEST_CASE("axes follow the data") {
    CHECK(axis_for({0.7, 5}, 4).log);
    CHECK(!axis_for({2, 5}, 4).log);
    CHECK(!axis_for({0, 5}, 4).log);
    CHECK(!axis_for({-1, 5}, 4).log);
    CHECK(axis_for({1, 100}, 1e4).from == 0);
    for (const std::vector<double>& values : std::vector<std::vector<double>>{{}, {3}, {0, 0}, {1e-9, 1e9}, {-5, 7}}) {
        const Axis axis = axis_for(values, 100);
        CHECK(axis.from < axis.to);
        const std::vector<Tick> all = ticks(axis, 5);
        CHECK(all.size() >= 2);
        CHECK(all.size() <= 40);
        for (const Tick& tick : all) {
            CHECK(place_on(axis, tick.value) >= -1e-6);
            CHECK(place_on(axis, tick.value) <= 1 + 1e-6);
        }
    }
    CHECK(place_on({true, 1, 100}, 10) == Approx(0.5));
    CHECK(place_on({false, 0, 4}, 1) == Approx(0.25));
    CHECK(ticks({false, 0, 500000}, 5)[1].text == "100k");
}

TEST_CASE("curves are means over seeds with their range, and values that are not finite are counted out") {
    ReportData data = a_report();
    auto& points = data.curves[data.sweep.trials[0].config_hash].points;
    points[10].loss = NAN;
    points[11].loss = INFINITY;
    const std::vector<Row> rows = rows_of(data.sweep);
    const std::vector<Figure> figures = curve_figures(rows, data.curves);
    REQUIRE(figures.size() == 3);
    const Figure& figure = figures[0];
    REQUIRE(figure.series.size() == 2);
    CHECK(figure.series[0].name == "base 100%");
    CHECK(figure.series[0].seeds == 2);
    CHECK(figure.series[0].points.size() == 48);
    CHECK(figure.series[0].not_finite == 2);
    CHECK(figure.series[0].points[0].y == Approx(5.15));
    CHECK(figure.series[0].points[0].low == Approx(5.1));
    CHECK(figure.series[0].points[0].high == Approx(5.2));
    CHECK(figure.series[1].marks.size() == 2);
    CHECK(figure.series[1].marks[1].x == 5000);
    CHECK(figure.series[1].dash != figure.series[0].dash);
    CHECK(figures[2].series[0].points.back().x == Approx(5e7));
    const std::string svg = render_svg(figure);
    CHECK(markup_fault(svg).empty());
    const std::string drawn = svg.substr(svg.find("</desc>"));
    CHECK(drawn.find("nan") == std::string::npos);
    CHECK(drawn.find("inf") == std::string::npos);
    CHECK_THAT(svg, ContainsSubstring("2 points that are NaN or infinite cannot be drawn."));
    // Nothing finite at all is a figure too.
    for (auto& [hash, curve] : data.curves)
        for (auto& point : curve.points) point.loss = NAN;
    data.curves[data.sweep.trials[2].config_hash].validation_losses.clear();
    CHECK(markup_fault(without_script(render_page(data))).empty());
}

TEST_CASE("a report page is whole, closed in itself and the same each time") {
    const ReportData data = a_report();
    const std::string html = without_script(render_page(data));
    CHECK(markup_fault(html) == "");
    CHECK(html == without_script(render_page(data)));
    CHECK_THAT(html, ContainsSubstring("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src " +
                                       script_policy() + "; connect-src 'none'"));
    for (const char* word :
         {"<script", "http://", "https://", "javascript:", "url(", "@import", "<link", "<img", "onclick"})
        CHECK(html.find(word) == std::string::npos);
    std::size_t last = 0;  // the sections in their order
    for (const char* part : {"<h1>A title</h1>", "smoke: proxy scale", "<section class=\"answer\"", "id=\"difference\"",
                             "id=\"comparison\"", "id=\"curves\"", "id=\"loss-by-layer-tokens-title\"",
                             "id=\"loss-by-input-tokens-title\"", "id=\"loss-by-flops-title\"", "id=\"cost\"",
                             "id=\"provenance\"", "id=\"raw\""}) {
        const std::size_t at = html.find(part);
        INFO(part);
        CHECK(at != std::string::npos);
        CHECK(at > last);
        last = at;
    }
    CHECK(count_of(html, "<svg") == 4);
    CHECK(count_of(html, "<table") == count_of(html, "<caption>"));
    CHECK_THAT(html, ContainsSubstring("prefers-color-scheme:dark") && ContainsSubstring("@media print"));
    CHECK_THAT(html,
               ContainsSubstring("c0ffee (step 50, runs/x/final.safetensors)") && ContainsSubstring("none recorded"));
    CHECK_THAT(html, ContainsSubstring("./deft run q.toml --only base --set train.budget_fraction=1.0 --seeds 1,2 "
                                       "--root deft-repeat"));
    CHECK_THAT(html, ContainsSubstring("--only cl --set train.budget_fraction=0.5 --seeds 1, --root"));
    // Each link leads somewhere.
    for (std::size_t at = 0; (at = html.find("href=\"#", at)) != std::string::npos; ++at) {
        const std::string id = html.substr(at + 7, html.find('"', at + 7) - at - 7);
        CHECK(html.find("id=\"" + id + "\"") != std::string::npos);
    }
}

TEST_CASE("anchors of rows are short, and differ where names do") {
    CHECK(trace_id("random-LTD") == "trace-random-LTD");
    const std::string long_name = "random-LTD[budget_fraction=0.5]";
    CHECK(trace_id(long_name) == "t" + sha256(long_name).substr(0, 10));
    CHECK(trace_id(long_name) != trace_id(long_name + "5"));
    CHECK(trace_id("a b") != trace_id("a_b"));
}

TEST_CASE("provenance that is equal in all trials is on the page once") {
    ReportData data = a_report();
    for (Trial& trial : data.sweep.trials) trial.code.git_sha = "one";
    const std::string equal = render_page(data);
    CHECK_THAT(equal, ContainsSubstring("<p>Equal in all trials: state ok; ") && ContainsSubstring("; commit one; ") &&
                          ContainsSubstring(">config hash</th>") && !ContainsSubstring(">commit</th>"));
    data.sweep.trials[1].code.git_sha = "another";
    const std::string differing = render_page(data);
    CHECK_THAT(differing, ContainsSubstring(">commit</th>") && ContainsSubstring(">one<") &&
                              ContainsSubstring(">another<") && !ContainsSubstring("; commit one"));
    CHECK(markup_fault(without_script(differing)).empty());
}

TEST_CASE("trials of all rows are in one table, each row's below its name and above the command that repeats them") {
    ReportData data = a_report();
    for (Trial& trial : data.sweep.trials) {
        trial.code.git_sha = "c0ffee";
        trial.workdir = "runs/x";
    }
    const std::string html = render_page(data), id = trace_id("cl[budget_fraction=0.5]");
    const std::size_t begin = html.find("<tbody id=\"" + id + "\">");
    REQUIRE(begin != std::string::npos);
    const std::string body = html.substr(begin, html.find("</tbody>", begin) - begin);
    CHECK_THAT(body, ContainsSubstring("<th scope=\"rowgroup\" colspan=\"3\">cl[budget_fraction=0.5]</th>") &&
                         ContainsSubstring("<th scope=\"row\">1</th>") &&
                         ContainsSubstring("<code>./deft run q.toml --only cl ") && !ContainsSubstring("git checkout"));
    CHECK(count_of(html, "<caption><span>Trials of ") == 1);
    CHECK(count_of(html, "git checkout c0ffee") == 1);
    // Below its run folder, which all trials share.
    CHECK_THAT(html, ContainsSubstring("; run folder runs/x.") && ContainsSubstring("(step 50, final.safetensors)"));
    data.sweep.trials[2].code.git_sha = "beef";
    CHECK_THAT(render_page(data), ContainsSubstring("<code>git checkout beef\n./deft run q.toml --only cl "));
}

TEST_CASE("the path of a line has steps that add up to its rounded points") {
    CHECK(path_svg({}).empty());
    CHECK(path_svg({{62.04, 376}}) == "M62 376");
    CHECK(path_svg({{0.26, -7}, {1.34, -6.5}, {1.34, 3}, {-1, 3.04}}) == "M.3-7l1 .5 0 9.5-2.3 0");
}

TEST_CASE("a page takes less than 1.5 kB for each further trial of five a row") {
    const auto page_bytes = [](int rows) {
        ReportData data;
        std::vector<Trial> trials;
        for (int row = 0; row < rows; ++row)
            for (std::int64_t seed = 1; seed <= 5; ++seed) {
                Trial trial = a_finished_trial(fmt::format("recipe{}", row).c_str(), kFullBudget, seed,
                                               2 + 0.01 * static_cast<double>(row + seed));
                trial.config_hash = sha256(trial.config_hash);
                trial.workdir = "runs/" + trial.config_hash.substr(0, 16);
                trial.code.git_sha = sha256("commit");
                data.checkpoints.push_back(
                    {trial.config_hash, trial.workdir + "/final.safetensors", sha256(trial.workdir), 1000, 10});
                trials.push_back(std::move(trial));
            }
        std::sort(data.checkpoints.begin(), data.checkpoints.end(),
                  [](const auto& a, const auto& b) { return a.config_hash < b.config_hash; });
        data.sweep = a_sweep_of(std::move(trials));
        data.about = {"recipe0", "smoke", "A title", "deft run q.toml", "q.toml"};
        return render_page(data).size();
    };
    constexpr std::size_t kFew = 20, kMany = 60;
    const std::size_t bytes = (page_bytes(kMany) - page_bytes(kFew)) / (5 * (kMany - kFew));
    INFO(bytes << " bytes a trial");
    CHECK(bytes < 1500);
}

TEST_CASE("hostile names stay text in the page") {
    ReportData data = a_report();
    data.about.title = "</title><script>alert(1)</script>";
    data.about.baseline = "";
    data.about.command = "<b>";
    data.about.points = "a';<i>.toml";
    for (auto& trial : data.sweep.trials) {
        const std::string old = trial.config_hash;
        trial.recipe = "\"><svg onload=x>&'";
        trial.config_hash += "<u>";
        data.curves[trial.config_hash] = data.curves[old];
        trial.host.cpu_model = "<em>\xff";
        trial.scores.front().task = "<h9>";
    }
    data.sweep.trials[2].state = "failed";
    const std::string html = without_script(render_page(data));
    CHECK(markup_fault(html) == "");
    for (const char* tag : {"<script", "<b>", "<i>", "<u>", "<em>", "<h9>", "<svg onload"})
        CHECK(html.find(tag) == std::string::npos);
    CHECK(html.find('\xff') == std::string::npos);
}

TEST_CASE("missing trials are named on the page, with what fills them") {
    ReportData data = a_report();
    data.sweep.trials[2].state = "pending";
    data.sweep.trials[2].last_point.reset();
    data.sweep.trials[2].scores.clear();
    const std::string html = render_page(data);
    CHECK_THAT(html, ContainsSubstring("2 of 3 trials finished"));
    CHECK_THAT(html, ContainsSubstring("1 trial has not run. To run the rest: <code>deft run q.toml</code>"));
    CHECK_THAT(html, ContainsSubstring("Missing: cl[budget_fraction=0.5]/1 (pending)."));
    data.sweep.trials.clear();
    CHECK(markup_fault(without_script(render_page(data))).empty());
}

TEST_CASE("the JSON report holds every trial") {
    const Json json = Json::parse(render_report_json(a_report()));
    CHECK(json["schema"] == "deft-report/1");
    CHECK(json["scale"] == "smoke: proxy scale");
    REQUIRE(json["trials"].size() == 3);
    CHECK(json["trials"][2]["scores"][0]["value"].get<double>() == 2.9);
    CHECK(json["trials"][2]["scores"][0]["chance"] == "NaN");
    CHECK(json["trials"][2]["axes"]["train.budget_fraction"] == 0.5);
}

TEST_CASE("words for a shell") {
    CHECK(shell_word("a/b=1") == "a/b=1");
    CHECK(shell_word("it's $x") == "'it'\\''s $x'");
    CHECK(shell_word("") == "''");
}

TEST_CASE("a page names published scores where there are some") {
    ReportData data = a_report();
    data.about.published = read_published_table(DEFT_SOURCE_DIR "/reporting/paper/data_efficiency_gpt_combined.toml");
    const std::string losses = render_page(data);
    CHECK(count_of(losses, "<span>Published scores") == 0);
    CHECK(count_of(losses, "<span>Scores of each task") == 1);
    for (auto& trial : data.sweep.trials) trial.scores.push_back(a_score("boolq", "acc", 0.5));
    const std::string scored = render_page(data);
    CHECK(count_of(scored, "<span>Published scores") == 1);
    CHECK(count_of(scored, "<span>Scores of each task") == 1);
}

TEST_CASE("verdicts on a paper's claims lead the page, in words and shapes, and are in the JSON") {
    ReportData data = a_report();
    data.about.baseline = "baseline";
    data.about.published = read_published_table(DEFT_SOURCE_DIR "/reporting/paper/data_efficiency_gpt_combined.toml");
    std::vector<Trial> trials;
    for (const char* name : {"baseline", "CL+random-LTD"})
        for (int seed = 1; seed <= 3; ++seed) {
            const bool is_base = std::string(name) == "baseline";
            trials.push_back(a_finished_trial(name, kFullBudget, seed, (is_base ? 3 : 2.9) + 0.001 * seed));
            trials.back().scores.push_back(a_validation("bits_per_byte", (is_base ? 2 : 1.9) + 0.001 * seed));
            trials.back().scores.back().unit = "bits/byte";
        }
    data.sweep = a_sweep_of(trials);
    const std::string html = without_script(render_page(data));
    CHECK(markup_fault(html) == "");
    const std::size_t strip = html.find("<section class=\"verdicts\"");
    REQUIRE(strip != std::string::npos);
    CHECK(strip < html.find("<h2 id=\"comparison"));
    CHECK_THAT(html, ContainsSubstring(
                         "<li class=\"missing\"><strong><span aria-hidden=\"true\">–</span> not evaluated</strong>"));
    const Json json = Json::parse(render_report_json(data));
    REQUIRE(json["claims"].size() == data.about.published->claims.size());
    for (const Json& claim : json["claims"]) {
        const std::string verdict = claim["verdict"];
        CHECK((verdict == "holds" || verdict == "fails" || verdict == "unclear" || verdict == "missing"));
    }
    CHECK(json["claims"][0]["id"] == data.about.published->claims[0].id);
    data.about.published.reset();
    CHECK(render_page(data).find("<section class=\"verdicts\"") == std::string::npos);
    CHECK(!Json::parse(render_report_json(data)).contains("claims"));
}
