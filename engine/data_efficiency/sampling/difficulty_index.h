#pragma once
// How difficult each sample of a corpus is, and the samples in that order.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace deft::engine {

struct DifficultyIndex {
    std::span<const std::int64_t> value;  // (samples), by sample id
    std::span<const std::int64_t> order;  // (samples), sample ids by (value, id)
    std::shared_ptr<const void> owner;

    std::int64_t samples() const { return static_cast<std::int64_t>(value.size()); }
    std::int64_t sorted_value(std::int64_t rank) const {
        return value[static_cast<std::size_t>(order[static_cast<std::size_t>(rank)])];
    }
};

DifficultyIndex index_of_values(std::vector<std::int64_t> values);

// FOLDER/NAME.value.npy and FOLDER/NAME.order.npy, one-dimensional arrays of i64, memory-mapped when read.
// Errors: io; for arrays of different lengths or an order that is none.
void write_difficulty_index(const DifficultyIndex& index, const std::filesystem::path& folder, const std::string& name);
DifficultyIndex read_difficulty_index(const std::filesystem::path& folder, const std::string& name);

}  // namespace deft::engine
