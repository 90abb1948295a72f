#include "reporting/views/render/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "reporting/numbers.h"
#include "reporting/text.h"
#include "reporting/views/render/figure.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

constexpr double kWidth = 980, kTop = 40, kRowHeight = 24, kGap = 1;
constexpr double kWidestCell = 48;
constexpr std::size_t kNamedColumns = 9;
constexpr int kLegendSteps = 8;
constexpr double kPalest = 0.07;  // still distinct from an empty cell

struct Layout {
    double left = 0, cell = 0, bottom = 0;
    std::size_t columns = 0;

    double right() const { return left + cell * static_cast<double>(columns); }
    double y(std::size_t row) const { return kTop + kRowHeight * static_cast<double>(row); }
};

Layout layout_of(const HeatMap& map) {
    Layout layout;
    double names = 0, asides = 0;
    for (const HeatRow& row : map.rows) {
        layout.columns = std::max(layout.columns, row.cells.size());
        names = std::max(names, svg_text_width(row.name));
        asides = std::max(asides, svg_text_width(row.aside));
    }
    layout.left = 26 + names + 8;
    // The last column's name is centred on a cell that may be narrower.
    const double name_beyond = map.columns.empty() ? 0 : svg_text_width(map.columns.back()) / 2;
    const double room = kWidth - layout.left - std::max(name_beyond, asides > 0 ? asides + 14 : 0.0);
    layout.cell = std::min(kWidestCell, room / static_cast<double>(std::max<std::size_t>(layout.columns, 1)));
    layout.bottom = layout.y(map.rows.size());
    return layout;
}

std::string opacity_of(double dark) {
    return fmt::format("{:.2f}", kPalest + (1 - kPalest) * dark);
}

std::string cell_svg(double x, double y, double width, double height, double dark) {
    return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"{}\"/>", svg_number(x),
                       svg_number(y), svg_number(width), svg_number(height), opacity_of(dark));
}

// One path for all cells of a shade: an element for each cell takes three times the bytes.
std::string cells_svg(const HeatMap& map, const Layout& layout) {
    // A gap between narrow cells would outweigh them.
    const double gap = layout.cell > 8 ? kGap : 0;
    const std::string width = svg_number(layout.cell - gap);
    const std::string outline = fmt::format("h{0}v{1}h-{0}z", width, svg_number(kRowHeight - kGap));
    std::map<std::string, std::string> shades;
    for (std::size_t r = 0; r < map.rows.size(); ++r)
        for (std::size_t c = 0; c < map.rows[r].cells.size(); ++c)
            if (const double value = map.rows[r].cells[c]; !std::isnan(value))
                shades[opacity_of(darkness(map, value))] +=
                    fmt::format("M{} {}{}", svg_number(layout.left + layout.cell * static_cast<double>(c)),
                                svg_number(layout.y(r)), outline);
    std::string out;
    for (const auto& [opacity, cells] : shades)
        out += fmt::format("<path fill-opacity=\"{}\" d=\"{}\"/>", opacity, cells);
    return out;
}

// From the palest to the darkest colour, with their values at the ends.
std::string legend_svg(const HeatMap& map, const Layout& layout) {
    constexpr double kSwatch = 22, kY = 10, kHeight = 12;
    const std::string from = map.text(map.from), to = map.text(map.to);
    const double x = layout.left + svg_text_width(from) + 6;
    std::string out =
        fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", svg_number(layout.left), svg_number(kY + 11), from);
    out += "<g class=\"s1\">";
    for (int i = 0; i < kLegendSteps; ++i)
        out += cell_svg(x + kSwatch * i, kY, kSwatch, kHeight, static_cast<double>(i) / (kLegendSteps - 1));
    return out + fmt::format("</g><text x=\"{}\" y=\"{}\">{} <tspan class=\"muted\">{}</tspan></text>",
                             svg_number(x + kSwatch * kLegendSteps + 6), svg_number(kY + 11), to,
                             html_escaped(map.value_title));
}

std::string names_svg(const HeatMap& map, const Layout& layout) {
    std::string out;
    for (std::size_t r = 0; r < map.rows.size(); ++r) {
        const std::string y = svg_number(layout.y(r) + kRowHeight / 2);
        out += fmt::format("<text x=\"{}\" y=\"{}\" dy=\"4\" text-anchor=\"end\">{}</text>",
                           svg_number(layout.left - 8), y, html_escaped(map.rows[r].name));
        if (!map.rows[r].aside.empty())
            out += fmt::format("<text class=\"muted\" x=\"{}\" y=\"{}\" dy=\"4\">{}</text>",
                               svg_number(layout.right() + 10), y, html_escaped(map.rows[r].aside));
    }
    const std::size_t named = std::min(map.columns.size(), kNamedColumns);
    for (std::size_t i = 0; i < named; ++i) {
        const std::size_t c = named == 1 ? 0 : i * (map.columns.size() - 1) / (named - 1);
        out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                           svg_number(layout.left + layout.cell * (static_cast<double>(c) + 0.5)),
                           svg_number(layout.bottom + 17), html_escaped(map.columns[c]));
    }
    // Wider than a narrow map, it begins where that does.
    const double half = svg_text_width(map.x_title) / 2;
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                       svg_number(std::max(layout.left + half, (layout.left + layout.right()) / 2)),
                       svg_number(layout.bottom + 38), html_escaped(map.x_title));
    return out + fmt::format("<text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
                             svg_number((kTop + layout.bottom) / 2), html_escaped(map.y_title));
}

}  // namespace

double darkness(const HeatMap& map, double value) {
    return std::clamp((value - map.from) / (map.to - map.from), 0.0, 1.0);
}

std::string description(const HeatMap& map) {
    const HeatRow *lowest = nullptr, *highest = nullptr;
    double least = 0, most = 0;
    for (const HeatRow& row : map.rows)
        for (const double value : row.cells) {
            if (std::isnan(value)) continue;
            if (lowest == nullptr || value < least) {
                lowest = &row;
                least = value;
            }
            if (highest == nullptr || value > most) {
                highest = &row;
                most = value;
            }
        }
    if (lowest == nullptr) return "No finite values were recorded.";
    return fmt::format("The {}, goes from {} ({} {}) to {} ({} {}), over {}.", map.value_title, map.text(least),
                       map.y_title, lowest->name, map.text(most), map.y_title, highest->name,
                       counted(map.rows.size(), map.y_title.c_str()));
}

std::string render_svg(const HeatMap& map) {
    const Layout layout = layout_of(map);
    std::string out = fmt::format(
        "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-labelledby=\"{2}-title {2}-desc\">\n"
        "<title id=\"{2}-title\">{3}</title>\n<desc id=\"{2}-desc\">{4}</desc>\n",
        svg_number(kWidth), svg_number(layout.bottom + 46), html_escaped(map.id), html_escaped(map.title),
        html_escaped(description(map)));
    out += legend_svg(map, layout);
    out += fmt::format("\n<g class=\"s1\">{}</g>\n<g>{}</g>\n", cells_svg(map, layout), names_svg(map, layout));
    return out + "</svg>\n";
}

std::string heat_map_html(const HeatMap& map) {
    return fmt::format(
        "<h3>{0}</h3>\n<figure>\n<div class=\"scroll chart\" role=\"region\" tabindex=\"0\" "
        "aria-label=\"{0}\">\n{1}</div>\n"
        "<figcaption>{2}</figcaption>\n</figure>\n",
        html_escaped(map.title), render_svg(map), html_escaped(description(map)));
}

}  // namespace deft::reporting
