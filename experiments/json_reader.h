#pragma once
// Reading of another program's JSON, object by object, so that no key goes unnoticed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace deft::experiments {

// Every error is of kind config and names the key by its dotted path. A key of null counts as absent.
class JsonReader {
 public:
    // `path` is the object's dotted name, empty at the root. `object` must outlive the reader.
    JsonReader(const Json& object, std::string path, std::string file);

    bool has(const char* key);
    // Each leaves `out` as it was when the key is absent. A real without a fraction is an integer;
    // integers are of at most 2^53.
    void optional(const char* key, bool& out);
    void optional(const char* key, std::int64_t& out);
    void optional(const char* key, double& out);
    void optional(const char* key, std::string& out);
    void optional(const char* key, std::vector<std::int64_t>& out);

    template <class T>
    T required(const char* key) {
        if (!has(key)) refuse(key, "is needed");
        T value{};
        optional(key, value);
        return value;
    }

    // The object of that key; nothing where it is absent.
    std::optional<JsonReader> section(const std::string& key);
    JsonReader required_section(const char* key);

    // Keys that are present, and the unread subset of those, sorted.
    std::vector<std::string> keys() const;
    std::vector<std::string> unread() const;
    // All that was asked for: what an unread key may have been meant to be.
    const std::vector<std::string>& known() const { return known_; }

    // "path.key" for messages, without control characters.
    std::string name(const std::string& key) const;
    [[noreturn]] void refuse(const std::string& key, const std::string& why, const std::string& fix = {}) const;

 private:
    const Json* take(const std::string& key);

    const Json& object_;
    std::string path_, file_;
    std::vector<std::string> known_;
};

}  // namespace deft::experiments
