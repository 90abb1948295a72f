#include "base/key_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <type_traits>

#include "base/json.h"

namespace deft {

namespace {

struct Type {
    const char* words;
    const char* schema;  // of JSON Schema, of an array that of its items
    bool array = false;
};

Type type_of(const FieldValue& value) {
    const auto of = [](auto* pointer) -> Type {
        using Value = std::remove_pointer_t<decltype(pointer)>;
        if constexpr (std::is_same_v<Value, bool>)
            return {"true or false", "boolean"};
        else if constexpr (std::is_same_v<Value, std::int64_t>)
            return {"integer", "integer"};
        else if constexpr (std::is_same_v<Value, double>)
            return {"number", "number"};
        else if constexpr (std::is_same_v<Value, std::string> || std::is_same_v<Value, EnumSlot>)
            return {"string", "string"};
        else if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>)
            return {"integers", "integer", true};
        else if constexpr (std::is_same_v<Value, std::vector<double>>)
            return {"numbers", "number", true};
        else
            return {"strings", "string", true};
    };
    return std::visit(of, value);
}

Json type_schema(const Type& type) {
    Json schema = Json::object();
    schema["type"] = type.array ? "array" : type.schema;
    if (type.array) schema["items"]["type"] = type.schema;
    return schema;
}

std::string range_text(const FieldRules& rules) {
    if (rules.at_least && rules.at_most) return fmt::format("{} to {}", *rules.at_least, *rules.at_most);
    std::vector<std::string> bounds;
    if (rules.at_least) bounds.push_back(fmt::format("at least {}", *rules.at_least));
    if (rules.above) bounds.push_back(fmt::format("above {}", *rules.above));
    if (rules.at_most) bounds.push_back(fmt::format("at most {}", *rules.at_most));
    if (rules.below) bounds.push_back(fmt::format("below {}", *rules.below));
    return fmt::format("{}", fmt::join(bounds, ", "));
}

// Meaning, unit, values and default as sentences.
std::string describe(const Field& field, const KeyTable& table) {
    std::string text = field.meaning;
    if (*field.rules.unit != '\0') text += fmt::format(" Unit: {}.", field.rules.unit);
    if (*field.rules.takes != '\0') text += fmt::format(" Takes {}.", field.rules.takes);
    return text + (field.rules.required ? " Required." : fmt::format(" Default: {}.", default_text(field, table)));
}

Json field_schema(const Field& field, const KeyTable& table) {
    const FieldRules& rules = field.rules;
    Json schema =
        *rules.schema != '\0' ? parse_json(rules.schema) : type_schema(type_of(field.in(table.defaults.get())));
    schema["description"] = describe(field, table);
    Json& bounded = *rules.schema == '\0' && schema.contains("items") ? schema["items"] : schema;
    const bool integer = bounded.value("type", "") == "integer";
    const auto bound = [&](const char* name, const std::optional<double>& value) {
        if (value && integer) bounded[name] = static_cast<std::int64_t>(*value);
        if (value && !integer) bounded[name] = *value;
    };
    bound("minimum", rules.at_least);
    bound("exclusiveMinimum", rules.above);
    bound("maximum", rules.at_most);
    bound("exclusiveMaximum", rules.below);
    if (!rules.one_of.empty()) schema["enum"] = rules.one_of;
    return schema;
}

}  // namespace

std::string allowed_text(const Field& field, const KeyTable& table) {
    const FieldRules& rules = field.rules;
    if (*rules.takes != '\0') return rules.takes;
    if (!rules.one_of.empty()) return fmt::format("{}", fmt::join(rules.one_of, " | "));
    const std::string range = range_text(rules);
    return type_of(field.in(table.defaults.get())).words + (range.empty() ? "" : ", " + range);
}

std::string default_text(const Field& field, const KeyTable& table) {
    if (field.rules.required) return "required";
    if (*field.rules.by_default != '\0') return field.rules.by_default;
    const bool local = field.rules.role == FieldRole::local;
    const Json values = fields_json({field}, table.defaults.get(), local ? FieldPart::local : FieldPart::all_but_local);
    const auto value = values.find(field.key);
    const bool none = value == values.end() || (value->is_string() && value->get<std::string>().empty()) ||
                      (value->is_array() && value->empty());
    if (none) return "none";
    return value->is_string() ? value->get<std::string>() : value->dump();
}

Json json_schema(const KeyTable& table) {
    Json schema = {{"type", "object"}, {"description", table.meaning}, {"additionalProperties", false}};
    schema["properties"] = Json::object();
    for (const Field& field : table.fields)
        if (field.rules.role != FieldRole::computed) schema["properties"][field.key] = field_schema(field, table);
    return schema;
}

}  // namespace deft
