#pragma once
// One table of fields per struct: the name, values and meaning of each key. It drives reading from TOML, JSON in both
// directions, columns of the database, lists of keys and JSON Schemas, so that each key is defined once.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/enum_names.h"
#include "base/json_fwd.h"
#include "base/table_reader.h"

namespace deft {

// The value of any enumeration; Field::names knows which.
struct EnumSlot;

// Reads and writes an enumeration's value by the names of its table.
struct EnumAccess {
    const char* (*name)(const EnumSlot& value);
    bool (*set)(EnumSlot& value, std::string_view name);  // false: no value has the name, and nothing changes
};

// Pointer to a field's value in a record; null where the record does not hold it as one of these types.
using FieldValue =
    std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::int64_t>*, std::vector<double>*,
                 std::vector<std::string>*, EnumSlot*, std::optional<std::int64_t>*, std::optional<double>*>;

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
    const EnumAccess* names = nullptr;  // of an enumeration
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

template <class Enum>
inline constexpr EnumAccess kEnumAccess = {
    [](const EnumSlot& value) { return name_of(reinterpret_cast<const Enum&>(value)); },
    [](EnumSlot& value, std::string_view name) {
        const std::optional<Enum> named = value_named<Enum>(name);
        if (named) reinterpret_cast<Enum&>(value) = *named;
        return named.has_value();
    }};

}  // namespace detail

// at<&Outer::inner, &Inner::value> finds that value in an Outer.
template <auto First, auto... Rest>
FieldValue at(void* record) {
    return &detail::member<First, Rest...>(*static_cast<decltype(detail::record_of(First))*>(record));
}

// The field of an enumeration: its values are those of EnumNames, and nothing else lists them.
template <auto First, auto... Rest>
Field choice(const char* key, const char* meaning, FieldRules rules = {}) {
    using Record = decltype(detail::record_of(First));
    using Enum = std::remove_reference_t<decltype(detail::member<First, Rest...>(std::declval<Record&>()))>;
    rules.one_of = names_of<Enum>();
    const auto in = [](void* record) -> FieldValue {
        return reinterpret_cast<EnumSlot*>(&detail::member<First, Rest...>(*static_cast<Record*>(record)));
    };
    return {key, in, meaning, std::move(rules), &detail::kEnumAccess<Enum>};
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
