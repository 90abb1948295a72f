#pragma once
// Which tile of which expert's rows a block works on: the device alone knows how many rows an expert has. Included by
// .cu sources alone.

#include <cstdint>

#include "kernels/ceil_div.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

// A tile of the rows of one expert.
struct ExpertTile {
    std::int64_t e;            // or -1: there are fewer tiles than blocks
    std::int64_t first, rows;  // its slots
    std::int64_t first_row, first_col;
};

// The tile of this block, in results with `cols` columns and tiles of `edge` rows and columns.
__device__ inline ExpertTile tile_of_block(const std::int32_t* start, std::int64_t E, std::int64_t cols,
                                           std::int64_t edge) {
    const std::int64_t across = ceil_div(cols, edge);
    std::int64_t down = blockIdx.x / across;
    for (std::int64_t e = 0; e < E; ++e) {
        const std::int64_t rows = start[e + 1] - start[e], tiles = ceil_div(rows, edge);
        if (down < tiles) return {e, start[e], rows, down * edge, blockIdx.x % across * edge};
        down -= tiles;
    }
    return {-1, 0, 0, 0, 0};
}

// As many blocks as there may be tiles: each expert with rows may have one that is not full.
inline std::int64_t most_tiles(std::int64_t slots, std::int64_t E, std::int64_t cols, std::int64_t edge) {
    return (slots / edge + (E < slots ? E : slots)) * ceil_div(cols, edge);
}

}  // namespace deft::kernels::cuda
