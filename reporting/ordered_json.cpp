#include "reporting/ordered_json.h"

#include <cmath>

#include "base/json.h"

namespace deft::reporting {

OrderedJson json_number(double value) {
    if (std::isfinite(value)) return value;
    if (std::isnan(value)) return "NaN";
    return value > 0 ? "inf" : "-inf";
}

OrderedJson json_number(const std::optional<double>& value) {
    return value ? json_number(*value) : OrderedJson(nullptr);
}

std::string json_text(const OrderedJson& json) {
    return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace deft::reporting
