// Rooflines in a browser.

#include <cmath>

#include "base/files.h"
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
