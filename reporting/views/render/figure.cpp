#include "reporting/views/render/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "reporting/numbers.h"
#include "reporting/text.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

constexpr double kFigureWidth = 980, kFigureHeight = 430;
constexpr double kFigureTop = 14, kFigureBottom = 376;  // of the plot; labels are on its right
constexpr double kLeastLeft = 62, kWidestRight = 730, kNarrowestRight = 480;
constexpr double kLabelHeight = 19, kLabelText = 51;  // text begins so far right of the plot
constexpr double kDigit = 7, kFigureCharacter = 7.6;  // widths in the widest common system font
constexpr double kLogX = 1e4, kLogY = 4;
constexpr std::array<const char*, 4> kDashes = {"", "7 4", "2 3", "10 3 2 3"};

struct Frame {
    Axis x, y;
    std::vector<Tick> y_ticks = {};
    double left = kLeastLeft, right = kWidestRight;

    double px(double value) const { return left + place_on(x, value) * (right - left); }
    double py(double value) const { return kFigureBottom - place_on(y, value) * (kFigureBottom - kFigureTop); }
};

// Leaves room for the longest label, a name and its value.
double right_border(const Figure& figure) {
    const int of_value = figure.schedule ? 7 : 6;  // " 113.8k", " 4.251"
    int longest = 0;
    for (const Series& series : figure.series) longest = std::max(longest, display_width(series.name) + of_value);
    return std::clamp(kFigureWidth - kLabelText - kFigureCharacter * longest, kNarrowestRight, kWidestRight);
}

Frame frame_of(const Figure& figure) {
    std::vector<double> xs, ys;
    for (const Series& series : figure.series)
        for (const auto* points : {&series.points, &series.marks})
            for (const CurvePoint& point : *points) {
                xs.push_back(point.x);
                ys.insert(ys.end(), {point.y, point.low, point.high});
            }
    const double never = std::numeric_limits<double>::infinity();
    Frame frame{axis_for(xs, figure.log_x      ? 1
                             : figure.schedule ? never
                                               : kLogX),
                axis_for(ys, figure.schedule ? never : kLogY)};
    frame.y_ticks = ticks(frame.y, 4);
    frame.right = right_border(figure);
    // Room for the title, the longest tick and the gaps beside it.
    for (const Tick& tick : frame.y_ticks)
        frame.left = std::max(frame.left, 20 + 10 + kDigit * static_cast<double>(tick.text.size()) + 8);
    return frame;
}

std::string axes_svg(const Figure& figure, const Frame& frame) {
    std::string grid, labels;
    for (const Tick& tick : frame.y_ticks)
        add_tick_svg(tick, frame.left, frame.right, frame.py(tick.value), 8, grid, labels);
    for (const Tick& tick : ticks(frame.x, 6)) {
        const std::string x = svg_number(frame.px(tick.value));
        grid += fmt::format("M{} {}V{}", x, svg_number(kFigureBottom), svg_number(kFigureBottom + 5));
        labels += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x,
                              svg_number(kFigureBottom + 20), tick.text);
    }
    labels += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}{}</text>",
                          svg_number((frame.left + frame.right) / 2), svg_number(kFigureHeight - 8),
                          html_escaped(figure.x_title), frame.x.log ? " (log scale)" : "");
    labels += fmt::format("<text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">{}{}</text>",
                          svg_number((kFigureTop + kFigureBottom) / 2), html_escaped(figure.y_title),
                          frame.y.log ? " (log scale)" : "");
    return fmt::format("<path class=\"grid\" d=\"{}\"/>\n<path class=\"frame\" d=\"M{} {}V{}H{}\"/>\n<g>{}</g>\n", grid,
                       svg_number(frame.left), svg_number(kFigureTop), svg_number(kFigureBottom),
                       svg_number(frame.right), labels);
}

std::string band_svg(const Series& series, const Frame& frame) {
    if (series.seeds < 2 || series.points.empty()) return {};
    std::vector<SvgPoint> points;
    for (const CurvePoint& point : series.points) points.push_back({frame.px(point.x), frame.py(point.high)});
    for (auto point = series.points.rbegin(); point != series.points.rend(); ++point)
        points.push_back({frame.px(point->x), frame.py(point->low)});
    return fmt::format("<path class=\"band\" d=\"{}Z\"/>", path_svg(points));
}

