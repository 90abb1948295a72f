#pragma once
// The keys of a file's tables, to list them and to write the schema by which editors check the file.

#include <memory>
#include <string>
#include <utility>

#include "base/fields.h"

namespace deft {

struct KeyTable {
    std::string path;  // "train", "curriculum.METRIC"; empty at the root
    std::string meaning;
    Fields fields;                   // computed ones are not keys
    std::shared_ptr<void> defaults;  // a record with the defaults
};

template <class Record>
KeyTable key_table(std::string path, std::string meaning, const Record& defaults = {}) {
    return {std::move(path), std::move(meaning), fields_of(defaults), std::make_shared<Record>(defaults)};
}

// Description of a key's values: "integer, 1 to 100"; and its default: "8", "required", "none".
std::string allowed_text(const Field& field, const KeyTable& table);
std::string default_text(const Field& field, const KeyTable& table);

// {"type": "object", ...} of JSON Schema, draft-07, with those keys and no other.
Json json_schema(const KeyTable& table);

}  // namespace deft
