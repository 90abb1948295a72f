#include "results_db/record_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "results_db/nonfinite.h"

namespace deft::results_db {

namespace {

// Calls action(field, its value) for each that has a column.
template <class Record, class Action>
void each_column(Record& record, const Action& action) {
    const auto call = [&](const Field& field, auto* value) {
        using Value = std::remove_pointer_t<decltype(value)>;
        if constexpr (std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string>) action(field, *value);
    };
    for (const Field& field : journal::fields<Record>())
        std::visit([&](auto* value) { call(field, value); }, field.in(&record));
}

// The place of a column's value in a record, and its type as a null pointer. A curve has many rows, and asking the
// fields for each value would take most of the time to read one.
struct Slot {
    std::ptrdiff_t offset = 0;
    std::variant<bool*, std::int64_t*, double*, std::string*> type;
};

template <class Record>
std::vector<Slot> slots_of() {
    std::vector<Slot> slots;
    Record record;
    each_column(record, [&](const Field&, auto& value) {
        const auto offset = reinterpret_cast<std::byte*>(&value) - reinterpret_cast<std::byte*>(&record);
        slots.push_back({offset, static_cast<decltype(&value)>(nullptr)});
    });
    return slots;
}

}  // namespace

template <class Record>
std::string columns_of() {
    std::vector<std::string> columns;
    bool has_reals = false;
    Record record;
    each_column(record, [&](const Field& field, const auto& value) {
        columns.emplace_back(*field.rules.column != '\0' ? field.rules.column : field.key);
        has_reals = has_reals || std::is_same_v<decltype(value), const double&>;
    });
    if (has_reals) columns.emplace_back("nonfinite");
    return fmt::format("{}", fmt::join(columns, ", "));
}

template <class Record>
std::string row_of(const char* table, const char* last_column) {
    const std::string columns = columns_of<Record>() + (*last_column != '\0' ? ", " : "") + last_column;
    std::string values = "?1, ?";
    for (auto more = std::count(columns.begin(), columns.end(), ','); more > 0; --more) values += ", ?";
    return fmt::format("{} (attempt_id, {}) VALUES ({})", table, columns, values);
}

// The kinds of the reals: two bits each, in the order of the fields.
template <class Record>
void bind_record(Statement& insert, std::int64_t attempt_id, const Record& record) {
    insert.bind(attempt_id);
    int index = 1, shift = 0;
    std::int64_t kinds = 0;
    Record copy = record;
    each_column(copy, [&](const Field&, const auto& value) {
        insert.bind_at(++index, value);
        if constexpr (std::is_same_v<decltype(value), const double&>)
            kinds |= kind_of(value) << std::exchange(shift, shift + 2);
    });
    if (shift > 0) insert.bind_at(++index, kinds);
}

template <class Record>
Record record_of(const Statement& row, int first) {
    static const std::vector<Slot> slots = slots_of<Record>();
    Record record;
    auto* const begin = reinterpret_cast<std::byte*>(&record);
    int column = first, shift = 0;
    const int kinds_column = first + static_cast<int>(slots.size());
    std::optional<std::int64_t> kinds;  // only records with reals have them
    for (const Slot& slot : slots) {
        const auto read = [&](auto* value) {
            using Value = std::remove_pointer_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::string>) {
                *value = row.text(column);
            } else if constexpr (std::is_same_v<Value, double>) {
                if (!kinds) kinds = row.integer(kinds_column);
                *value = restore(row.real(column), *kinds >> std::exchange(shift, shift + 2));
            } else {
                *value = static_cast<Value>(row.integer(column));
            }
        };
        std::visit([&](auto* type) { read(reinterpret_cast<decltype(type)>(begin + slot.offset)); }, slot.type);
        ++column;
    }
    return record;
}

template std::string columns_of<journal::TrainPoint>();
template std::string columns_of<journal::Sampling>();
template std::string columns_of<journal::ExpertLoad>();
template std::string row_of<journal::TrainPoint>(const char*, const char*);
template std::string row_of<journal::Sampling>(const char*, const char*);
template std::string row_of<journal::ExpertLoad>(const char*, const char*);
template void bind_record(Statement&, std::int64_t, const journal::TrainPoint&);
template void bind_record(Statement&, std::int64_t, const journal::Sampling&);
template void bind_record(Statement&, std::int64_t, const journal::ExpertLoad&);
template journal::TrainPoint record_of(const Statement&, int);
template journal::Sampling record_of(const Statement&, int);
template journal::ExpertLoad record_of(const Statement&, int);

}  // namespace deft::results_db
