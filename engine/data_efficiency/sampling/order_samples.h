#pragma once
// Samples in the order of their difficulty, in bounded memory.

#include <cstdint>
#include <functional>
#include <span>

#include "engine/data_efficiency/sampling/integer_column.h"

namespace deft::engine {

// Writes all sample ids by (value, id): calls write(rank, ids) with the ids of ranks `rank` and following, each rank
// once, in any order, from several threads at once.
//
// Values are divided into ranges of consecutive values, by a histogram, so that the samples of each fit the memory;
// each range is then collected from the column, sorted and written. So the column is read once more for every memory
// full, and nothing is spilled; the order does not depend on threads or memory. memory_bytes bounds what is allocated,
// to which a megabyte a thread is added; sixteen bytes a sample are enough to read the column a few times only.
void order_samples(const IntegerColumn& value, int threads, std::int64_t memory_bytes,
                   const std::function<void(std::int64_t rank, std::span<const std::uint64_t> ids)>& write);

}  // namespace deft::engine
