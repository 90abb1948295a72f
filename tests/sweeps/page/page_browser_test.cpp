// The page of a sweep in a browser, as a file and from deft serve.

#include <csignal>

#include "tests/sweeps/browser.h"

using namespace deft;
using namespace deft::test;
using Catch::Matchers::Contains;

namespace {

const std::string kPageOf = std::string(DEFT_SOURCE_DIR) + "/evidence/gpt_combined_proxy.jsonl";

std::filesystem::path written_page(const TinySweep& sweep, const std::string& evidence) {
    const std::filesystem::path page = sweep.folder.path / "page.html";
    REQUIRE(sweep.deft("report", {"--from", evidence, "--format", "html", "--out", page.string()}).exit_code == 0);
    return page;
}

// The first cells of the visible rows of the table with that caption.
std::string rows_of(const std::string& caption, int column = 0) {
    return fmt::format(
        "return [...[...document.querySelectorAll('table')].find(t => t.caption.textContent.startsWith('{}'))"
        ".tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[{}].firstChild.textContent)",
        caption, column);
}

// deft serve, once it has printed its address.
struct Served {
    Process server;
    std::string address;

    explicit Served(const TinySweep& sweep)
        : server({DEFT_PROGRAM, "serve", "--root", sweep.root.string()}, sweep.folder.path / "served",
                 sweep.folder.path / "served.err") {
        const std::filesystem::path said = sweep.folder.path / "served";
        REQUIRE(wait_until([&] {
            const std::string text = std::filesystem::exists(said) ? read_file(said) : "";
            const std::size_t at = text.find("http://"), end = text.find('\n', at);
            if (at == std::string::npos || end == std::string::npos) return false;
            address = text.substr(at, end - at);
            return true;
        }));
    }
};

}  // namespace

TEST_CASE("tables of a page sort by values and filter, and recipes can be hidden", "[bare]") {
    if (!has_browser()) DEFT_SKIP(kNoBrowser);
    const TinySweep sweep(kPlain);
    Browser browser(sweep.folder.path, 1280);
    browser.open("file://" + written_page(sweep, kPageOf).string());
    const Json in_order = browser.run(rows_of("Recipes"));
    REQUIRE(in_order.size() == 8);
    const auto click = [&](int column) {
        browser.run(fmt::format("document.querySelector('table').tHead.rows[0].cells[{}].click()", column));
    };
    click(3);  // train time: 4m52s to 12m17s
    const Json by_time = browser.run(rows_of("Recipes", 3));
    CHECK(by_time == Json({"4m52s", "4m56s", "5m02s", "6m09s", "10m48s", "10m55s", "12m05s", "12m17s"}));
    click(3);
    CHECK(browser.run(rows_of("Recipes", 3)).at(0) == "12m17s");
    click(3);
    CHECK(browser.run(rows_of("Recipes")) == in_order);
    click(5);  // differences: the baseline's rows have none, and come last either way
    CHECK(browser.run(rows_of("Recipes", 5)).at(7) == "-");
    click(5);
    CHECK(browser.run(rows_of("Recipes", 5)).at(7) == "-");
    click(5);

    browser.run(
        "const t = [...document.querySelectorAll('table')].pop();"
        "t.deftFilter.value = '/3'; t.deftFilter.dispatchEvent(new Event('input'));");
    CHECK(browser.run("return [...[...document.querySelectorAll('table')].pop().tBodies[0].rows]"
                      ".filter(r => !r.hidden).length") == 8);

    browser.run("[...document.querySelectorAll('#recipes input')][1].click()");
    CHECK(browser.run(rows_of("Recipes")) ==
          Json({"baseline", "baseline", "random-LTD", "random-LTD", "CL+random-LTD", "CL+random-LTD"}));
    browser.run("[...document.querySelectorAll('#recipes input')][1].click()");
    CHECK(browser.run(rows_of("Recipes")) == in_order);
    CHECK(browser.complaints() == std::vector<std::string>());
    for (const std::string& address : browser.requests()) CHECK_THAT(address, Catch::Matchers::StartsWith("file://"));
}

