#pragma once
// Values of JSON that others may have written: what is not of the type that it should be counts as not there.

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"

namespace deft::sweeps {

inline std::string text_of(const Json& object, const char* key, const char* otherwise = "") {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

inline std::int64_t count_of(const Json& object, const char* key, std::int64_t otherwise = 0) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

inline std::optional<double> number_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
}

}  // namespace deft::sweeps
