#include "engine/data_efficiency/sampling/value_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "engine/io/npy.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_column(const fs::path& file, std::int64_t line, const std::string& what,
                                const std::string& fix) {
    throw Error(ErrorKind::config, Place{file.string(), static_cast<int>(line), 0}, what, fix);
}

constexpr const char* kFiniteNumbers = "give every sample a finite number";

std::int64_t finite_key(double value, const fs::path& file, std::int64_t line, std::int64_t sample) {
    if (!std::isfinite(value))
        refuse_column(file, line, fmt::format("sample {} has the difficulty {}", sample, value), kFiniteNumbers);
    return ordered_key(value);
}

ValueColumn of_npy(const fs::path& file) {
    const Npy npy = read_npy(file);
    ValueColumn column;
    column.floats = npy.type.kind == 'f';
    column.value.reserve(static_cast<std::size_t>(npy.count));
    with_number_type(npy.type, [&]<class T>() {
        for (const T value : npy.as<T>()) {
            const auto sample = static_cast<std::int64_t>(column.value.size());
            if constexpr (std::is_floating_point_v<T>) {
                column.value.push_back(finite_key(value, file, 0, sample));
            } else {
                if (std::cmp_greater(value, std::numeric_limits<std::int64_t>::max()))
                    refuse_column(file, 0,
                                  fmt::format("sample {} has the difficulty {}, above 2^63 - 1", sample, value),
                                  "subtract the least value from all, or divide them");
                column.value.push_back(static_cast<std::int64_t>(value));
            }
        }
    });
    return column;
}

template <class T>
std::optional<T> number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return value;
}

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    return text;
}

// Calls take(line number from 1, the line without blanks) for every line; a line feed at the end begins none.
template <class Take>
void for_each_line(std::string_view text, Take take) {
    for (std::int64_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        take(line, without_blanks(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// Enough of a line to find it by, as printable ASCII.
std::string excerpt(std::string_view line) {
    std::string text(line.substr(0, 40));
    for (char& c : text)
        if (c < ' ' || c > '~') c = '?';
    return text;
}

[[noreturn]] void refuse_line(const fs::path& file, std::int64_t number_of_line, std::string_view line) {
    if (line.find(',') != std::string_view::npos || line.find(';') != std::string_view::npos)
        refuse_column(file, number_of_line, fmt::format("\"{}\" is more than one column", excerpt(line)),
                      "keep the column of difficulties alone");
    refuse_column(file, number_of_line, fmt::format("\"{}\" is not a number", excerpt(line)),
                  number_of_line == 1 ? "leave the header out: a number a line, one for each sample" : kFiniteNumbers);
}

ValueColumn of_csv(const fs::path& file) {
    const MappedFile mapped(file);
    const std::string_view text(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
    ValueColumn column;
    for_each_line(text, [&](std::int64_t, std::string_view line) {
        if (column.floats) return;
        if (const auto value = number<std::int64_t>(line))
            column.value.push_back(*value);
        else
            column.floats = true;
    });
    if (!column.floats) return column;
    column.value.clear();
    for_each_line(text, [&](std::int64_t line_number, std::string_view line) {
        const auto value = number<double>(line);
        if (!value) refuse_line(file, line_number, line);
        column.value.push_back(finite_key(*value, file, line_number, line_number - 1));
    });
    return column;
}

}  // namespace

ValueColumn read_value_column(const fs::path& file) {
    return file.extension() == ".npy" ? of_npy(file) : of_csv(file);
}

DifficultyIndex difficulty_of_column(const fs::path& file, std::int64_t samples) {
    const ValueColumn column = read_value_column(file);
    if (static_cast<std::int64_t>(column.value.size()) != samples)
        throw Error(
            ErrorKind::config,
            fmt::format("{} has {} values, and the corpus {} samples", file.string(), column.value.size(), samples),
            "measure every sample of this corpus at this sample length, in order");
    DifficultyIndex index = index_of_values(column.value);
    index.has_floats = column.floats;
    return index;
}

}  // namespace deft::engine