std::string line_svg(const Series& series, const Frame& frame) {
    if (series.points.empty()) return {};
    std::vector<SvgPoint> points;
    for (const CurvePoint& point : series.points) points.push_back({frame.px(point.x), frame.py(point.y)});
    return fmt::format("<path class=\"line\" d=\"{}\"{}/>", path_svg(points), dash_svg(series.dash));
}

// The value of the label on the right: the validation loss where one exists, for a last batch's loss is noise.
const CurvePoint& end_of(const Series& series) {
    return series.marks.empty() ? series.points.back() : series.marks.back();
}

// A few along the line, staggered so that those of neighbours do not meet, and one at its end.
std::string markers_svg(const Series& series, const Frame& frame) {
    constexpr std::size_t kAlong = 3;
    std::string out;
    const std::size_t n = series.points.size();
    for (std::size_t i = 0; i < kAlong && n > 4 * kAlong; ++i) {
        const std::size_t at = n * (2 * i + 1) / (2 * kAlong) + (series.style * 2 + series.dash) * n / 64;
        if (at + 1 < n)
            out += marker_svg(series.style, frame.px(series.points[at].x), frame.py(series.points[at].y), 3);
    }
    if (n > 0 && series.marks.empty())
        out += marker_svg(series.style, frame.px(series.points.back().x), frame.py(series.points.back().y), 4);
    for (const CurvePoint& mark : series.marks)
        out += fmt::format("<g class=\"mark\">{}</g>", marker_svg(series.style, frame.px(mark.x), frame.py(mark.y), 5));
    return out;
}

struct Label {
    const Series* series = nullptr;
    double y = 0;  // the end of the line, then the place of the label
};

// As near to their lines' ends as their height allows, in the order of the ends.
std::vector<Label> labels_of(const Figure& figure, const Frame& frame) {
    std::vector<Label> labels;
    for (const Series& series : figure.series)
        if (!series.points.empty()) labels.push_back({&series, frame.py(end_of(series).y)});
    std::stable_sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
    const double lowest = kFigureBottom - 8;
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i].y = std::max(labels[i].y, i == 0 ? kFigureTop + 8 : labels[i - 1].y + kLabelHeight);
    for (std::size_t i = labels.size(); i-- > 0;) {
        const double most = lowest - kLabelHeight * static_cast<double>(labels.size() - 1 - i);
        labels[i].y = std::min({labels[i].y, most, i + 1 < labels.size() ? labels[i + 1].y - kLabelHeight : most});
    }
    return labels;
}

// "0.5", "200k", "1.5M": no digits that say nothing.
std::string tick_text(double value) {
    static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    std::size_t prefix = 0;
    double scaled = value;
    while (std::abs(scaled) >= 999.9999 && prefix + 1 < std::size(kPrefixes)) {
        scaled /= 1000;
        ++prefix;
    }
    return fmt::format("{:.4g}{}", scaled, kPrefixes[prefix]);
}

// A schedule's values are exact; losses differ in their third decimal.
std::string value_text(const Figure& figure, double value) {
    return figure.schedule ? tick_text(value) : score(value);
}

std::string label_svg(const Figure& figure, const Label& label, const Frame& frame) {
    const Series& series = *label.series;
    const CurvePoint& end = end_of(series);
    const double x = frame.right + 14, x_end = frame.px(end.x);
    std::string out;
    // A leader from afar would cross the other lines; there the sample beside the name has to do.
    if (frame.right - x_end < 40)
        out += fmt::format("<path class=\"leader\" d=\"M{} {}L{} {}\"/>", svg_number(x_end + 6),
                           svg_number(frame.py(end.y)), svg_number(x - 2), svg_number(label.y));
    out += fmt::format("<path class=\"line\" d=\"M{} {}h30\"{}/>", svg_number(x), svg_number(label.y),
                       dash_svg(series.dash));
    out += marker_svg(series.style, x + 15, label.y, 3.5);
    out += fmt::format("<text x=\"{}\" y=\"{}\" dy=\"4\">{} <tspan class=\"muted\">{}</tspan></text>",
                       svg_number(frame.right + kLabelText), svg_number(label.y), html_escaped(series.name),
                       value_text(figure, end.y));
    return out;
}

}  // namespace

