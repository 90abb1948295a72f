#include "base/date.h"

#include <algorithm>

namespace deft {

namespace {

unsigned number(std::string_view digits) {
    unsigned value = 0;
    for (const char digit : digits) value = 10 * value + static_cast<unsigned>(digit - '0');
    return value;
}

}  // namespace

std::optional<std::chrono::sys_days> parse_date(std::string_view text) {
    constexpr std::string_view kForm = "dddd-dd-dd";
    const bool formed = std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(),
                                   [](char c, char form) { return form == 'd' ? c >= '0' && c <= '9' : c == form; });
    if (!formed) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(number(text.substr(0, 4)))),
                                           std::chrono::month(number(text.substr(5, 2))),
                                           std::chrono::day(number(text.substr(8, 2)))};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date);
}

}  // namespace deft
