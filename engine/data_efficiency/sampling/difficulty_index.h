#pragma once
// How difficult each sample of a corpus is, and the samples in that order.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/data_efficiency/sampling/integer_column.h"

namespace deft::engine {

struct DifficultyIndex {
    IntegerColumn value;  // (samples), by sample id
    IntegerColumn order;  // (samples), sample ids by (value, id)
    std::shared_ptr<const void> owner;
    bool has_floats = false;  // values are the ordered keys of floats, see value_column.h

    std::int64_t samples() const { return value.size(); }
    std::int64_t sorted_value(std::int64_t rank) const { return value[order[rank]]; }
    // The same as it was measured, as text: a float with five digits.
    std::string sorted_text(std::int64_t rank) const;
};

// The integers whose order is that of the finite doubles; -0 and 0 are one.
std::int64_t ordered_key(double value);
double of_ordered_key(std::int64_t key);

DifficultyIndex index_of_values(const std::vector<std::int64_t>& values);

// FOLDER/NAME.value.npy and FOLDER/NAME.order.npy, one-dimensional arrays of integers as narrow as they fit,
// memory-mapped when read. Errors: io; for arrays of different lengths or an order that is none.
void write_difficulty_index(const DifficultyIndex& index, const std::filesystem::path& folder, const std::string& name);
DifficultyIndex read_difficulty_index(const std::filesystem::path& folder, const std::string& name);

std::filesystem::path difficulty_value_file(const std::filesystem::path& folder, const std::string& name);
std::filesystem::path difficulty_order_file(const std::filesystem::path& folder, const std::string& name);

// Orders the samples by (value, id) and writes FOLDER/NAME.order.npy alone, within memory_bytes. Errors: io.
void write_difficulty_order(const IntegerColumn& value, const std::filesystem::path& folder, const std::string& name,
                            int threads, std::int64_t memory_bytes);

}  // namespace deft::engine