std::string marker_svg(std::size_t style, double x, double y, double r) {
    switch (style % 6) {
        case 0:
            return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>", svg_number(x), svg_number(y), svg_number(r));
        case 1:
            return fmt::format("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{2}\"/>", svg_number(x - r),
                               svg_number(y - r), svg_number(2 * r));
        case 2:
            return fmt::format("<path d=\"M{} {}l{} {}h-{}z\"/>", svg_number(x), svg_number(y - r * 1.1),
                               svg_number(r * 1.15), svg_number(r * 2.1), svg_number(r * 2.3));
        case 3:
            return fmt::format("<path d=\"M{0} {1}l{2} {2}l-{2} {2}l-{2} -{2}z\"/>", svg_number(x),
                               svg_number(y - r * 1.3), svg_number(r * 1.3));
        case 4:
            return fmt::format("<path d=\"M{} {}l{} -{}h-{}z\"/>", svg_number(x), svg_number(y + r * 1.1),
                               svg_number(r * 1.15), svg_number(r * 2.1), svg_number(r * 2.3));
        default:
            return fmt::format("<path class=\"cross\" d=\"M{0} {1}l{2} {2}m0 -{2}l-{2} {2}\"/>", svg_number(x - r),
                               svg_number(y - r), svg_number(2 * r));
    }
}

std::string dash_svg(std::size_t dash) {
    const char* pattern = kDashes[dash % kDashes.size()];
    return *pattern == 0 ? "" : fmt::format(" stroke-dasharray=\"{}\"", pattern);
}

double svg_text_width(const std::string& text) {
    constexpr double kCharacter = 7.6;  // of a digit or letter
    return kCharacter * display_width(text);
}

std::string svg_number(double value) {
    const std::string text = fmt::format("{:.1f}", value);
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

namespace {

// Tenths as a number in SVG, where ".3" is one.
std::string tenths_text(long tenths) {
    const long size = std::abs(tenths);
    std::string text = tenths < 0 ? "-" : "";
    if (size >= 10 || size % 10 == 0) text += std::to_string(size / 10);
    if (size % 10 != 0) text += "." + std::to_string(size % 10);
    return text;
}

// A minus separates numbers as a blank does.
std::string after_number(const std::string& number) {
    return number.front() == '-' ? number : " " + number;
}

}  // namespace

std::string path_svg(const std::vector<SvgPoint>& points) {
    std::string path;
    long last_x = 0, last_y = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const long x = std::lround(10 * points[i].x), y = std::lround(10 * points[i].y);
        const std::string step = tenths_text(x - last_x) + after_number(tenths_text(y - last_y));
        path += i == 0 ? "M" + step : i == 1 ? "l" + step : after_number(step);
        last_x = x;
        last_y = y;
    }
    return path;
}

void add_tick_svg(const Tick& tick, double left, double right, double y, double gap, std::string& grid,
                  std::string& labels) {
    grid += fmt::format("M{} {}H{}", svg_number(left), svg_number(y), svg_number(right));
    labels += fmt::format("<text x=\"{}\" y=\"{}\" dy=\"4\" text-anchor=\"end\">{}</text>", svg_number(left - gap),
                          svg_number(y), tick.text);
}

