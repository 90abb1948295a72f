#include "base/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <toml.hpp>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"

namespace deft {

namespace {

using Kind = ConfigNode::Kind;

// Deeper than any sweep; the TOML library recurses, so that a file of brackets alone could end the program.
constexpr int kDeepest = 100;

Place place_of(const toml::source_location& location, const std::string& file) {
#if TOML11_VERSION_MAJOR >= 4
    return {file, static_cast<int>(location.first_line_number()), static_cast<int>(location.first_column_number())};
#else
    return {file, static_cast<int>(location.line()), static_cast<int>(location.column())};
#endif
}

Place place_of(const toml::syntax_error& error, const std::string& file) {
#if TOML11_VERSION_MAJOR >= 4
    if (error.errors().empty() || error.errors()[0].locations().empty()) return {file, 0, 0};
    return place_of(error.errors()[0].locations()[0].first, file);
#else
    return place_of(error.location(), file);
#endif
}

// The library's messages are banners of several lines; the first holds the reason.
std::string one_line_reason(const std::string& banner) {
    std::string line = first_line(banner);
    if (line.starts_with("[error] ")) line.erase(0, 8);
    if (line.starts_with("toml::")) {
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos) line.erase(0, colon + 2);
    }
    return line.empty() ? "this is not TOML" : line;
}

bool before(const Place& a, const Place& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

struct Refused {
    Place place;
    const char* what;
    const char* fix;
};

ConfigNode convert(const toml::value& value, const std::string& file) {
    ConfigNode node;
    node.place = place_of(value.location(), file);
    switch (value.type()) {
        case toml::value_t::boolean:
            node.kind = Kind::boolean;
            node.boolean = value.as_boolean();
            break;
        case toml::value_t::integer:
            node.kind = Kind::integer;
            node.integer = value.as_integer();
            // toml11 3 clamps what does not fit.
            if (node.integer == std::numeric_limits<std::int64_t>::max() ||
                node.integer == std::numeric_limits<std::int64_t>::min())
                throw Refused{node.place, "this integer is too large", ""};
            break;
        case toml::value_t::floating:
            node.kind = Kind::real;
            node.real = value.as_floating();
            break;
        case toml::value_t::string:
            node.kind = Kind::text;
            node.text = toml::get<std::string>(value);
            break;
        case toml::value_t::array:
            node.kind = Kind::array;
            for (const toml::value& item : value.as_array()) node.items.push_back(convert(item, file));
            break;
        case toml::value_t::table:
            node.kind = Kind::table;
            for (const auto& [key, child] : value.as_table()) node.children.emplace_back(key, convert(child, file));
            // The library keeps no order; where the values stood gives it back.
            std::sort(node.children.begin(), node.children.end(), [](const auto& a, const auto& b) {
                if (before(a.second.place, b.second.place)) return true;
                if (before(b.second.place, a.second.place)) return false;
                return a.first < b.first;
            });
            break;
        default:
            throw Refused{node.place, "dates are not used here", "write it as a string, in quotes"};
    }
    return node;
}

// The line of the first byte that is not UTF-8.
int line_of_other_encoding(const std::string& text) {
    int line = 1;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decode_utf8(text, at);
        if (!character.valid) break;
        if (text[at] == '\n') ++line;
        at += character.bytes;
    }
    return line;
}

void refuse_deep_nesting(const std::string& text, const std::string& file) {
    int depth = 0, line = 1;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\n') {
            ++line;
            quote = 0;  // a long string may fool this count for a line, no more
        } else if (quote != 0) {
            if (c == '\\' && quote == '"')
                ++i;
            else if (c == quote)
                quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '#') {
            while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
        } else if (c == '[' || c == '{') {
            if (++depth > kDeepest)
                throw Error(ErrorKind::config, Place{file, line, 0},
                            fmt::format("brackets nest deeper than {}", kDeepest));
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
}

// Throws toml::syntax_error and Refused.
ConfigNode parse_text(const std::string& text, const std::string& file) {
    std::istringstream in(text);
    return convert(toml::parse(in, file), file);
}

void set_place(ConfigNode& node, const Place& place) {
    node.place = place;
    for (ConfigNode& item : node.items) set_place(item, place);
    for (auto& [key, child] : node.children) set_place(child, place);
}

}  // namespace

std::string with_article(Kind kind) {
    switch (kind) {
        case Kind::boolean:
            return "a boolean";
        case Kind::integer:
            return "an integer";
        case Kind::real:
            return "a real number";
        case Kind::text:
            return "a string";
        case Kind::array:
            return "an array";
        case Kind::table:
            return "a table";
    }
    return "a value";
}

const ConfigNode* ConfigNode::find(std::string_view key) const {
    for (const auto& [name, child] : children)
        if (name == key) return &child;
    return nullptr;
}

ConfigNode* ConfigNode::find(std::string_view key) {
    return const_cast<ConfigNode*>(std::as_const(*this).find(key));
}

