#include "base/json.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/utf8.h"

namespace deft {

namespace {

void require_finite(const Json& value) {
    if (value.is_number_float() && !std::isfinite(value.get<double>()))
        throw Error(ErrorKind::config, "a configuration holds NaN or infinity, which has no canonical form");
    if (value.is_structured())
        for (const Json& item : value) require_finite(item);
}

// Bytes that are not UTF-8 as in "lat\xEFin".
std::string with_bytes_shown(std::string_view text) {
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decode_utf8(text, at);
        if (character.valid)
            shown += text.substr(at, character.bytes);
        else
            shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[at]));
        at += character.bytes;
    }
    return shown;
}

// Errors: usage, for the first key or string of the value that is not UTF-8.
void require_utf8(const Json& value) {
    const auto require = [](const std::string& text) {
        if (!is_valid_utf8(text))
            throw Error(ErrorKind::usage, fmt::format("\"{}\" is not UTF-8", with_bytes_shown(text)), kFixForNotUtf8);
    };
    if (value.is_string()) require(value.get_ref<const std::string&>());
    if (value.is_object())
        for (const auto& [key, item] : value.items()) require(key);
    if (value.is_structured())
        for (const Json& item : value) require_utf8(item);
}

}  // namespace

Json parse_json(std::string_view text) {
    return Json::parse(text);
}

Json try_parse_json(std::string_view text) {
    return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string json_text(const Json& value, int indent) {
    try {
        return value.dump(indent);
    } catch (const Json::type_error&) {
        require_utf8(value);
        throw;
    }
}

std::string canonical_json(const Json& value) {
    require_finite(value);
    return json_text(value);
}

}  // namespace deft
