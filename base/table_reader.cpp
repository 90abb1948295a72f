#include "base/table_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/suggestion.h"

namespace deft {

namespace {

using Kind = ConfigNode::Kind;

std::string show(const ConfigNode& node) {
    if (node.kind == Kind::array || node.kind == Kind::table) return with_article(node.kind);
    const std::string text = to_json(node).dump(-1, ' ', false, Json::error_handler_t::replace);
    return fmt::format("{} ({})", with_article(node.kind), text.size() > 60 ? text.substr(0, 57) + "..." : text);
}

[[noreturn]] void wrong_kind(const ConfigNode& node, const std::string& name, const std::string& wanted) {
    throw Error(ErrorKind::config, node.place, fmt::format("{} must be {}, not {}", name, wanted, show(node)));
}

}  // namespace

TableReader::TableReader(const ConfigNode& table, std::string path) : table_(table), path_(std::move(path)) {
    if (table_.kind != Kind::table) wrong_kind(table_, path_.empty() ? "this" : path_, "a table");
}

const ConfigNode* TableReader::take(const char* key) {
    known_.emplace_back(key);
    return table_.find(key);
}

void TableReader::optional(const char* key, bool& out) {
    if (const ConfigNode* node = take(key)) {
        if (node->kind != Kind::boolean) wrong_kind(*node, name(key), "true or false");
        out = node->boolean;
    }
}

void TableReader::optional(const char* key, std::int64_t& out) {
    if (const ConfigNode* node = take(key)) {
        if (node->kind != Kind::integer) wrong_kind(*node, name(key), "an integer");
        out = node->integer;
    }
}

void TableReader::optional(const char* key, double& out) {
    if (const ConfigNode* node = take(key)) {
        if (node->kind == Kind::integer)
            out = static_cast<double>(node->integer);
        else if (node->kind == Kind::real)
            out = node->real;
        else
            wrong_kind(*node, name(key), "a number");
        // No setting means anything at NaN or infinity, and neither can be stored as JSON.
        if (!std::isfinite(out))
            throw Error(ErrorKind::config, node->place, fmt::format("{} is {}", name(key), out),
                        "give a finite number");
    }
}

void TableReader::optional(const char* key, std::string& out) {
    if (const ConfigNode* node = take(key)) {
        if (node->kind != Kind::text) wrong_kind(*node, name(key), "a string");
        out = node->text;
    }
}

void TableReader::optional(const char* key, std::vector<std::string>& out) {
    if (const ConfigNode* node = take(key)) {
        if (node->kind != Kind::array) wrong_kind(*node, name(key), "an array of strings");
        std::vector<std::string> texts;
        for (const ConfigNode& item : node->items) {
            if (item.kind != Kind::text) wrong_kind(item, "an item of " + name(key), "a string");
            texts.push_back(item.text);
        }
        out = std::move(texts);
    }
}

void TableReader::optional(const char* key, std::vector<std::int64_t>& out) {
    if (const ConfigNode* node = take(key)) {
        if (node->kind != Kind::array) wrong_kind(*node, name(key), "an array of integers");
        std::vector<std::int64_t> numbers;
        for (const ConfigNode& item : node->items) {
            if (item.kind != Kind::integer) wrong_kind(item, "an item of " + name(key), "an integer");
            numbers.push_back(item.integer);
        }
        out = std::move(numbers);
    }
}

const ConfigNode* TableReader::optional_node(const char* key) {
    return take(key);
}

std::vector<std::string> TableReader::keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, child] : table_.children) keys.push_back(key);
    return keys;
}

bool TableReader::has(const char* table, const char* inner) const {
    const ConfigNode* node = table_.find(table);
    return node != nullptr && node->kind == Kind::table && node->find(inner) != nullptr;
}

void TableReader::require(const char* key) {
    if (table_.find(key) != nullptr) return;
    known_.emplace_back(key);
    // A key that is there but misspelt says more than the one that is missing.
    for (const auto& [present, child] : table_.children)
        if (did_you_mean(present, {key}) == key)
            throw Error(ErrorKind::config, child.place, fmt::format("unknown key {}", name(present.c_str())),
                        fmt::format("did you mean {}?", key));
    throw Error(ErrorKind::config, table_.place, fmt::format("{} is missing", name(key)));
}

std::string TableReader::required_text(const char* key) {
    std::string text = required<std::string>(key);
    if (text.empty()) refuse(key, "is empty");
    return text;
}

void TableReader::finish() const {
    for (const auto& [key, child] : table_.children) {
        if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
        std::vector<std::string> sorted = known_;
        std::sort(sorted.begin(), sorted.end());
        sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
        throw Error(ErrorKind::config, child.place, fmt::format("unknown key {}", name(key.c_str())),
                    suggestion(key, sorted, fmt::format("known here: {}", fmt::join(sorted, ", "))));
    }
}

void TableReader::refuse(const char* key, const std::string& why, const std::string& fix) const {
    throw Error(ErrorKind::config, place(key), name(key) + " " + why, fix);
}

void TableReader::require_one_of(const char* key, const std::string& value,
                                 const std::vector<std::string>& allowed) const {
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
    const std::string near = did_you_mean(value, allowed);
    refuse(key, fmt::format("is \"{}\", which is none of: {}", value, fmt::join(allowed, ", ")),
           near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

void TableReader::require_at_least(const char* key, std::int64_t value, std::int64_t least) const {
    if (value < least) refuse(key, fmt::format("is {} and must be at least {}", value, least));
}

void TableReader::require_at_least(const char* key, double value, double least) const {
    if (!(value >= least)) refuse(key, fmt::format("is {:g} and must be at least {:g}", value, least));
}

void TableReader::require_at_most(const char* key, std::int64_t value, std::int64_t most) const {
    if (value > most) refuse(key, fmt::format("is {} and must be at most {}", value, most));
}

void TableReader::require_at_most(const char* key, double value, double most) const {
    if (!(value <= most)) refuse(key, fmt::format("is {:g} and must be at most {:g}", value, most));
}

Place TableReader::place(const char* key) const {
    const ConfigNode* node = table_.find(key);
    return node != nullptr ? node->place : table_.place;
}

std::string TableReader::name(const char* key) const {
    return path_.empty() ? key : path_ + "." + key;
}

}  // namespace deft
