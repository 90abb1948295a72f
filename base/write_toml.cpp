#include "base/write_toml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace deft {

namespace {

using Kind = ConfigNode::Kind;

// JSON's escapes are TOML's, but for the one control character that JSON leaves as it is.
std::string quoted(const std::string& text) {
    std::string out;
    for (const char c : Json(text).dump()) {
        if (c == '\x7f')
            out += "\\u007F";
        else
            out += c;
    }
    return out;
}

std::string key_text(const std::string& key) {
    const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
    return bare ? key : quoted(key);
}

std::string real_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return Json(value).dump();
}

std::string value_text(const ConfigNode& node) {
    std::vector<std::string> parts;
    switch (node.kind) {
        case Kind::boolean:
            return node.boolean ? "true" : "false";
        case Kind::integer:
            return std::to_string(node.integer);
        case Kind::real:
            return real_text(node.real);
        case Kind::text:
            return quoted(node.text);
        case Kind::array:
            for (const ConfigNode& item : node.items) parts.push_back(value_text(item));
            return fmt::format("[{}]", fmt::join(parts, ", "));
        case Kind::table:
            for (const auto& [key, child] : node.children)
                parts.push_back(fmt::format("{} = {}", key_text(key), value_text(child)));
            return fmt::format("{{{}}}", fmt::join(parts, ", "));
    }
    return {};
}

}  // namespace

std::string to_toml(const ConfigNode& table, const std::string& path) {
    std::string keys, tables;
    for (const auto& [key, child] : table.children) {
        if (child.kind == Kind::table)
            tables += to_toml(child, path.empty() ? key_text(key) : path + "." + key_text(key));
        else
            keys += fmt::format("{} = {}\n", key_text(key), value_text(child));
    }
    const bool header = !path.empty() && (!keys.empty() || tables.empty());
    return (header ? fmt::format("[{}]\n", path) : "") + keys + tables;
}

}  // namespace deft
