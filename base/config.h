#pragma once
// Configuration trees: TOML read into plain nodes that remember where each value stood.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"

namespace deft {

struct ConfigNode {
    enum class Kind { boolean, integer, real, text, array, table };

    Kind kind = Kind::table;
    Place place;
    bool boolean = false;
    std::int64_t integer = 0;
    double real = 0;
    std::string text;
    std::vector<ConfigNode> items;                             // array
    std::vector<std::pair<std::string, ConfigNode>> children;  // table, in the file's order

    const ConfigNode* find(std::string_view key) const;
    ConfigNode* find(std::string_view key);
    void set(std::string_view key, ConfigNode value);
    void erase(std::string_view key);
};

// Parses a TOML file. Errors: io (cannot be read), config (syntax, with its place).
ConfigNode parse_toml_file(const std::filesystem::path& file);
ConfigNode parse_toml(const std::string& text, const std::string& file_name);

// Parses one TOML value, as in --set train.learning_rate=1e-3; text that is not a TOML value is taken as a string.
ConfigNode parse_toml_value(const std::string& text, const Place& place);

// Lays `overlay` over `base`: tables merge key by key, everything else replaces.
void merge(ConfigNode& base, const ConfigNode& overlay);

// Sets the value at a dotted path ("train.batch_size"), making tables on the way.
// Errors: config, where the path goes through a value that is not a table.
void set_at_path(ConfigNode& root, std::string_view dotted_path, const ConfigNode& value);

Json to_json(const ConfigNode& node);

// The inverse; every node gets `place`. Errors: config, for null and integers that do not fit.
ConfigNode from_json(const Json& json, const Place& place);

// The kind as a sentence says it, as in "an array".
std::string with_article(ConfigNode::Kind kind);

}  // namespace deft
