#include "results_db/record_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "results_db/nonfinite.h"

namespace deft::results_db {

namespace {

constexpr std::size_t kMostReals = 16;  // of a record: two bits each of `nonfinite`, with room to spare

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
    Record record;
    int column = first, shift = 0;
    std::array<double*, kMostReals> reals{};
    std::size_t count = 0;
    each_column(record, [&](const Field&, auto& value) {
        using Value = std::remove_reference_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::string>)
            value = row.text(column);
        else if constexpr (std::is_same_v<Value, double>)
            value = row.real(column);
        else
            value = static_cast<Value>(row.integer(column));
        if constexpr (std::is_same_v<Value, double>) reals.at(count++) = &value;
        ++column;
    });
    if (count == 0) return record;
    const std::int64_t kinds = row.integer(column);
    for (std::size_t i = 0; i < count; ++i) *reals[i] = restore(*reals[i], kinds >> std::exchange(shift, shift + 2));
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