void ConfigNode::set(std::string_view key, ConfigNode value) {
    if (ConfigNode* child = find(key))
        *child = std::move(value);
    else
        children.emplace_back(std::string(key), std::move(value));
}

void ConfigNode::erase(std::string_view key) {
    std::erase_if(children, [&](const auto& child) { return child.first == key; });
}

ConfigNode parse_toml(const std::string& text, const std::string& file_name) {
    if (!is_valid_utf8(text))
        throw Error(ErrorKind::config, Place{file_name, line_of_other_encoding(text), 0},
                    "the file is not UTF-8, which TOML is", "save it in UTF-8, as in iconv -f LATIN1 -t UTF-8");
    refuse_deep_nesting(text, file_name);
    try {
        return parse_text(text, file_name);
    } catch (const toml::syntax_error& error) {
        throw Error(ErrorKind::config, place_of(error, file_name), one_line_reason(error.what()));
    } catch (const Refused& value) {
        throw Error(ErrorKind::config, value.place, value.what, value.fix);
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {  // the library's other types, for numbers out of range and similar
        throw Error(ErrorKind::config, Place{file_name, 0, 0}, one_line_reason(error.what()));
    }
}

ConfigNode parse_toml_file(const std::filesystem::path& file) {
    return parse_toml(read_file(file), file.string());
}

ConfigNode parse_toml_value(const std::string& text, const Place& place) {
    ConfigNode node;
    node.kind = Kind::text;
    node.text = text;
    try {
        refuse_deep_nesting(text, place.file);
        // More than one key means that the text broke out of its line: then it is a string.
        ConfigNode root = parse_text("value = " + text + "\n", place.file);
        if (root.children.size() == 1 && root.children[0].first == "value") node = std::move(root.children[0].second);
    } catch (const Error&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const Refused&) {
    } catch (const std::exception&) {
    }
    set_place(node, place);
    return node;
}

void merge(ConfigNode& base, const ConfigNode& overlay) {
    if (base.kind != Kind::table || overlay.kind != Kind::table) {
        base = overlay;
        return;
    }
    for (const auto& [key, value] : overlay.children) {
        if (ConfigNode* child = base.find(key))
            merge(*child, value);
        else
            base.children.emplace_back(key, value);
    }
}

void set_at_path(ConfigNode& root, std::string_view dotted_path, const ConfigNode& value) {
    ConfigNode* node = &root;
    std::string_view rest = dotted_path;
    for (;;) {
        const std::size_t dot = rest.find('.');
        const std::string_view key = rest.substr(0, dot);
        const auto walked = dotted_path.substr(0, dotted_path.size() - rest.size());
        if (key.empty())
            throw Error(ErrorKind::config, value.place, fmt::format("'{}' is not a dotted path", dotted_path),
                        "write it as in train.batch_size");
        if (node->kind != Kind::table)
            throw Error(ErrorKind::config, value.place,
                        fmt::format("{} goes through {}, which is {}", dotted_path, walked.substr(0, walked.size() - 1),
                                    with_article(node->kind)));
        if (dot == std::string_view::npos) {
            node->set(key, value);
            return;
        }
        if (node->find(key) == nullptr) {
            ConfigNode table;
            table.place = value.place;
            node->set(key, std::move(table));
        }
        node = node->find(key);
        rest.remove_prefix(dot + 1);
    }
}

Json to_json(const ConfigNode& node) {
    switch (node.kind) {
        case Kind::boolean:
            return node.boolean;
        case Kind::integer:
            return node.integer;
        case Kind::real:
            return node.real;
        case Kind::text:
            return node.text;
        case Kind::array: {
            Json array = Json::array();
            for (const ConfigNode& item : node.items) array.push_back(to_json(item));
            return array;
        }
        case Kind::table: {
            Json object = Json::object();
            for (const auto& [key, child] : node.children) object[key] = to_json(child);
            return object;
        }
    }
    return nullptr;
}

ConfigNode from_json(const Json& json, const Place& place) {
    ConfigNode node;
    node.place = place;
    switch (json.type()) {
        case Json::value_t::boolean:
            node.kind = Kind::boolean;
            node.boolean = json.get<bool>();
            return node;
        case Json::value_t::number_unsigned:
            if (json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) break;
            [[fallthrough]];
        case Json::value_t::number_integer:
            node.kind = Kind::integer;
            node.integer = json.get<std::int64_t>();
            return node;
        case Json::value_t::number_float:
            node.kind = Kind::real;
            node.real = json.get<double>();
            return node;
        case Json::value_t::string:
            node.kind = Kind::text;
            node.text = json.get<std::string>();
            return node;
        case Json::value_t::array:
            node.kind = Kind::array;
            for (const Json& item : json) node.items.push_back(from_json(item, place));
            return node;
        case Json::value_t::object:
            for (const auto& [key, value] : json.items()) node.children.emplace_back(key, from_json(value, place));
            return node;
        default:
            break;
    }
    throw Error(ErrorKind::config, place, fmt::format("a configuration cannot hold {}", json.dump()));
}

}  // namespace deft
