#pragma once
// Difficulties that another tool measured: one value a sample, in the order of the samples.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/data_efficiency/sampling/difficulty_index.h"

namespace deft::engine {

// A .npy file of integers or floats, or a CSV file of one column without a header. Integers are the difficulties. Of
// floats, only the order is kept, exactly: each becomes ordered_key(value), and a curriculum over them goes by
// percentile. A CSV column is of floats where any of its lines is not an integer.
// Errors: config, for another number of values than samples, for NaN, infinity and text, naming the line or element;
// io, for a file that cannot be read or is no .npy file.
DifficultyIndex difficulty_of_column(const std::filesystem::path& file, std::int64_t samples);

// The values of such a file; see above.
struct ValueColumn {
    std::vector<std::int64_t> value;  // (samples), of floats their ordered_key()
    bool floats = false;
};
ValueColumn read_value_column(const std::filesystem::path& file);

}  // namespace deft::engine
