#pragma once
// Rows that are independent of each other, in blocks of them.

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/wide_vectors.h"

namespace deft::kernels::cpu {

// body(row) for all rows, on the widest vectors; row_block: rows worth a thread's visit.
template <class Body>
void parallel_row_blocks(int threads, std::int64_t rows, std::int64_t row_block, const Body& body) {
    parallel_items(threads, ceil_div(rows, row_block), [&](std::int64_t block, int) {
        const std::int64_t end = std::min(rows, (block + 1) * row_block);
        widest_vectors([&] {
            for (std::int64_t row = block * row_block; row < end; ++row) body(row);
        });
    });
}

}  // namespace deft::kernels::cpu
