#include "reporting/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

namespace deft::reporting {

namespace {

std::string not_finite(double value) {
    if (std::isnan(value)) return "NaN";
    return value > 0 ? "inf" : "-inf";
}

// Decimals that show `digits` significant digits of the value as it will be printed: 0.9996 rounds up to 1.000.
int decimals(double value, int digits, int most) {
    if (value == 0) return digits - 1;
    int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
    const double unit = std::pow(10.0, exponent - digits + 1);
    if (std::round(std::abs(value) / unit) * unit >= std::pow(10.0, exponent + 1)) ++exponent;
    return std::clamp(digits - 1 - exponent, 0, most);
}

// Three decimals would show nothing of it, or digits without end.
bool needs_exponent(double value) {
    return value != 0 && (std::abs(value) < 5e-4 || std::abs(value) >= 1e7);
}

int score_decimals(double value) {
    return decimals(value, 4, 3);
}

}  // namespace

std::string si(double value) {
    if (!std::isfinite(value)) return not_finite(value);
    if (value < 0) return fmt::format("-{}", si(-value));
    if (value < 1000 && value == std::floor(value)) return fmt::format("{:.0f}", value);
    constexpr std::array<const char*, 9> prefixes = {"", "k", "M", "G", "T", "P", "E", "Z", "Y"};
    std::size_t prefix = 0;
    // 999.5 and more would print as 1000.
    while (value >= 999.5 && prefix + 1 < prefixes.size()) {
        value /= 1000;
        ++prefix;
    }
    return fmt::format("{:.{}f}{}", value, decimals(value, 3, 6), prefixes[prefix]);
}

std::string si(double value, const char* unit) {
    std::string text = si(value);
    if (!std::isfinite(value)) return text + " " + unit;
    const std::size_t digits = text.find_last_of("0123456789") + 1;
    return text.substr(0, digits) + " " + text.substr(digits) + unit;
}

std::string seconds(double value) {
    if (!std::isfinite(value)) return not_finite(value);
    if (value < 59.95) return fmt::format("{:.{}f} s", value, decimals(value, 3, 3));
    const auto whole = static_cast<std::int64_t>(std::llround(value));
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    const std::int64_t minutes = std::llround(value / 60);
    if (minutes < 24 * 60) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
    const std::int64_t hours = std::llround(value / 3600);
    return fmt::format("{} d {:02} h", hours / 24, hours % 24);
}

std::string small_seconds(double value) {
    if (!std::isfinite(value)) return not_finite(value);
    for (const auto& [scale, unit] : {std::pair{1e9, "ns"}, {1e6, "us"}, {1e3, "ms"}})
        if (value * scale < 999.5) return fmt::format("{:.{}f} {}", value * scale, decimals(value * scale, 3, 2), unit);
    return fmt::format("{:.{}f} s", value, decimals(value, 3, 2));
}

std::string short_seconds(double value) {
    std::string text = seconds(value);
    if (const std::size_t minutes = text.find("min"); minutes != std::string::npos) text.erase(minutes + 1, 2);
    std::erase(text, ' ');
    return text;
}

std::string rough_seconds(double value) {
    if (!std::isfinite(value) || value < 0) return "?";
    if (value < 9.95) return fmt::format("{:.1f}s", value);
    const std::int64_t whole = std::llround(std::min(value, 1e12));
    if (whole < 60) return fmt::format("{}s", whole);
    if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
    if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
    return fmt::format("{}d{:02}h", whole / 86400, whole % 86400 / 3600);
}

std::string binary_bytes(double value) {
    constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (value >= 1023.5 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, units[unit]);
}

std::string dollars(double value) {
    if (!std::isfinite(value)) return not_finite(value);
    if (value == 0) return "$0";
    const int places = value >= 0.995 ? 2 : decimals(value, 2, 12);
    return fmt::format("${:.{}f}", value, places);
}

std::string percent(double share) {
    return fmt::format("{:.1f}%", 100 * share);
}

std::string ratio(double value) {
    if (!std::isfinite(value)) return not_finite(value);
    return fmt::format("{:.{}f}x", value, value < 0.0995 ? decimals(value, 2, 6) : (value < 99.95 ? 2 : 0));
}

std::string score(double value) {
    if (!std::isfinite(value)) return not_finite(value);
    if (needs_exponent(value)) return fmt::format("{:.2e}", value);
    return fmt::format("{:.{}f}", value, score_decimals(value));
}

std::string mean_and_spread(const std::vector<double>& values) {
    if (values.empty()) return "-";
    const double center = mean(values);
    const double spread = standard_deviation(values);
    if (values.size() < 2 || !std::isfinite(center)) return score(center);
    if (needs_exponent(center)) return fmt::format("{} ± {:.1e}", score(center), spread);
    const int places = score_decimals(center);
    // A spread too small for the printed digits is not zero.
    const double unit = std::pow(10.0, -places);
    if (spread > 0 && spread < unit / 2) return fmt::format("{} ± <{:.{}f}", score(center), unit, places);
    return fmt::format("{} ± {:.{}f}", score(center), spread, places);
}

std::string date(std::int64_t ms_since_epoch) {
    const std::chrono::sys_days day = std::chrono::floor<std::chrono::days>(
        std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(ms_since_epoch)));
    const std::chrono::year_month_day ymd(day);
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(ymd.year()), static_cast<unsigned>(ymd.month()),
                       static_cast<unsigned>(ymd.day()));
}

std::string date_and_time(std::int64_t ms_since_epoch) {
    constexpr std::int64_t kDay = 24 * 3600;
    const std::int64_t seconds = ms_since_epoch / 1000, of_day = (seconds % kDay + kDay) % kDay;
    return fmt::format("{} {:02}:{:02}:{:02} UTC", date(ms_since_epoch), of_day / 3600, of_day / 60 % 60, of_day % 60);
}

bool all_finite(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

double mean(std::span<const double> values) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    double sum = 0;
    for (double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
    if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
    const double center = mean(values);
    double sum = 0;
    for (double value : values) sum += (value - center) * (value - center);
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

}  // namespace deft::reporting
