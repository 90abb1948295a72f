#pragma once
// Days as configuration files write them.

#include <chrono>
#include <optional>
#include <string_view>

namespace deft {

// "2025-01-31": four, two and two digits of a day that is in the calendar; nothing for any other text.
std::optional<std::chrono::sys_days> parse_date(std::string_view text);

}  // namespace deft
