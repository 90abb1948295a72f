#include "engine/data_efficiency/sampling/integer_column.h"

#include <algorithm>
#include <limits>

namespace deft::engine {

OwnedColumn narrow_copy(std::span<const std::int64_t> values) {
    const IntegerColumn wide{values.data(), static_cast<std::int64_t>(values.size()), number_type<std::int64_t>()};
    const auto [least, most] = range_of(wide);
    const NumberType type = narrowest_integer(least, most);
    auto bytes = std::make_shared<const std::vector<std::byte>>(converted(wide, type));
    return {bytes, {bytes->data(), wide.count, type}};
}

std::pair<std::int64_t, std::int64_t> range_of(const IntegerColumn& column) {
    if (column.count == 0) return {0, 0};
    return with_number_type(column.type, [&]<class T>() -> std::pair<std::int64_t, std::int64_t> {
        T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::lowest();
        for (const T value : column.as<T>()) {
            least = std::min(least, value);
            most = std::max(most, value);
        }
        return {static_cast<std::int64_t>(least), static_cast<std::int64_t>(most)};
    });
}

std::vector<std::byte> converted(const IntegerColumn& column, NumberType type) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(column.count * type.bytes));
    with_number_type(column.type, [&]<class From>() {
        with_number_type(type, [&]<class To>() {
            To* out = reinterpret_cast<To*>(bytes.data());
            for (const From value : column.as<From>()) *out++ = static_cast<To>(value);
        });
    });
    return bytes;
}

}  // namespace deft::engine
