#include "base/date.h"

#include <algorithm>

namespace deft {

namespace {

unsigned number(std::string_view digits) {
    unsigned value = 0;
    for (const char digit : digits) value = 10 * value + static_cast<unsigned>(digit - '0');
    return value;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// d: a digit; s: a sign; anything else: itself.
bool has_form(std::string_view text, std::string_view form) {
    return std::equal(text.begin(), text.end(), form.begin(), form.end(), [](char c, char wanted) {
        return wanted == 'd' ? is_digit(c) : wanted == 's' ? c == '+' || c == '-' : c == wanted;
    });
}

// "12:34" in seconds.
std::optional<std::int64_t> hours_and_minutes(std::string_view text) {
    const unsigned hours = number(text.substr(0, 2)), minutes = number(text.substr(3, 2));
    if (hours > 23 || minutes > 59) return std::nullopt;
    return 3600 * static_cast<std::int64_t>(hours) + 60 * static_cast<std::int64_t>(minutes);
}

// The offset from UTC in seconds, parsed from the text after the seconds.
std::optional<std::int64_t> zone_offset(std::string_view text) {
    if (!text.empty() && text.front() == '.') {
        text.remove_prefix(1);
        if (text.empty() || !is_digit(text.front())) return std::nullopt;
        while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
    }
    if (text == "Z") return 0;
    if (!has_form(text, "sdd:dd")) return std::nullopt;
    const std::optional<std::int64_t> offset = hours_and_minutes(text.substr(1));
    return offset && text.front() == '-' ? -*offset : offset;
}

}  // namespace

std::optional<std::chrono::sys_days> parse_date(std::string_view text) {
    if (!has_form(text, "dddd-dd-dd")) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(number(text.substr(0, 4)))),
                                           std::chrono::month(number(text.substr(5, 2))),
                                           std::chrono::day(number(text.substr(8, 2)))};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date);
}

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
    constexpr std::size_t kDate = 10, kWhole = 19;  // characters
    if (text.size() < kWhole || !has_form(text.substr(kDate, kWhole - kDate), "Tdd:dd:dd")) return std::nullopt;
    const auto day = parse_date(text.substr(0, kDate));
    const auto minutes = hours_and_minutes(text.substr(kDate + 1));
    const auto offset = zone_offset(text.substr(kWhole));
    const unsigned seconds = number(text.substr(kWhole - 2, 2));
    if (!day || !minutes || !offset || seconds > 60) return std::nullopt;
    const std::int64_t days = day->time_since_epoch().count();
    return 1000 * (86400 * days + *minutes + static_cast<std::int64_t>(seconds) - *offset);
}

bool is_future(std::chrono::sys_days day) {
    // Compared as days: the clock's own unit has no year 2300.
    return day > std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now() + std::chrono::hours(14));
}

}  // namespace deft
