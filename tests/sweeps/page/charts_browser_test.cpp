// Rooflines and the history of benchmarks in a browser.

#include <cmath>

#include "base/files.h"
#include "reporting/analysis/trend/history_table.h"
#include "reporting/views/page/history_page.h"
#include "reporting/views/page/roofline_page.h"
#include "tests/sweeps/browser.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::test;

namespace {

// Five decades of intensity, from a hundredth of the roof to the roof.
reporting::RooflinePage made_rooflines() {
    using reporting::Bound;
    const std::vector<reporting::Roof> of_cpu = {{"AVX-512 FMA", Bound::compute, 145e9},
                                                 {"AVX2 FMA", Bound::compute, 141e9},
                                                 {"memory", Bound::memory, 21.3e9},
                                                 {"L2", Bound::cache, 210e9}};
    const std::vector<reporting::Roof> of_gpu = {{"bf16 product", Bound::compute, 796e12},
                                                 {"f32 product", Bound::compute, 51e12},
                                                 {"memory", Bound::memory, 4.23e12},
                                                 {"L2", Bound::cache, 4.24e12}};
    std::vector<reporting::Roofline> all = {
        {"cpu, hot", of_cpu, {}}, {"cpu, cold", of_cpu, {}}, {"cuda-bf16, rotating", of_gpu, {}}};
    for (reporting::Roofline& roofline : all)
        for (int i = 0; i < 90; ++i) {
            reporting::RooflinePoint point;
            point.name = fmt::format("linear_backward_weight/2048/256/{}/accumulate", i);
            point.traffic = i % 3 == 0 ? 3 : 2;
            point.bytes = 1e6;
            point.flops = 1e5 * std::pow(10, i % 50 / 10.0);
            point.seconds = std::pow(10, i % 21 / 10.0) * std::max(point.flops / roofline.roofs[0].rate,
                                                                   point.bytes / roofline.roofs[point.traffic].rate);
            roofline.points.push_back(point);
        }
    return {"Rooflines of benchmarks", "90 cases, 2 threads.", all, {"Peaks measured in this run."}};
}

// In one window each; the addresses that were asked for are the page's own.
void check_page(const std::filesystem::path& folder, const std::string& page, std::size_t charts) {
    write_file_atomically(folder / "page.html", page);
    for (const int width : {1280, 400}) {
        CAPTURE(width);
        Browser browser(folder, width);
        browser.open("file://" + (folder / "page.html").string());
        CHECK(browser.run("return document.querySelectorAll('svg').length") == charts);
        CHECK(browser.run(kCollidingTexts) == Json::array());
        CHECK(browser.run(kFitsWindow) == true);
        CHECK(browser.run("return [...document.querySelectorAll('svg text')].every("
                          "t => parseFloat(getComputedStyle(t).fontSize) * Math.hypot(t.getScreenCTM().a, "
                          "t.getScreenCTM().b) >= 9.5)") == true);
        CHECK(browser.complaints() == std::vector<std::string>());
        for (const std::string& asked : browser.requests()) CHECK_THAT(asked, Catch::Matchers::StartsWith("file://"));
    }
}

}  // namespace

TEST_CASE("rooflines fit wide and narrow windows, and no two of their labels collide", "[bare]") {
    if (!has_browser()) DEFT_SKIP(kNoBrowser);
    const TemporaryFolder folder;
    check_page(folder.path(), reporting::render_roofline_page(made_rooflines()), 3);
}

namespace {

// Three states of the caches, of which one gets slower; the host's kernel is another from the tenth session on.
std::vector<results_db::BenchHistoryRow> made_history(int cases) {
    std::vector<results_db::BenchHistoryRow> rows;
    for (int one = 0; one < cases; ++one)
        for (const char* caches : {"cold", "hot", "rotating"})
            for (int session = 0; session < 24; ++session) {
                results_db::BenchHistoryRow row;
                row.kernel = fmt::format("linear_backward_weight/{}", one);
                row.impl = "cuda-bf16";
                row.params_json = fmt::format(R"({{"case":"2048/256/768","caches":"{}"}})", caches);
                row.hostname = "node1";
                row.host_fingerprint = "0123456789abcdef";
                row.compiler = "GNU 12.2.0";
                row.code_id = 1 + session / 2;
                row.git_sha = fmt::format("{:012x}", row.code_id * 7919);
                row.started_ms = 1'700'000'000'000 + session * 86'400'000LL;
                row.ended_ms = row.started_ms + 1000;
                row.machine_json = fmt::format(R"({{"kernel":"Linux 6.{}","os":"Debian 12"}})", session / 10);
                row.seconds = 1e-4 * (1 + 0.003 * ((session * 7 + one) % 5));
                if (one % 3 == 0 && session > 17 && row.params_json.find("hot") != std::string::npos)
                    row.seconds *= 1.25;
                row.deviation = 1e-6;
                rows.push_back(row);
            }
    return rows;
}

}  // namespace

TEST_CASE("charts of a history fit wide and narrow windows, and filter by their text", "[bare]") {
    if (!has_browser()) DEFT_SKIP(kNoBrowser);
    const TemporaryFolder folder;
    const std::string page =
        reporting::render_history_page(reporting::series_histories(reporting::bench_series(made_history(9))));
    check_page(folder.path(), page, 9);
    Browser browser(folder.path(), 1280);
    browser.open("file://" + (folder.path() / "page.html").string());
    const std::string visible = "return [...document.querySelectorAll('.panel')].filter(p => !p.hidden).length";
    CHECK(browser.run(visible) == 9);
    const auto filter = [&](const char* text) {
        browser.run(
            fmt::format("const f = document.querySelector('input[aria-label=\"Filter charts\"]');"
                        "f.value = '{}'; f.dispatchEvent(new Event('input'))",
                        text));
        return browser.run(visible);
    };
    CHECK(filter("weight/4") == 1);
    CHECK(filter("HOT: SLOWER") == 3);
    CHECK(filter("no such") == 0);
    CHECK(filter("") == 9);
    CHECK(browser.complaints() == std::vector<std::string>());
}
