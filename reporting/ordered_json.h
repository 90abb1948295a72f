#pragma once
// JSON whose keys keep the order in which they are written.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/json_fwd.h"

namespace deft::reporting {

// NaN and infinity as strings, for JSON has no number for them.
OrderedJson json_number(double value);
// null where there is none.
OrderedJson json_number(const std::optional<double>& value);
std::string json_text(const OrderedJson& json);

}  // namespace deft::reporting
