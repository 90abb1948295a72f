#pragma once
// Days as configuration files write them, and moments as other programs do.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace deft {

// "2025-01-31": four, two and two digits of a day that is in the calendar; nothing for any other text.
std::optional<std::chrono::sys_days> parse_date(std::string_view text);

// "2025-01-31T23:59:58+01:00" in milliseconds since 1970: ISO 8601 with seconds, perhaps a fraction (which is dropped),
// and Z or an offset; nothing for any other text.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

// Whether that day has begun nowhere yet: where days begin first, they do so 14 hours before UTC.
bool is_future(std::chrono::sys_days day);

}  // namespace deft