std::string description(const Figure& figure) {
    if (!figure.words.empty()) return figure.words;
    const Series* best = nullptr;
    double first = 0, most_x = 0;
    std::size_t not_finite = 0, seeds = 0;
    bool validation = false;
    for (const Series& series : figure.series) {
        not_finite += series.not_finite;
        seeds = std::max(seeds, series.seeds);
        validation = validation || !series.marks.empty();
        if (series.points.empty()) continue;
        first = std::max(first, series.points.front().y);
        most_x = std::max(most_x, series.points.back().x);
        if (best == nullptr || series.points.back().y < best->points.back().y) best = &series;
    }
    if (best == nullptr) return "No finite points were recorded.";
    if (figure.schedule)
        return fmt::format(
            "{} by {}, {}.{}", figure.y_title, figure.x_title, counted(figure.series.size(), "line"),
            figure.not_drawn.empty() ? "" : fmt::format(" {} further rows are not drawn.", figure.not_drawn.size()));
    std::string text = fmt::format(
        "{} goes from at most {} at the start to {} at {} {}: the lowest last point, of {}. {}{}.", figure.y_title,
        score(first), score(best->points.back().y), si(best->points.back().x), figure.x_title, best->name,
        counted(figure.series.size(), "line"),
        seeds > 1 ? fmt::format(", each the mean over up to {} seeds with {} as a band", seeds, figure.band) : "");
    if (validation) text += " The numbers beside the names are validation losses.";
    if (not_finite > 0) text += fmt::format(" {} points that are NaN or infinite cannot be drawn.", not_finite);
    if (!figure.not_drawn.empty()) text += fmt::format(" {} further rows are not drawn.", figure.not_drawn.size());
    return text;
}

std::string render_svg(const Figure& figure) {
    const Frame frame = frame_of(figure);
    std::string out = fmt::format(
        "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-labelledby=\"{2}-title {2}-desc\">\n"
        "<title id=\"{2}-title\">{3}</title>\n<desc id=\"{2}-desc\">{4}</desc>\n",
        svg_number(kFigureWidth), svg_number(kFigureHeight), html_escaped(figure.id), html_escaped(figure.title),
        html_escaped(description(figure)));
    out += axes_svg(figure, frame);
    for (const Series& series : figure.series)
        out += fmt::format("<g class=\"s{}\">{}</g>\n", series.style % kLineColours, band_svg(series, frame));
    for (const Series& series : figure.series)
        out += fmt::format("<g class=\"s{}\">{}{}</g>\n", series.style % kLineColours, line_svg(series, frame),
                           markers_svg(series, frame));
    for (const Label& label : labels_of(figure, frame))
        out += fmt::format("<g class=\"s{}\">{}</g>\n", label.series->style % kLineColours,
                           label_svg(figure, label, frame));
    return out + "</svg>\n";
}

namespace {

std::vector<Tick> linear_ticks(const Axis& axis, int wanted) {
    const double raw = (axis.to - axis.from) / wanted;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    double step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0})
        if (factor * power >= raw) step = factor * power;
    std::vector<Tick> out;
    for (double i = std::ceil(axis.from / step - 1e-9); i * step <= axis.to + step * 1e-9; ++i)
        out.push_back({i * step, tick_text(i == 0 ? 0 : i * step)});
    return out;
}

// Multiples of powers of ten: as few of them a decade as give enough.
std::vector<Tick> log_ticks(const Axis& axis, int wanted) {
    static const std::vector<std::vector<double>> kMultiples = {{1}, {1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 8}};
    std::vector<Tick> out;
    for (const std::vector<double>& multiples : kMultiples) {
        out.clear();
        for (double decade = std::floor(std::log10(axis.from)); decade <= std::log10(axis.to); ++decade)
            for (const double multiple : multiples)
                if (const double value = multiple * std::pow(10.0, decade);
                    value >= axis.from * (1 - 1e-9) && value <= axis.to * (1 + 1e-9))
                    out.push_back({value, tick_text(value)});
        if (static_cast<int>(out.size()) >= wanted) break;
    }
    return out;
}

}  // namespace

Axis axis_for(const std::vector<double>& values, double log_ratio) {
    if (values.empty()) return {};
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    double from = *least, to = *most;
    if (from > 0 && to >= log_ratio * from) return {true, from / 1.05, to * 1.05};
    if (from == to) return {false, from - std::max(1.0, std::abs(from) * 0.1), to + std::max(1.0, std::abs(to) * 0.1)};
    const double margin = (to - from) * 0.04;
    const bool from_zero = from >= 0 && from <= 0.35 * to;
    return {false, from_zero ? 0 : from - margin, to + margin};
}

double place_on(const Axis& axis, double value) {
    if (axis.log) return std::log(value / axis.from) / std::log(axis.to / axis.from);
    return (value - axis.from) / (axis.to - axis.from);
}

std::vector<Tick> ticks(const Axis& axis, int wanted) {
    return axis.log ? log_ticks(axis, wanted) : linear_ticks(axis, wanted);
}

}  // namespace deft::reporting
