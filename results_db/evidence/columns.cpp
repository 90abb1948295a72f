#include "results_db/evidence/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/json.h"
#include "results_db/evidence/local_paths.h"
#include "results_db/evidence/text_lines.h"

namespace deft::results_db {

namespace {

constexpr std::size_t kLongestName = 100;
constexpr std::int64_t kLatestMs = 253'402'300'799'999;  // the end of the year 9999

bool is_integer(const Json& value) {
    const bool is_too_large = value.is_number_unsigned() &&
                              value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    return value.is_number_integer() && !is_too_large;
}

// Describes the error in the value; empty: none.
const char* wrong(const Json& value, Holds holds) {
    switch (holds) {
        case Holds::integer:
            return is_integer(value) ? "" : "is not a 64-bit integer";
        case Holds::count:
            return is_integer(value) && value.get<std::int64_t>() >= 0 ? "" : "is not a count";
        case Holds::time:
            return is_integer(value) && value.get<std::int64_t>() >= 0 && value.get<std::int64_t>() <= kLatestMs
                       ? ""
                       : "is not a time in ms since 1970";
        case Holds::real:
            return value.is_number() ? "" : "is not a number";
        case Holds::amount:
            return !value.is_number() ? "is not a number" : value.get<double>() >= 0 ? "" : "is less than 0";
        case Holds::text:
            return value.is_string() ? "" : "is not a string";
        case Holds::name:
            return value.is_string() && is_name(value.get_ref<const std::string&>()) ? "" : "is not a valid name";
        case Holds::sha256:
            return value.is_string() && is_sha256(value.get_ref<const std::string&>()) ? "" : "is not a SHA-256 hash";
        case Holds::json:
            return value.is_structured() ? "" : "is not an object or array";
    }
    return "has an unknown kind";
}

Json value_of(const Statement& row, int index, Holds holds) {
    switch (holds) {
        case Holds::integer:
        case Holds::count:
        case Holds::time:
            return row.integer(index);
        case Holds::real:
        case Holds::amount:
            return row.real(index);
        case Holds::json: {
            Json value = try_parse_json(row.text(index));
            return value.is_discarded() ? Json::object() : without_absolute_paths(value);
        }
        default: {
            std::string text = without_absolute_paths(row.text(index));
            std::erase(text, '\0');
            return text;
        }
    }
}

}  // namespace

bool is_name(const std::string& text) {
    return !text.empty() && text.size() <= kLongestName && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '+';
    });
}

bool is_sha256(const std::string& text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Json object_of(const Statement& row, int first, std::span<const Column> columns) {
    Json object = Json::object();
    for (const Column& column : columns) {
        const int index = first++;
        const bool is_empty = row.is_null(index) || (column.holds >= Holds::text && row.text(index).empty());
        if (is_empty && column.absent != Absent::never) continue;
        object[column.name] = value_of(row, index, column.holds);
    }
    return object;
}

void require_columns(const Json& object, std::span<const Column> columns, std::initializer_list<const char*> others) {
    if (!object.is_object()) throw BadRecord{"it is not a JSON object"};
    for (const Column& column : columns) {
        const auto found = object.find(column.name);
        if (found == object.end() && column.absent != Absent::never) continue;
        if (found == object.end()) throw BadRecord{fmt::format("it has no '{}'", column.name)};
        if (column.absent != Absent::never && *found == "")
            throw BadRecord{fmt::format("its '{}' is empty", column.name)};
        if (const std::string how = wrong(*found, column.holds); !how.empty())
            throw BadRecord{fmt::format("its '{}' {}", column.name, how)};
    }
    for (const auto& [key, value] : object.items()) {
        const auto is_it = [&name = key](const char* other) { return name == other; };
        if (std::none_of(columns.begin(), columns.end(), [&](const Column& column) { return is_it(column.name); }) &&
            std::none_of(others.begin(), others.end(), is_it))
            throw BadRecord{fmt::format("it has the unknown key '{}'", key)};
    }
}

void bind_columns(Statement& statement, int first, const Json& object, std::span<const Column> columns) {
    for (const Column& column : columns) {
        const int index = first++;
        const auto found = object.find(column.name);
        if (found == object.end() && column.absent == Absent::empty) {
            statement.bind_at(index, "");
        } else if (found == object.end()) {
            statement.bind_at(index, nullptr);
        } else if (column.holds <= Holds::time) {
            statement.bind_at(index, found->get<std::int64_t>());
        } else if (column.holds < Holds::text) {
            statement.bind_at(index, found->get<double>());
        } else if (column.holds == Holds::json) {
            statement.bind_at(index, found->dump());
        } else {
            statement.bind_at(index, found->get_ref<const std::string&>());
        }
    }
}

const std::string& text_at(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) throw BadRecord{fmt::format("it has no text '{}'", key)};
    return found->get_ref<const std::string&>();
}

std::string text_or_empty(const Json& object, const char* key) {
    return object.contains(key) ? text_at(object, key) : std::string();
}

}  // namespace deft::results_db
