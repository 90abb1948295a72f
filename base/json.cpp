#include "base/json.h"

#include <cmath>

#include "base/error.h"

namespace deft {

namespace {

void require_finite(const Json& value) {
    if (value.is_number_float() && !std::isfinite(value.get<double>()))
        throw Error(ErrorKind::config, "a configuration holds NaN or infinity, which has no canonical form");
    if (value.is_structured())
        for (const Json& item : value) require_finite(item);
}

}  // namespace

Json parse_json(std::string_view text) {
    return Json::parse(text);
}

Json try_parse_json(std::string_view text) {
    return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string canonical_json(const Json& value) {
    require_finite(value);
    return value.dump();
}

}  // namespace deft
