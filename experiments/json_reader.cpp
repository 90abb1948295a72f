#include "experiments/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"

namespace deft::experiments {

namespace {

// Up to 2^53, beyond which JSON's integers differ between programs.
std::optional<std::int64_t> integer_of(const Json& value) {
    constexpr double kExact = 9007199254740992.0;
    if (!value.is_number()) return {};
    const auto real = value.get<double>();
    if (std::trunc(real) != real || std::abs(real) > kExact) return {};
    return static_cast<std::int64_t>(real);
}

bool is_plain(const std::string& key) {
    return std::all_of(key.begin(), key.end(), [](unsigned char c) { return c >= ' ' && c != 0x7f; });
}

}  // namespace

JsonReader::JsonReader(const Json& object, std::string path, std::string file)
    : object_(object), path_(std::move(path)), file_(std::move(file)) {}

const Json* JsonReader::take(const std::string& key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

bool JsonReader::has(const char* key) {
    return take(key) != nullptr;
}

void JsonReader::optional(const char* key, bool& out) {
    const Json* value = take(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) refuse(key, "must be true or false");
    out = value->get<bool>();
}

void JsonReader::optional(const char* key, std::int64_t& out) {
    const Json* value = take(key);
    if (value == nullptr) return;
    const std::optional<std::int64_t> integer = integer_of(*value);
    if (!integer) refuse(key, "must be an integer, of at most 2^53");
    out = *integer;
}

void JsonReader::optional(const char* key, double& out) {
    const Json* value = take(key);
    if (value == nullptr) return;
    if (!value->is_number()) refuse(key, "must be a number");
    out = value->get<double>();
}

void JsonReader::optional(const char* key, std::string& out) {
    const Json* value = take(key);
    if (value == nullptr) return;
    if (!value->is_string()) refuse(key, "must be a string");
    out = value->get<std::string>();
}

void JsonReader::optional(const char* key, std::vector<std::int64_t>& out) {
    const Json* value = take(key);
    if (value == nullptr) return;
    std::vector<std::int64_t> integers;
    if (value->is_array())
        for (const Json& item : *value)
            if (const std::optional<std::int64_t> integer = integer_of(item)) integers.push_back(*integer);
    if (!value->is_array() || integers.size() != value->size())
        refuse(key, "must be an array of integers, of at most 2^53");
    out = std::move(integers);
}

std::optional<JsonReader> JsonReader::section(const std::string& key) {
    const Json* value = take(key);
    if (value == nullptr) return {};
    if (!value->is_object()) refuse(key, "must be an object");
    return JsonReader(*value, name(key), file_);
}

JsonReader JsonReader::required_section(const char* key) {
    std::optional<JsonReader> found = section(key);
    if (!found) refuse(key, "is needed");
    return *found;
}

std::vector<std::string> JsonReader::keys() const {
    std::vector<std::string> keys;
    for (const auto& item : object_.items()) keys.push_back(item.key());
    return keys;
}

std::vector<std::string> JsonReader::unread() const {
    std::vector<std::string> unread = keys();
    std::erase_if(unread,
                  [&](const std::string& key) { return std::find(known_.begin(), known_.end(), key) != known_.end(); });
    return unread;
}

std::string JsonReader::name(const std::string& key) const {
    const std::string shown = is_plain(key) ? key : Json(key).dump(-1, ' ', true);
    return path_.empty() ? shown : path_ + "." + shown;
}

void JsonReader::refuse(const std::string& key, const std::string& why, const std::string& fix) const {
    throw Error(ErrorKind::config, Place{file_, 0, 0}, fmt::format("{} {}", name(key), why), fix,
                "nothing was written");
}

}  // namespace deft::experiments