TEST_CASE("curves of a page show values, hide lines and switch axes", "[bare]") {
    if (!has_browser()) DEFT_SKIP(kNoBrowser);
    const TinySweep sweep(kPlain);
    Browser browser(sweep.folder.path, 1280);
    browser.open("file://" + written_page(sweep, kPageOf).string());
    const std::string chart = "const figures = document.querySelector('.figures'), svg = figures.querySelector('svg');";
    const auto texts = [&] {
        return browser.run(chart + "return [...svg.querySelectorAll('text')].map(t => t.textContent).join('\\n')")
            .get<std::string>();
    };
    CHECK(browser.run(chart + "return [...figures.querySelectorAll('.one-axis')].filter(f => !f.hidden).length") == 0);
    CHECK_THAT(texts(), Contains("consumed tokens (layer-averaged)"));
    CHECK(browser.run(chart + "return svg.querySelectorAll('.line').length") == 16);  // eight, and their names
    const auto choose = [&](const std::string& axis) {
        browser.run(chart +
                    "const s = figures.querySelector('select');"
                    "s.value = [...s.options].find(o => o.text === '" +
                    axis +
                    "').value;"
                    "s.dispatchEvent(new Event('change'))");
    };
    const auto heading = [&] {
        return browser.run(chart + "return figures.querySelector('h3').textContent").get<std::string>();
    };
    CHECK(heading() == "Training loss by consumed tokens (layer-averaged)");
    choose("FLOPs");
    CHECK_THAT(texts(), Contains("FLOPs") && !Contains("FLOPs (log scale)"));
    CHECK(heading() == "Training loss by FLOPs");
    browser.run(chart + "figures.querySelector('input[type=checkbox]').click()");
    CHECK_THAT(texts(), Contains("FLOPs (log scale)"));
    choose("train time (s)");
    CHECK_THAT(texts(), Contains("train time (s) (log scale)"));
    browser.run(chart + "figures.querySelectorAll('button')[0].click()");
    CHECK_THAT(texts(), !Contains("baseline 100%"));
    browser.run(chart + "figures.querySelectorAll('button')[0].click()");
    browser.run(chart +
                "const r = svg.getBoundingClientRect(); svg.dispatchEvent(new PointerEvent('pointermove', "
                "{clientX: r.left + r.width / 3, clientY: r.top + 50}))");
    const auto values = browser.run(chart + "return figures.querySelector('.values').textContent").get<std::string>();
    CHECK_THAT(values, Contains("train time (s): ") && Contains("baseline 100% ") && Contains("random-LTD 50% "));
    CHECK(browser.complaints() == std::vector<std::string>());
}

TEST_CASE("a page without script shows every table, line and axis, and no control", "[bare]") {
    if (!has_browser()) DEFT_SKIP(kNoBrowser);
    const TinySweep sweep(kPlain);
    const std::string address = "file://" + written_page(sweep, kPageOf).string();
    // Rows, lines and axes that a reader sees, folded details opened.
    const std::string visible = R"js(
        document.querySelectorAll('details').forEach(one => { one.open = true; });
        const seen = of => [...document.querySelectorAll(of)].filter(one => one.getBoundingClientRect().width);
        return {rows: seen('tbody tr').length, charts: seen('svg').length, lines: seen('svg .line').length,
                controls: seen('input, select, button').length,
                axes: [...new Set(seen('.figures h3').map(one => one.textContent))]};)js";
    Browser with(sweep.folder.path, 1280), without(sweep.folder.path, 1280);
    with.open(address);
    without.block_scripts();
    without.open(address);
    const Json full = with.run(visible), plain = without.run(visible);
    CHECK(full.at("controls") > 0);
    CHECK(plain.at("controls") == 0);
    CHECK(plain.at("rows") >= full.at("rows"));
    CHECK(plain.at("charts") > full.at("charts"));  // each axis has a chart
    CHECK(plain.at("lines") > full.at("lines"));
    CHECK(plain.at("axes").size() >= 3);
    CHECK(without.run(kCollidingTexts) == Json::array());
    CHECK(without.complaints() == std::vector<std::string>());
}

