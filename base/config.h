#pragma once
// Configuration trees: TOML read into plain nodes that remember where each value stood, and strict reading of tables.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"

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
    // The child of this table, made as an empty table where there is none.
    ConfigNode& child_table(std::string_view key);
    void set(std::string_view key, ConfigNode value);
    void erase(std::string_view key);
};

// Parses a TOML file. Errors: io (cannot be read), config (syntax, with its place).
ConfigNode parse_toml_file(const std::filesystem::path& file);
ConfigNode parse_toml(const std::string& text, const std::string& file_name);

// Parses one TOML value, as in --set train.learning_rate=1e-3; text that is no TOML value is taken as a string.
ConfigNode parse_toml_value(const std::string& text, const Place& place);

// Lays `overlay` over `base`: tables merge key by key, everything else replaces.
void merge(ConfigNode& base, const ConfigNode& overlay);

// Sets the value at a dotted path ("train.batch_size"), making tables on the way.
// Errors: config, where the path goes through something that is no table.
void set_at_path(ConfigNode& root, std::string_view dotted_path, const ConfigNode& value);

Json to_json(const ConfigNode& node);

// The inverse; every node stands at `place`. Errors: config, for null and integers that do not fit.
ConfigNode from_json(const Json& json, const Place& place);

// The candidate nearest to `word` in edit distance, or empty where none is near enough to be meant.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// Reads a table key by key and refuses what nobody asked for. Every error is of kind config and carries the place.
class TableReader {
 public:
    // `path` is the table's dotted name for messages, empty at the root.
    TableReader(const ConfigNode& table, std::string path);

    // Each leaves `out` as it was when the key is absent.
    void optional(const char* key, bool& out);
    void optional(const char* key, std::int64_t& out);
    void optional(const char* key, double& out);  // integers are taken as reals
    void optional(const char* key, std::string& out);
    void optional(const char* key, std::vector<std::string>& out);
    void optional(const char* key, std::vector<std::int64_t>& out);

    // The child table, array or value of that key, or null.
    const ConfigNode* optional_node(const char* key);

    // As optional(), but the key must be there.
    template <class T>
    T required(const char* key) {
        require(key);
        T value{};
        optional(key, value);
        return value;
    }

    // Throws for the first key that was never asked for, with the nearest known one.
    void finish() const;

    // The place of a key, or of the table where the key is absent.
    Place place(const char* key) const;
    // "path.key" for messages.
    std::string name(const char* key) const;

 private:
    void require(const char* key);
    const ConfigNode* take(const char* key);

    const ConfigNode& table_;
    std::string path_;
    std::vector<std::string> known_;
};

const char* kind_name(ConfigNode::Kind kind);

}  // namespace deft
