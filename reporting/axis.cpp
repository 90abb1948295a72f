#include "reporting/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace deft::reporting {

namespace {

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
