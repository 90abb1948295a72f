#include "results_db/column.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "results_db/valid_json.h"

namespace deft::results_db {

namespace {

void bind_value(Statement& statement, int index, const Column& column, const std::string& text) {
    if (text.empty() && column.absent == Absent::null) return statement.bind_at(index, nullptr);
    const bool is_checked = column.holds == Holds::json && !(text.empty() && column.absent == Absent::empty);
    statement.bind_at(index, is_checked ? valid_json(text, column.name) : text);
}

void bind_value(Statement& statement, int index, const Column& column, std::int64_t value) {
    if (value == 0 && column.absent == Absent::null) return statement.bind_at(index, nullptr);
    statement.bind_at(index, value);
}

template <class Number>
void bind_value(Statement& statement, int index, const Column&, const Number& value) {
    statement.bind_at(index, value);
}

// Lists have tables of their own, and no row has an enumeration.
template <class Item>
void bind_value(Statement&, int, const Column&, const std::vector<Item>&) {}
void bind_value(Statement&, int, const Column&, const EnumSlot&) {}

void read_value(const Statement& row, int index, const Column&, std::string& to) {
    to = row.text(index);
}
void read_value(const Statement& row, int index, const Column&, std::int64_t& to) {
    to = row.integer(index);
}
void read_value(const Statement& row, int index, const Column&, bool& to) {
    to = row.integer(index) != 0;
}
void read_value(const Statement& row, int index, const Column& column, double& to) {
    const bool is_unknown = column.absent == Absent::nan && row.is_null(index);
    to = is_unknown ? std::numeric_limits<double>::quiet_NaN() : row.real(index);
}
void read_value(const Statement& row, int index, const Column&, std::optional<std::int64_t>& to) {
    to = row.maybe_integer(index);
}
void read_value(const Statement& row, int index, const Column&, std::optional<double>& to) {
    to = row.maybe_real(index);
}
template <class Item>
void read_value(const Statement&, int, const Column&, std::vector<Item>&) {}
void read_value(const Statement&, int, const Column&, EnumSlot&) {}

}  // namespace

std::string column_names(std::span<const Column> columns, const char* table) {
    std::string names;
    for (const Column& column : columns)
        names += fmt::format("{}{}{}{}", names.empty() ? "" : ", ", table, *table == '\0' ? "" : ".", column.name);
    return names;
}

std::string insert_into(const char* table, const std::string& first, std::span<const Column> columns,
                        const char* verb) {
    const std::string names = fmt::format("{}{}{}", first, first.empty() ? "" : ", ", column_names(columns));
    std::string values;
    for (std::ptrdiff_t i = 0; i <= std::count(names.begin(), names.end(), ','); ++i)
        values += fmt::format("{}?{}", i == 0 ? "" : ", ", i + 1);
    return fmt::format("{} {} ({}) VALUES ({})", verb, table, names, values);
}

std::string assignments(int first, std::span<const Column> columns) {
    std::string text;
    for (const Column& column : columns)
        text += fmt::format("{}{} = ?{}", text.empty() ? "" : ", ", column.name, first++);
    return text;
}

std::string excluded_but(std::span<const Column> columns, std::initializer_list<const char*> kept) {
    std::string text;
    for (const Column& column : columns) {
        const auto is_it = [&](const char* name) { return std::string_view(name) == column.name; };
        if (std::any_of(kept.begin(), kept.end(), is_it)) continue;
        text += fmt::format("{}{} = excluded.{}", text.empty() ? "" : ", ", column.name, column.name);
    }
    return text;
}

void bind_row(Statement& statement, int first, std::span<const Column> columns, const void* row) {
    for (const Column& column : columns) {
        const int index = first++;
        std::visit([&](const auto* value) { bind_value(statement, index, column, *value); },
                   column.in(const_cast<void*>(row)));
    }
}

int read_row(const Statement& statement, int first, std::span<const Column> columns, void* row) {
    for (const Column& column : columns) {
        const int index = first++;
        if (column.in == nullptr) continue;
        std::visit([&](auto* value) { read_value(statement, index, column, *value); }, column.in(row));
    }
    return first;
}

std::vector<Column> picked(std::span<const Column> columns, std::initializer_list<const char*> names) {
    std::vector<Column> found;
    for (const char* name : names)
        for (const Column& column : columns)
            if (std::string_view(name) == column.name) found.push_back(column);
    return found;
}

std::vector<Column> joined(std::initializer_list<std::span<const Column>> parts) {
    std::vector<Column> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace deft::results_db
