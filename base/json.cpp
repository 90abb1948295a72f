#include "base/json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

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

Json try_parse_object(std::string_view text, std::string& problem) {
    try {
        Json value = parse_json(text);
        if (value.is_object()) return value;
        problem = std::string("a JSON ") + value.type_name() + ", not an object";
    } catch (const Json::exception& error) {
        // "[json.exception.parse_error.101] parse error at line 1, column 5: reason"
        const std::string what = error.what();
        const std::size_t place = what.find(" at line ");
        problem = place == std::string::npos ? "not valid JSON: " + what.substr(what.find("] ") + 2)
                                             : "not valid JSON" + what.substr(place);
    }
    return Json(Json::value_t::discarded);
}

namespace {

// A \uXXXX escape at `at`, or nothing.
std::optional<unsigned> escaped_unit(std::string_view text, std::size_t at) {
    if (text.substr(at, 2) != "\\u" || at + 6 > text.size()) return {};
    unsigned unit = 0;
    const auto [end, error] = std::from_chars(text.data() + at + 2, text.data() + at + 6, unit, 16);
    if (error != std::errc() || end != text.data() + at + 6) return {};
    return unit;
}

bool is_high(std::optional<unsigned> unit) {
    return unit && *unit >= 0xD800 && *unit < 0xDC00;
}
bool is_low(std::optional<unsigned> unit) {
    return unit && *unit >= 0xDC00 && *unit < 0xE000;
}

}  // namespace

std::string tolerant_json(std::string_view text) {
    std::string json;
    json.reserve(text.size());
    bool in_text = false;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t taken = 1;
        std::string_view written = text.substr(at, 1);
        if (in_text && text[at] == '\\') {
            const auto unit = escaped_unit(text, at);
            taken = unit ? 6 : 2;
            if (is_high(unit) && is_low(escaped_unit(text, at + 6))) taken = 12;
            written = text.substr(at, taken);
            if (taken == 6 && (is_high(unit) || is_low(unit))) written = kHalfCharacter;
        } else if (text[at] == '"') {
            in_text = !in_text;
        } else if (!in_text) {
            for (const std::string_view name : {"NaN", "-Infinity", "Infinity"})
                if (text.substr(at, name.size()) == name) {
                    taken = name.size();
                    written = "null";
                    break;
                }
        }
        json += written;
        at += taken;
    }
    return json;
}

std::string canonical_json(const Json& value) {
    require_finite(value);
    return json_text(value);
}

}  // namespace deft
