#include "engine/data_efficiency/sampling/difficulty_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <utility>

#include "base/error.h"
#include "engine/data_efficiency/sampling/order_samples.h"
#include "engine/io/npy.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

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
        return with_number_type(index.order.type,
                                [&]<class Id>() { return is_order(index.value.as<Value>(), index.order.as<Id>()); });
    });
}

NumberType type_of_ids(std::int64_t samples) {
    return narrowest_integer(0, std::max<std::int64_t>(0, samples - 1));
}

// Ids as narrow as `type`, which has one to eight bytes.
std::vector<std::byte> narrow_ids(std::span<const std::uint64_t> ids, NumberType type) {
    std::vector<std::byte> bytes(ids.size() * static_cast<std::size_t>(type.bytes));
    with_number_type(type, [&]<class T>() {
        T* out = reinterpret_cast<T*>(bytes.data());
        for (const std::uint64_t id : ids) *out++ = static_cast<T>(id);
    });
    return bytes;
}

}  // namespace

fs::path difficulty_value_file(const fs::path& folder, const std::string& name) {
    return folder / (name + ".value.npy");
}

fs::path difficulty_order_file(const fs::path& folder, const std::string& name) {
    return folder / (name + ".order.npy");
}

std::int64_t ordered_key(double value) {
    const auto bits = std::bit_cast<std::int64_t>(value + 0.0);  // -0 + 0 = 0
    return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}

double of_ordered_key(std::int64_t key) {
    return std::bit_cast<double>(key >= 0 ? key : std::numeric_limits<std::int64_t>::min() - key);
}

std::string DifficultyIndex::sorted_text(std::int64_t rank) const {
    const std::int64_t measured = sorted_value(rank);
    return has_floats ? fmt::format("{:.5g}", of_ordered_key(measured)) : std::to_string(measured);
}

DifficultyIndex index_of_values(const std::vector<std::int64_t>& values) {
    struct Columns {
        OwnedColumn value;
        std::vector<std::byte> order;
    };
    const auto columns = std::make_shared<Columns>(Columns{narrow_copy(values), {}});
    const IntegerColumn& value = columns->value.column;
    const NumberType type = type_of_ids(value.count);
    columns->order.resize(static_cast<std::size_t>(value.count * type.bytes));
    order_samples(value, 1, kNoLimit, [&](std::int64_t rank, std::span<const std::uint64_t> ids) {
        const std::vector<std::byte> bytes = narrow_ids(ids, type);
        std::copy(bytes.begin(), bytes.end(), columns->order.begin() + rank * type.bytes);
    });
    return {value, {columns->order.data(), value.count, type}, columns, false};
}

void write_difficulty_order(const IntegerColumn& value, const fs::path& folder, const std::string& name, int threads,
                            std::int64_t memory_bytes) {
    const NumberType type = type_of_ids(value.count);
    NpyOutput output(difficulty_order_file(folder, name), type, value.count);
    order_samples(value, threads, memory_bytes, [&](std::int64_t rank, std::span<const std::uint64_t> ids) {
        const std::vector<std::byte> bytes = narrow_ids(ids, type);
        output.write(rank, bytes.data(), static_cast<std::int64_t>(ids.size()));
    });
    output.finish();
}

void write_difficulty_index(const DifficultyIndex& index, const fs::path& folder, const std::string& name) {
    write_npy(difficulty_value_file(folder, name), index.value.type, index.value.data, index.value.count);
    write_npy(difficulty_order_file(folder, name), index.order.type, index.order.data, index.order.count);
}

DifficultyIndex read_difficulty_index(const fs::path& folder, const std::string& name) {
    const Npy value = read_npy(difficulty_value_file(folder, name)),
              order = read_npy(difficulty_order_file(folder, name));
    const auto files = std::make_shared<const std::pair<Npy, Npy>>(value, order);
    const DifficultyIndex index{{value.data, value.count, value.type}, {order.data, order.count, order.type}, files};
    if (!is_integer_column(value.type) || !is_integer_column(order.type) || value.count != order.count ||
        !is_order(index))
        throw Error(
            ErrorKind::io,
            fmt::format("{} and its values do not belong together", difficulty_order_file(folder, name).string()),
            "delete both and analyse the corpus again");
    return index;
}

}  // namespace deft::engine
