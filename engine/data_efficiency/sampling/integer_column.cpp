#include "engine/data_efficiency/sampling/integer_column.h"

#include <algorithm>

namespace deft::engine {

OwnedColumn narrow_copy(std::span<const std::int64_t> values) {
    NumberType type = narrowest_integer(0, 0);
    if (!values.empty()) {
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        type = narrowest_integer(*least, *most);
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * static_cast<std::size_t>(type.bytes));
    with_number_type(type, [&]<class T>() {
        T* out = reinterpret_cast<T*>(bytes->data());
        for (const std::int64_t value : values) *out++ = static_cast<T>(value);
    });
    return {bytes, {bytes->data(), static_cast<std::int64_t>(values.size()), type}};
}

}  // namespace deft::engine
