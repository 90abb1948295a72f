#include "base/fields.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"

namespace deft {

namespace {

// JSON has no NaN and no infinity; they travel as strings.
Json json_of(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

Json json_of(const std::vector<double>& values) {
    Json json = Json::array();
    for (const double value : values) json.push_back(json_of(value));
    return json;
}

template <class Number>
Json json_of(const std::optional<Number>& value) {
    return value ? json_of(*value) : Json();
}

template <class T>
Json json_of(const T& value) {
    return value;
}

template <class T>
Json json_of(const Field&, const T& value) {
    return json_of(value);
}

Json json_of(const Field& field, const EnumSlot& value) {
    return field.names->name(value);
}

template <class T>
void read(TableReader& table, const Field& field, T& out) {
    if (field.rules.required)
        out = table.required<T>(field.key);
    else
        table.optional(field.key, out);
}

// An unknown name leaves the value, and check() refuses it.
void read(TableReader& table, const Field& field, EnumSlot& out) {
    std::string name = field.names->name(out);
    read(table, field, name);
    field.names->set(out, name);
}

// Arrays of reals and optional numbers are not keys of files.
void read(TableReader&, const Field&, std::vector<double>&) {}
template <class Number>
void read(TableReader&, const Field&, std::optional<Number>&) {}

template <class T>
void check(TableReader&, const Field&, const T&) {}

void check(TableReader& table, const Field& field, const std::string& value) {
    if (!field.rules.one_of.empty()) table.require_one_of(field.key, value, field.rules.one_of);
}

void check(TableReader& table, const Field& field, const EnumSlot&) {
    check(table, field, table.optional_node(field.key)->text);
}

void check(TableReader& table, const Field& field, std::int64_t value) {
    const FieldRules& rules = field.rules;
    if (rules.at_least) table.require_at_least(field.key, value, static_cast<std::int64_t>(*rules.at_least));
    if (rules.at_most) table.require_at_most(field.key, value, static_cast<std::int64_t>(*rules.at_most));
}

void check(TableReader& table, const Field& field, const std::vector<std::int64_t>& values) {
    for (const std::int64_t value : values) check(table, field, value);
}

void check(TableReader& table, const Field& field, double value) {
    const FieldRules& rules = field.rules;
    if (rules.above && !(value > *rules.above))
        table.refuse(field.key, fmt::format("must be above {:g}", *rules.above));
    if (rules.below && !(value >= rules.at_least.value_or(0) && value < *rules.below))
        table.refuse(field.key, fmt::format("must be in [{:g}, {:g})", rules.at_least.value_or(0), *rules.below));
    if (rules.at_least == 0 && rules.at_most == 1 && !(value >= 0 && value <= 1))
        table.refuse(field.key, fmt::format("is {} and must be a share, 0 to 1", value));
    if (rules.at_least) table.require_at_least(field.key, value, *rules.at_least);
    if (rules.at_most) table.require_at_most(field.key, value, *rules.at_most);
}

}  // namespace

Fields joined(Fields first, const Fields& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

void read_table(TableReader& table, const Fields& fields, void* record) {
    const auto each = [&](const auto& action) {
        for (const Field& field : fields)
            if (field.rules.role != FieldRole::computed) action(field, field.in(record));
    };
    each([&](const Field& field, const FieldValue& value) {
        const auto read_into = [&](auto* out) {
            if (out == nullptr || field.rules.apart)
                table.optional_node(field.key);
            else
                read(table, field, *out);
        };
        std::visit(read_into, value);
    });
    table.finish();
    each([&](const Field& field, const FieldValue& value) {
        const auto check_value = [&](const auto* out) {
            if (out != nullptr && table.optional_node(field.key) != nullptr) check(table, field, *out);
        };
        std::visit(check_value, value);
    });
}

Json fields_json(const Fields& fields, const void* record, FieldPart part) {
    Json json = Json::object();
    for (const Field& field : fields) {
        if ((field.rules.role == FieldRole::local) != (part == FieldPart::local)) continue;
        const auto write = [&](const auto* value) {
            if (value != nullptr) json[field.key] = json_of(field, *value);
        };
        std::visit(write, field.in(const_cast<void*>(record)));
    }
    return json;
}

}  // namespace deft
