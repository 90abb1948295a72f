#include "engine/data_efficiency/sampling/difficulty_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"
#include "engine/io/npy.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

fs::path value_file(const fs::path& folder, const std::string& name) {
    return folder / (name + ".value.npy");
}

fs::path order_file(const fs::path& folder, const std::string& name) {
    return folder / (name + ".order.npy");
}

// Ascending by (value, id), every id once: strictly ascending pairs of as many ids as there are samples.
template <class Value, class Id>
bool is_order(std::span<const Value> value, std::span<const Id> order) {
    const std::size_t n = value.size();
    for (std::size_t rank = 0; rank < n; ++rank) {
        const auto id = static_cast<std::size_t>(order[rank]);
        if (id >= n) return false;  // a negative one, too
        if (rank == 0) continue;
        const auto previous = static_cast<std::size_t>(order[rank - 1]);
        if (value[id] < value[previous] || (value[id] == value[previous] && id <= previous)) return false;
    }
    return true;
}

bool is_order(const DifficultyIndex& index) {
    return with_number_type(index.value.type, [&]<class Value>() {
        return with_number_type(index.order.type, [&]<class Id>() {
            return is_order(index.value.as<Value>(), index.order.as<Id>());
        });
    });
}

bool is_integer(NumberType type) {
    return type.kind != 'f' && type != NumberType{'u', 8};
}

}  // namespace

DifficultyIndex index_of_values(std::vector<std::int64_t> values) {
    std::vector<std::int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
    });
    const auto columns = std::make_shared<const std::pair<OwnedColumn, OwnedColumn>>(narrow_copy(values), narrow_copy(order));
    return {columns->first.column, columns->second.column, columns};
}

void write_difficulty_index(const DifficultyIndex& index, const fs::path& folder, const std::string& name) {
    write_npy(value_file(folder, name), index.value.type, index.value.data, index.value.count);
    write_npy(order_file(folder, name), index.order.type, index.order.data, index.order.count);
}

DifficultyIndex read_difficulty_index(const fs::path& folder, const std::string& name) {
    const Npy value = read_npy(value_file(folder, name)), order = read_npy(order_file(folder, name));
    const auto files = std::make_shared<const std::pair<Npy, Npy>>(value, order);
    const DifficultyIndex index{{value.data, value.count, value.type}, {order.data, order.count, order.type}, files};
    if (!is_integer(value.type) || !is_integer(order.type) || value.count != order.count || !is_order(index))
        throw Error(ErrorKind::io,
                    fmt::format("{} and its values do not belong together", order_file(folder, name).string()),
                    "delete both and analyse the corpus again");
    return index;
}

}  // namespace deft::engine
