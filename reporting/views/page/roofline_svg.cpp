#include "reporting/views/page/roofline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "base/text.h"
#include "reporting/numbers.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

constexpr double kPlotLeft = 62, kPlotRight = 470, kPlotTop = 10, kPlotBottom = 266, kChartBottom = 316;
constexpr double kKeyRow = 21;                      // of the key, which is above the plot
constexpr double kKeySample = 28, kKeyGap = 10;     // a sample with the gap after it, and between entries
constexpr double kLeastDecades = 2, kMargin = 1.3;  // of an axis
constexpr double kMarkRadius = 3.2;

struct Look {
    const char* colour;  // a class of the style sheet
    std::size_t marker;  // of marker_svg()
};

Look look_of(Bound bound) {
    switch (bound) {
        case Bound::compute:
            return {"s1", 0};
        case Bound::memory:
            return {"s2", 1};
        case Bound::cache:
            break;
    }
    return {"s3", 2};
}

Axis log_axis(double least, double most) {
    const double room = std::max(0.0, kLeastDecades - std::log10(most / least)) / 2;
    const double wider = kMargin * std::pow(10.0, room);
    return {true, least / wider, most * wider};
}

// The highest or lowest rate of the roofs of those kinds; 0 without any.
double extreme_rate(const Roofline& roofline, std::initializer_list<Bound> kinds, bool highest) {
    double found = 0;
    for (const Roof& roof : roofline.roofs) {
        if (std::find(kinds.begin(), kinds.end(), roof.bound) == kinds.end()) continue;
        if (found == 0 || (roof.rate > found) == highest) found = roof.rate;
    }
    return found;
}

bool is_above_a_point(const Roofline& roofline, std::size_t roof) {
    return std::any_of(roofline.points.begin(), roofline.points.end(),
                       [&](const RooflinePoint& point) { return point.compute == roof || point.traffic == roof; });
}

std::string roof_dash(const Roofline& roofline, std::size_t roof) {
    return dash_svg(is_above_a_point(roofline, roof) ? 0 : 1);
}

// Every n-th tick, where n is the least that keeps their labels apart.
std::vector<Tick> ticks_apart(const std::vector<Tick>& all, const Axis& axis, double length, bool sideways) {
    const auto fits = [&](std::size_t step) {
        for (std::size_t i = step; i < all.size(); i += step) {
            const double distance = (place_on(axis, all[i].value) - place_on(axis, all[i - step].value)) * length;
            const double width = (svg_text_width(all[i].text) + svg_text_width(all[i - step].text)) / 2;
            if (distance < (sideways ? width + 8 : 18)) return false;
        }
        return true;
    };
    std::size_t step = 1;
    while (step < all.size() && !fits(step)) ++step;
    std::vector<Tick> apart;
    for (std::size_t i = 0; i < all.size(); i += step) apart.push_back(all[i]);
    return apart;
}

std::string grid_and_labels(const RooflineAxes& axes) {
    std::string grid, labels;
    for (const Tick& tick : ticks_apart(ticks(axes.rate, 3), axes.rate, kPlotBottom - kPlotTop, false))
        add_tick_svg(tick, kPlotLeft, kPlotRight, roofline_y(axes, tick.value), 6, grid, labels);
    for (const Tick& tick : ticks_apart(ticks(axes.intensity, 3), axes.intensity, kPlotRight - kPlotLeft, true)) {
        const std::string x = svg_number(roofline_x(axes, tick.value));
        grid += fmt::format("M{} {}V{}", x, svg_number(kPlotTop), svg_number(kPlotBottom));
        labels += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x,
                              svg_number(kPlotBottom + 17), tick.text);
    }
    labels +=
        fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">arithmetic intensity, FLOP/byte (log scale)</text>",
                    svg_number((kPlotLeft + kPlotRight) / 2), svg_number(kChartBottom - 8));
    labels +=
        fmt::format("<text transform=\"translate(13 {}) rotate(-90)\" text-anchor=\"middle\">FLOP/s (log scale)</text>",
                    svg_number((kPlotTop + kPlotBottom) / 2));
    return fmt::format("<path class=\"grid\" d=\"{}\"/><path class=\"frame\" d=\"M{} {}V{}H{}\"/>{}\n", grid,
                       svg_number(kPlotLeft), svg_number(kPlotTop), svg_number(kPlotBottom), svg_number(kPlotRight),
                       labels);
}

