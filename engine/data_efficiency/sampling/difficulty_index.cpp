#include "engine/data_efficiency/sampling/difficulty_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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
bool is_order(const DifficultyIndex& index) {
    const std::int64_t n = index.samples();
    for (std::int64_t rank = 0; rank < n; ++rank) {
        const std::int64_t id = index.order[static_cast<std::size_t>(rank)];
        if (id < 0 || id >= n) return false;
        if (rank == 0) continue;
        const std::int64_t before = index.sorted_value(rank - 1), here = index.sorted_value(rank);
        if (here < before || (here == before && id <= index.order[static_cast<std::size_t>(rank - 1)])) return false;
    }
    return true;
}

}  // namespace

DifficultyIndex index_of_values(std::vector<std::int64_t> values) {
    struct Arrays {
        std::vector<std::int64_t> value, order;
    };
    auto arrays = std::make_shared<Arrays>();
    arrays->value = std::move(values);
    arrays->order.resize(arrays->value.size());
    std::iota(arrays->order.begin(), arrays->order.end(), 0);
    const auto& value = arrays->value;
    std::stable_sort(arrays->order.begin(), arrays->order.end(), [&](std::int64_t a, std::int64_t b) {
        return value[static_cast<std::size_t>(a)] < value[static_cast<std::size_t>(b)];
    });
    return {arrays->value, arrays->order, arrays};
}

void write_difficulty_index(const DifficultyIndex& index, const fs::path& folder, const std::string& name) {
    write_npy(value_file(folder, name), index.value);
    write_npy(order_file(folder, name), index.order);
}

DifficultyIndex read_difficulty_index(const fs::path& folder, const std::string& name) {
    struct Files {
        Npy value, order;
    };
    auto files = std::make_shared<Files>(read_npy(value_file(folder, name)), read_npy(order_file(folder, name)));
    DifficultyIndex index{files->value.values, files->order.values, files};
    if (index.value.size() != index.order.size() || !is_order(index))
        throw Error(ErrorKind::io,
                    fmt::format("{} and its values do not belong together", order_file(folder, name).string()),
                    "delete both and analyse the corpus again");
    return index;
}

}  // namespace deft::engine
