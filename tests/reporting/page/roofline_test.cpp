// Rooflines: what bounds a kernel, where it is drawn, and the page.

#include "reporting/roofline.h"

#include <cmath>
#include <limits>

#include "reporting/views/page/roofline_page.h"
#include "reporting/views/page/roofline_svg.h"
#include "tests/catch.h"
#include "tests/reporting/without_script.h"

using namespace deft::reporting;

namespace {

enum RoofIndex : std::size_t { kCompute, kMemory, kCache };

Roofline with_roofs(std::vector<RooflinePoint> points = {}) {
    return {"cpu, hot",
            {{"AVX2 FMA", Bound::compute, 1000}, {"memory", Bound::memory, 10}, {"L2", Bound::cache, 40}},
            std::move(points)};
}

RooflinePoint kernel(double flops, double bytes, double seconds, std::size_t traffic = kMemory) {
    return {"sum", flops, bytes, seconds, kCompute, traffic};
}

std::size_t occurrences(const std::string& text, const std::string& of) {
    std::size_t found = 0;
    for (std::size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("a kernel is bound by the lower of its two roofs") {
    const RooflinePoint from_memory = kernel(5000, 200, 40), from_cache = kernel(5000, 100, 10, kCache),
                        computes = kernel(5000, 100, 10, kCache);
    const Roofline roofline = with_roofs();
    // 5000 / 1000 = 5 s of FLOPs; 200 / 10 = 20 s of memory.
    CHECK(bounding_roof(roofline, from_memory).bound == Bound::memory);
    CHECK(share_of_roof(roofline, from_memory) == Approx(0.5));
    // 100 / 40 = 2.5 s of the cache.
    CHECK(bounding_roof(roofline, computes).bound == Bound::compute);
    CHECK(share_of_roof(roofline, computes) == Approx(0.5));
    CHECK(bounding_roof(roofline, kernel(500, 100, 10, kCache)).bound == Bound::cache);
    CHECK(share_of_roof(roofline, kernel(500, 100, 10, kCache)) == Approx(0.25));
    CHECK(bounding_roof(roofline, kernel(0, 100, 10)).bound == Bound::memory);
    CHECK(bounding_roof(roofline, kernel(100, 0, 10)).bound == Bound::compute);
    REQUIRE(place_of(from_memory));
    CHECK(place_of(from_memory)->intensity == 25);
    CHECK(place_of(from_memory)->rate == 125);
    CHECK(intensity_text(0.0625) == "0.0625");
    CHECK(intensity_text(45.83) == "45.8");
    CHECK(intensity_text(1229) == "1.23k");
    CHECK(bound_text(bounding_roof(roofline, from_cache)) == "compute roof (AVX2 FMA)");
}

TEST_CASE("a kernel without FLOPs, bytes or a time has no place on logarithmic axes") {
    CHECK_FALSE(place_of(kernel(0, 100, 1)));
    CHECK_FALSE(place_of(kernel(100, 0, 1)));
    CHECK_FALSE(place_of(kernel(100, 100, 0)));
    CHECK_FALSE(place_of(kernel(std::nan(""), 100, 1)));
    CHECK_FALSE(place_of(kernel(std::numeric_limits<double>::infinity(), 100, 1)));
}

TEST_CASE("axes hold the kernels and the ridge, and roofs meet there") {
    // One FLOP per byte at 10 FLOP/s; the ridge of compute and memory is at 1000 / 10 = 100 FLOP per byte.
    const Roofline roofline = with_roofs({kernel(10, 10, 1)});
    const RooflineAxes axes = axes_of(roofline);
    CHECK(axes.intensity.log);
    CHECK(axes.intensity.from == Approx(1 / 1.3));
    CHECK(axes.intensity.to == Approx(130));
    CHECK(axes.rate.from == Approx(10 / 1.3));
    CHECK(axes.rate.to == Approx(1300));
    // log(130) / log(169) = 0.948856 of the plot's 408 and 256.
    CHECK(roofline_x(axes, 100) == Approx(62 + 0.948856 * 408).margin(0.01));
    CHECK(roofline_y(axes, 1000) == Approx(266 - 0.948856 * 256).margin(0.01));
    CHECK(roofline_x(axes, axes.intensity.from) == Approx(62));
    CHECK(roofline_y(axes, axes.rate.to) == Approx(10));

    const std::string svg = roofline_svg(roofline, "id");
    // Memory: from its 10 B/s at the left border to the ridge; compute: from the ridge of the L2, 1000 / 40 = 25, on.
    CHECK_THAT(svg, ContainsSubstring("<path class=\"roof s2\" d=\"M62 266L449.1 23.1\"/>") &&
                        ContainsSubstring("<path class=\"roof s1\" d=\"M338.9 23.1L470 23.1\"/>"));
    // No kernel is under the L2's: its line is dashed.
    CHECK_THAT(svg, ContainsSubstring("<path class=\"roof s3\" d=\"M62 196.8") &&
                        ContainsSubstring("L338.9 23.1\" stroke-dasharray=\"7 4\"/>"));
    CHECK_THAT(svg, ContainsSubstring("arithmetic intensity, FLOP/byte (log scale)") &&
                        ContainsSubstring("FLOP/s (log scale)"));
    CHECK_THAT(svg, ContainsSubstring("memory 10 B/s") && ContainsSubstring("AVX2 FMA 1.00 kFLOP/s"));
}

TEST_CASE("the shape of a mark, its title and the key name what bounds a kernel") {
    Roofline roofline = with_roofs(
        {kernel(5000, 200, 40), kernel(5000, 100, 10, kCache), kernel(500, 100, 10, kCache), kernel(0, 1, 1)});
    roofline.points[2].name = "</title><script>alert(1)</script>";
    const std::string svg = roofline_svg(roofline, "id");
    CHECK_THAT(svg, ContainsSubstring("<g class=\"kernels s1\"><g><title>sum: 50 FLOP/byte, 500 FLOP/s, 50% of its "
                                      "compute roof (AVX2 FMA)</title><circle ") &&
                        ContainsSubstring("<g class=\"kernels s2\"><g><title>sum: 25 FLOP/byte, 125 FLOP/s, 50% of its "
                                          "memory roof (memory)</title><rect ") &&
                        ContainsSubstring("25% of its cache roof (L2)</title><path d="));
    for (const char* entry : {"compute-bound 1<", "memory-bound 1<", "cache-bound 1<"})
        CHECK_THAT(svg, ContainsSubstring(entry));
    CHECK_THAT(svg, !ContainsSubstring("<script") && ContainsSubstring("&lt;/title&gt;&lt;script&gt;"));
}

TEST_CASE("a page of rooflines lists every kernel, and needs no script") {
    Roofline roofline = with_roofs({kernel(5000, 200, 40), kernel(0, 100, 100)});
    roofline.points[0].name = "<img src=x onerror=alert(1)>";
    const RooflinePage page = {"Rooflines", "2 cases & <b>", {roofline}, {"Noise: <i>"}};
    const std::string html = without_script(render_roofline_page(page));
    CHECK_THAT(html, !ContainsSubstring("<img") && !ContainsSubstring("<b>") && !ContainsSubstring("<i>") &&
                         !ContainsSubstring("<script") && ContainsSubstring("default-src 'none'"));
    CHECK(occurrences(html, "<tr>") == 3);
    CHECK_THAT(html, ContainsSubstring("2 kernels; the median reaches 30% of its roof. Farthest below: sum (10%, "
                                       "memory), &lt;img src=x onerror=alert(1)&gt; (50%, memory). 1 without FLOPs or "
                                       "bytes is in the table alone."));
    CHECK(html == without_script(render_roofline_page(page)));
}

TEST_CASE("a page of no kernel says so, and one of a single kernel has axes") {
    CHECK_THAT(render_roofline_page({"Rooflines", "", {}, {}}), ContainsSubstring("No kernel was timed"));
    CHECK_THAT(render_roofline_page({"Rooflines", "", {with_roofs()}, {}}),
               ContainsSubstring("No kernel was timed") && !ContainsSubstring("<svg"));
    const std::string one = render_roofline_page({"Rooflines", "", {with_roofs({kernel(1, 1, 1)})}, {}});
    CHECK_THAT(one,
               ContainsSubstring("1 kernel; the median") && !ContainsSubstring("nan") && !ContainsSubstring("inf\""));
    const Roofline alone{"cpu, hot", {{"FMA", Bound::compute, 10}, {"memory", Bound::memory, 10}}, {kernel(10, 10, 1)}};
    const RooflineAxes axes = axes_of(alone);  // its place is the ridge
    CHECK(axes.intensity.to / axes.intensity.from == Approx(100 * 1.3 * 1.3));
    CHECK(roofline_x(axes, 1) == Approx((62 + 470) / 2.0));
}

TEST_CASE("thousands of kernels are drawn, and each is small") {
    std::vector<RooflinePoint> points;
    for (int i = 0; i < 5000; ++i) points.push_back(kernel(1 + i, 1000, 1e3 / (1 + i % 7), kMemory + i % 2));
    const std::string html = render_roofline_page({"Rooflines", "", {with_roofs(points)}, {}});
    CHECK(occurrences(html, "</title><") >= 5000);
    CHECK(html.size() < 3'000'000);
}

TEST_CASE("tick labels keep their distance over any number of decades") {
    for (const double most : {1e2, 1e6, 1e12, 1e18}) {
        const std::string svg = roofline_svg(with_roofs({kernel(1e-6, 1, 1), kernel(most, 1, 1)}), "id");
        double after = -1e9;
        int labels = 0;
        const std::string y = "\" y=\"283\" text-anchor=\"middle\">";
        for (std::size_t at = svg.find(y); at != std::string::npos; at = svg.find(y, at + 1)) {
            const std::size_t begin = svg.rfind("x=\"", at) + 3;
            const double x = std::stod(svg.substr(begin));
            const std::string text = svg.substr(at + y.size(), svg.find('<', at + y.size()) - at - y.size());
            CHECK(x - svg_text_width(text) / 2 > after);
            after = x + svg_text_width(text) / 2;
            ++labels;
        }
        CHECK(labels >= 2);
    }
}
