#pragma once
// Strict reading of a configuration's tables.

#include <cstdint>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/error.h"

namespace deft {

// Reads a table key by key and refuses what nobody asked for. Every error is of kind config and carries the place.
class TableReader {
 public:
    // `path` is the table's dotted name for messages, empty at the root.
    TableReader(const ConfigNode& table, std::string path);

    // Each leaves `out` as it was when the key is absent.
    void optional(const char* key, bool& out);
    void optional(const char* key, std::int64_t& out);
    void optional(const char* key, double& out);  // finite; integers are taken as reals
    void optional(const char* key, std::string& out);
    void optional(const char* key, std::vector<std::string>& out);
    void optional(const char* key, std::vector<std::int64_t>& out);

    // The child table, array or value of that key, or null.
    const ConfigNode* optional_node(const char* key);

    // All keys that are there, in the file's order.
    std::vector<std::string> keys() const;
    // Whether it is a table with that key in it.
    bool has(const char* table, const char* inner) const;

    // As optional(), but the key must be there.
    template <class T>
    T required(const char* key) {
        require(key);
        T value{};
        optional(key, value);
        return value;
    }

    // As required<std::string>(), but the text must not be empty.
    std::string required_text(const char* key);

    // Throws for the first key that was never asked for, with the nearest known one.
    void finish() const;

    // Throws "path.key why", at the key's place.
    [[noreturn]] void refuse(const char* key, const std::string& why, const std::string& fix = {}) const;
    // Each throws unless the value read from that key is allowed; NaN is at least nothing.
    void require_one_of(const char* key, const std::string& value, const std::vector<std::string>& allowed) const;
    void require_at_least(const char* key, std::int64_t value, std::int64_t least) const;
    void require_at_least(const char* key, double value, double least) const;
    void require_at_most(const char* key, std::int64_t value, std::int64_t most) const;
    void require_at_most(const char* key, double value, double most) const;

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

}  // namespace deft