TEST_CASE("no two labels of a page's pictures collide, wide or narrow", "[bare]") {
    if (!has_browser()) DEFT_SKIP(kNoBrowser);
    const TinySweep sweep(kPlain);
    for (const int width : {1280, 400}) {
        Browser browser(sweep.folder.path, width);
        for (const char* name : {"gpt_combined_proxy", "low_budget_proxy", "moe_data_efficiency_proxy"}) {
            CAPTURE(width, name);
            browser.open("file://" +
                         written_page(sweep, fmt::format("{}/evidence/{}.jsonl", DEFT_SOURCE_DIR, name)).string());
            CHECK(browser.run(kCollidingTexts) == Json::array());
            CHECK(browser.run(kFitsWindow) == true);
            CHECK(browser.complaints() == std::vector<std::string>());
        }
    }
}

TEST_CASE("a served page that is renewed keeps what its reader chose", "[bare]") {
    if (!has_browser()) DEFT_SKIP(kNoBrowser);
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == 0);
    const Served served(sweep);
    Browser browser(sweep.folder.path, 1280);
    browser.open(served.address);
    browser.run(
        "const s = document.querySelector('.figures select'); s.value = '1'; s.dispatchEvent(new Event('change'));"
        "document.querySelector('.figures input[type=checkbox]').click();"
        "document.querySelector('.figures button').click();"
        "document.querySelector('main').dataset.seen = 'before'");
    const std::string chosen =
        "const f = document.querySelector('.figures');"
        "return [f.querySelector('h3').textContent, f.querySelector('select').value,"
        "f.querySelector('input[type=checkbox]').checked, f.querySelector('button').getAttribute('aria-pressed')]";
    const Json before = browser.run(chosen);
    CHECK(before == Json({"Training loss by input tokens", "1", true, "false"}));
    results_db::Connection(sweep.root / "results.db", results_db::Connection::Mode::write)
        .execute("UPDATE sweep SET title = 'Renewed'");
    REQUIRE(wait_until([&] { return browser.run("return document.querySelector('main').dataset.seen || ''") == ""; }));
    CHECK(browser.run("return document.querySelector('h1').textContent") == "Renewed");
    CHECK(browser.run(chosen) == before);
    CHECK(browser.complaints() == std::vector<std::string>());
}

TEST_CASE("a served page follows its run, asks nobody else, and says that its driver has ended", "[bare][slow]") {
    if (!has_browser()) DEFT_SKIP(kNoBrowser);
    const TinySweep sweep(kPlain + long_budget(10'000'000), "[1, 2]");
    Process run = sweep.start({"--slots", "cpu:1"});
    REQUIRE(wait_until([&] { return std::filesystem::exists(sweep.root / "results.db"); }));
    REQUIRE(wait_until([&] { return sweep.deft("status").exit_code == 0; }));
    Served served(sweep);
    Browser browser(sweep.folder.path, 1280);
    browser.open(served.address);
    const auto state = [&] {
        return browser.run("return document.querySelector('.live').textContent").get<std::string>();
    };
    CHECK_THAT(state(), Contains("of 2 trials done"));
    REQUIRE(wait_until([&] { return browser.run("return document.querySelectorAll('#running').length") == 1; }));
    const auto path = [&] {
        return browser
            .run(
                "const l = document.querySelector('#running + h3 + figure .line'); return l ? l.getAttribute('d') : ''")
            .get<std::string>();
    };
    // A curve of many points keeps its length, and its scale follows the run.
    const std::string before = path();
    CHECK(wait_until([&] { return !path().empty() && path() != before; }));
    run.signal(SIGKILL);
    run.wait();
    CHECK(wait_until([&] { return state().find("the driver has ended") != std::string::npos; }));
    const std::string own = served.address.substr(0, served.address.find('/', 7));
    for (const std::string& asked : browser.requests()) CHECK_THAT(asked, Catch::Matchers::StartsWith(own));
    CHECK(browser.complaints() == std::vector<std::string>());
    served.server.signal(SIGTERM);
    CHECK(served.server.wait() == -SIGTERM);
    CHECK(wait_until([&] { return state().find("deft serve does not answer") != std::string::npos; }));
}