// Rises with the intensity up to the highest compute roof, or is flat from the highest of the others on.
std::string roof_svg(const Roofline& roofline, std::size_t index, const RooflineAxes& axes) {
    const Roof& roof = roofline.roofs[index];
    double from = axes.intensity.from, to = axes.intensity.to;
    const auto rate_at = [&](double intensity) {
        return roof.bound == Bound::compute ? roof.rate : roof.rate * intensity;
    };
    if (roof.bound == Bound::compute) {
        if (const double fastest = extreme_rate(roofline, {Bound::memory, Bound::cache}, true); fastest > 0)
            from = std::max(from, roof.rate / fastest);
    } else {
        from = std::max(from, axes.rate.from / roof.rate);
        if (const double highest = extreme_rate(roofline, {Bound::compute}, true); highest > 0)
            to = std::min(to, highest / roof.rate);
    }
    if (!(from < to)) return {};
    return fmt::format("<path class=\"roof {}\" d=\"M{} {}L{} {}\"{}/>", look_of(roof.bound).colour,
                       svg_number(roofline_x(axes, from)), svg_number(roofline_y(axes, rate_at(from))),
                       svg_number(roofline_x(axes, to)), svg_number(roofline_y(axes, rate_at(to))),
                       roof_dash(roofline, index));
}

struct KeyEntry {
    std::string sample;  // drawn around the origin, then moved
    const char* colour = "";
    std::string text;
};

std::vector<KeyEntry> key_of(const Roofline& roofline) {
    std::vector<KeyEntry> entries;
    for (const Bound bound : kBounds) {
        const auto count =
            std::count_if(roofline.points.begin(), roofline.points.end(), [&](const RooflinePoint& point) {
                return place_of(point) && bounding_roof(roofline, point).bound == bound;
            });
        if (count > 0)
            entries.push_back({marker_svg(look_of(bound).marker, 12, 0, 4), look_of(bound).colour,
                               fmt::format("{}-bound {}", to_string(bound), count)});
    }
    for (std::size_t i = 0; i < roofline.roofs.size(); ++i) {
        const Roof& roof = roofline.roofs[i];
        const bool is_flat = roof.bound == Bound::compute;
        entries.push_back({fmt::format("<path class=\"roof\" d=\"M0 {}L22 {}\"{}/>", is_flat ? 0 : 5, is_flat ? 0 : -5,
                                       roof_dash(roofline, i)),
                           look_of(roof.bound).colour, roof.name + " " + si(roof.rate, is_flat ? "FLOP/s" : "B/s")});
    }
    return entries;
}

// Rows of what fits, from zero downwards, and how high they are.
struct Key {
    std::string svg;
    double height = 0;
};

Key key_svg(const Roofline& roofline) {
    Key key;
    double x = 0;
    for (const KeyEntry& entry : key_of(roofline)) {
        const double width = kKeySample + svg_text_width(entry.text);
        if (key.height == 0 || x + width > kRooflineWidth) {
            x = 0;
            key.height += kKeyRow;
        }
        key.svg +=
            fmt::format("<g class=\"{}\" transform=\"translate({} {})\">{}<text x=\"{}\" dy=\"4\">{}</text></g>\n",
                        entry.colour, svg_number(x + 4), svg_number(key.height - kKeyRow / 2), entry.sample,
                        svg_number(kKeySample), html_escaped(entry.text));
        x += width + kKeyGap;
    }
    return key;
}

