#include "reporting/views/page/roofline_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/median.h"
#include "base/text.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "reporting/views/page/roofline_svg.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

constexpr std::size_t kMostFarNamed = 3;

std::string share_text(double share) {
    return fmt::format("{:.{}f}%", 100 * share, share < 0.1 ? 1 : 0);
}

struct Shared {
    double share = 0;
    std::string name, bound;
};

// Shares of their roofs, the least first.
std::vector<Shared> shares_of(const Roofline& roofline) {
    std::vector<Shared> shares;
    for (const RooflinePoint& point : roofline.points)
        shares.push_back({share_of_roof(roofline, point), point.name, to_string(bounding_roof(roofline, point).bound)});
    std::stable_sort(shares.begin(), shares.end(), [](const Shared& a, const Shared& b) { return a.share < b.share; });
    return shares;
}

std::string caption_of(const Roofline& roofline) {
    const std::vector<Shared> shares = shares_of(roofline);
    if (shares.empty()) return "No kernel.";
    std::vector<double> values;
    for (const Shared& one : shares) values.push_back(one.share);
    std::string text = fmt::format("{}; the median reaches {} of its roof.", counted(shares.size(), "kernel"),
                                   share_text(median(values)));
    std::vector<std::string> far;
    for (std::size_t i = 0; i < std::min(kMostFarNamed, shares.size()); ++i)
        far.push_back(fmt::format("{} ({}, {})", shares[i].name, share_text(shares[i].share), shares[i].bound));
    text += fmt::format(" Farthest below: {}.", fmt::join(far, ", "));
    const auto without = std::count_if(roofline.points.begin(), roofline.points.end(),
                                       [](const RooflinePoint& point) { return !place_of(point); });
    if (without > 0)
        text += fmt::format(" {} without FLOPs or bytes {} in the table alone.", without, without == 1 ? "is" : "are");
    return text;
}

std::string figure_of(const Roofline& roofline, std::size_t number) {
    return fmt::format("<figure class=\"panel\">\n<h3>{}</h3>\n{}<figcaption>{}</figcaption>\n</figure>\n",
                       html_escaped(roofline.title), roofline_svg(roofline, fmt::format("roofline-{}", number)),
                       html_escaped(caption_of(roofline)));
}

Cell number_cell(double value, const std::string& text) {
    return value > 0 ? Cell(text, value) : Cell("-");
}

Table kernels_table(const std::vector<Roofline>& rooflines) {
    Table table;
    table.caption = "Kernels and what bounds them";
    table.columns = {{"kernel", Align::left}, {"chart", Align::left}, {"time"}, {"FLOP/byte"}, {"FLOP/s"}, {"B/s"},
                     {"bound", Align::left},  {"of its roof"}};
    for (const Roofline& roofline : rooflines)
        for (const RooflinePoint& point : roofline.points) {
            const double flops = point.flops / point.seconds, bytes = point.bytes / point.seconds,
                         intensity = point.bytes > 0 ? point.flops / point.bytes : 0,
                         share = share_of_roof(roofline, point);
            table.rows.push_back({point.name, roofline.title, Cell(small_seconds(point.seconds), point.seconds),
                                  number_cell(intensity, intensity_text(intensity)), number_cell(flops, si(flops)),
                                  number_cell(bytes, si(bytes)), to_string(bounding_roof(roofline, point).bound),
                                  Cell(share_text(share), share)});
        }
    return table;
}

std::vector<std::string> reading_notes() {
    return {
        "A mark is a kernel at its FLOPs per byte and FLOPs per second, both from its shapes and its time. Circles are "
        "bound by compute, squares by memory, triangles by a cache. Point at one to see its name.",
        "A line is a rate that this run measured. A kernel's bound is the lower of its compute roof and the roof of "
        "what "
        "holds its operands. A dashed line is above no kernel of its chart.",
        "A mark above its roof had its operands in a nearer cache, or other programs slowed the measurement of the "
        "peaks.",
        "A mark far below its roof waits for something else: a launch, a latency, or exponentials."};
}

}  // namespace

std::string render_roofline_page(const RooflinePage& page) {
    std::string out = page_head(page.title) +
                      fmt::format("<h1>{}</h1>\n<p>{}</p>\n", html_escaped(page.title), html_escaped(page.about));
    const bool is_empty = std::all_of(page.rooflines.begin(), page.rooflines.end(),
                                      [](const Roofline& roofline) { return roofline.points.empty(); });
    if (is_empty) {
        out += "<p>No kernel was timed whose FLOPs or bytes are known.</p>\n";
    } else {
        out += "<div class=\"panels rooflines\">\n";
        for (std::size_t i = 0; i < page.rooflines.size(); ++i) out += figure_of(page.rooflines[i], i + 1);
        out += "</div>\n<h2>Kernels</h2>\n" + render_html(kernels_table(page.rooflines));
    }
    out += "<h2>How to read this</h2>\n" + notes_html(reading_notes());
    if (!page.notes.empty()) out += "<h2>How it was measured</h2>\n" + notes_html(page.notes);
    return out + page_end();
}

}  // namespace deft::reporting
