#pragma once
// One table of fields per struct: the name, values and meaning of each key. It drives reading from TOML, JSON in both
// directions, columns of the database, lists of keys and JSON Schemas, so that each key is defined once.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json_fwd.h"
#include "base/table_reader.h"

namespace deft {

// Pointer to a field's value in a record; null where the record does not hold it as one of these types.
using FieldValue =
    std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::int64_t>*, std::vector<double>*,
                 std::vector<std::string>*, std::optional<std::int64_t>*, std::optional<double>*>;

enum class FieldRole {
    setting,   // a key of a file, written as JSON
    local,     // a key of a file that does not affect results: written as JSON separately
    computed,  // not a key of a file: filled in by the program, and written as JSON
};

struct FieldRules {
    const char* unit = "";
    std::optional<double> at_least = {}, above = {}, at_most = {}, below = {};
    std::vector<std::string> one_of = {};
    const char* by_default = "";  // the default in words, if it is not a constant
    const char* takes = "";       // the values in words, if the type does not state them
    const char* schema = "";      // JSON Schema of the values, if the type does not state it
    bool required = false;        // in a file
    bool apart = false;           // read from the file by its own parser
    bool came_later = false;      // may be missing in files of an older deft
    FieldRole role = FieldRole::setting;
    const char* column = "";  // name in the database, if it differs from the key
};

struct Field {
    const char* key;
    std::function<FieldValue(void* record)> in;
    const char* meaning = "";  // full sentences or noun phrases, each with its period
    FieldRules rules = {};
};

using Fields = std::vector<Field>;

namespace detail {

template <class Record, class Member>
Record record_of(Member Record::*);

template <auto First, auto... Rest>
auto& member(decltype(record_of(First))& record) {
    if constexpr (sizeof...(Rest) == 0)
        return record.*First;
    else
        return member<Rest...>(record.*First);
}

}  // namespace detail

// at<&Outer::inner, &Inner::value> finds that value in an Outer.
template <auto First, auto... Rest>
FieldValue at(void* record) {
    return &detail::member<First, Rest...>(*static_cast<decltype(detail::record_of(First))*>(record));
}

// A key whose value the record does not hold as written in the file: its parser reads it.
template <class Type>
FieldValue apart(void*) {
    return static_cast<Type*>(nullptr);
}

Fields joined(Fields first, const Fields& second);

// Reads the keys of `fields`, refuses all others that were not asked for before, and checks what was read. What is
// absent keeps its value. Errors: config, with the place.
void read_table(TableReader& table, const Fields& fields, void* record);

// The values by key: of all fields but the local ones, or of these alone. NaN and infinity, which JSON lacks, are
// strings.
enum class FieldPart { all_but_local, local };
Json fields_json(const Fields& fields, const void* record, FieldPart part = FieldPart::all_but_local);

// For records whose table is found by fields_of(record).
template <class Record>
void read_table(TableReader& table, Record& record) {
    read_table(table, fields_of(record), &record);
}
template <class Record>
auto fields_json(const Record& record, FieldPart part = FieldPart::all_but_local) {
    return fields_json(fields_of(record), &record, part);
}

}  // namespace deft