std::string point_words(const Roofline& roofline, const RooflinePoint& point, const RooflinePlace& place) {
    return fmt::format("{}: {} FLOP/byte, {}, {:.0f}% of its {}", point.name, intensity_text(place.intensity),
                       si(place.rate, "FLOP/s"), 100 * share_of_roof(roofline, point),
                       bound_text(bounding_roof(roofline, point)));
}

std::string points_svg(const Roofline& roofline, const RooflineAxes& axes) {
    std::string out;
    for (const Bound bound : kBounds) {
        std::string marks;
        for (const RooflinePoint& point : roofline.points) {
            const std::optional<RooflinePlace> place = place_of(point);
            if (!place || bounding_roof(roofline, point).bound != bound) continue;
            marks += fmt::format("<g><title>{}</title>{}</g>", html_escaped(point_words(roofline, point, *place)),
                                 marker_svg(look_of(bound).marker, roofline_x(axes, place->intensity),
                                            roofline_y(axes, place->rate), kMarkRadius));
        }
        if (!marks.empty()) out += fmt::format("<g class=\"kernels {}\">{}</g>\n", look_of(bound).colour, marks);
    }
    return out;
}

}  // namespace

std::string intensity_text(double intensity) {
    return intensity < 999.5 ? fmt::format("{:.3g}", intensity) : si(intensity);
}

std::string bound_text(const Roof& roof) {
    return fmt::format("{} roof ({})", to_string(roof.bound), roof.name);
}

RooflineAxes axes_of(const Roofline& roofline) {
    std::vector<double> intensities, rates;
    for (const RooflinePoint& point : roofline.points)
        if (const std::optional<RooflinePlace> place = place_of(point)) {
            intensities.push_back(place->intensity);
            rates.push_back(place->rate);
        }
    const double highest = extreme_rate(roofline, {Bound::compute}, true),
                 slowest = extreme_rate(roofline, {Bound::memory, Bound::cache}, false);
    if (highest > 0) rates.insert(rates.end(), {highest, extreme_rate(roofline, {Bound::compute}, false)});
    if (highest > 0 && slowest > 0) intensities.push_back(highest / slowest);
    if (intensities.empty()) intensities.push_back(1);
    if (rates.empty()) rates.push_back(1e9);
    const auto [low, high] = std::minmax_element(intensities.begin(), intensities.end());
    const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
    return {log_axis(*low, *high), log_axis(*least, *most)};
}

double roofline_x(const RooflineAxes& axes, double intensity) {
    return kPlotLeft + place_on(axes.intensity, intensity) * (kPlotRight - kPlotLeft);
}

double roofline_y(const RooflineAxes& axes, double rate) {
    return kPlotBottom - place_on(axes.rate, rate) * (kPlotBottom - kPlotTop);
}

std::string roofline_svg(const Roofline& roofline, const std::string& id) {
    const RooflineAxes axes = axes_of(roofline);
    const Key key = key_svg(roofline);
    std::string out = fmt::format(
        "<svg viewBox=\"0 {} {} {}\" role=\"img\" aria-labelledby=\"{}\">\n<title id=\"{}\">{}</title>\n",
        svg_number(-key.height), svg_number(kRooflineWidth), svg_number(key.height + kChartBottom), html_escaped(id),
        html_escaped(id),
        html_escaped(fmt::format("Roofline of {}: {}", roofline.title, counted(roofline.points.size(), "kernel"))));
    out += fmt::format("<g transform=\"translate(0 {})\">\n{}</g>\n", svg_number(-key.height), key.svg);
    out += grid_and_labels(axes);
    for (std::size_t i = 0; i < roofline.roofs.size(); ++i) out += roof_svg(roofline, i, axes);
    return out + "\n" + points_svg(roofline, axes) + "</svg>\n";
}

}  // namespace deft::reporting
