#include "base/repeated_key.h"

#include <set>
#include <vector>

#include "base/json.h"

namespace deft {

std::string repeated_key(std::string_view text) {
    std::vector<std::set<std::string>> keys;  // of the objects that are open
    std::string repeated;
    const auto see = [&](int, Json::parse_event_t event, const Json& parsed) {
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (event == Json::parse_event_t::key && repeated.empty() &&
            !keys.back().insert(parsed.get<std::string>()).second)
            repeated = parsed.get<std::string>();
        return true;
    };
    const Json parsed = Json::parse(text, see, /*allow_exceptions=*/false);
    return parsed.is_discarded() ? std::string() : repeated;
}

}  // namespace deft
