#pragma once
// Typed views into the scratch buffer of an Exec.

#include <algorithm>
#include <string>

#include "base/error.h"
#include "kernels/bf16.h"
#include "kernels/ceil_div.h"
#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// Bytes of `count` items, rounded up so that what follows is aligned as an allocation is.
template <class Item>
std::size_t scratch_bytes(std::int64_t count) {
    return (static_cast<std::size_t>(count) * sizeof(Item) + 255) / 256 * 256;
}

// Errors: config, naming the kernel, when the workspace holds fewer bytes than it needs.
inline void require_workspace(const Exec& exec, std::size_t bytes, const char* kernel) {
    if (exec.workspace.size() >= bytes) return;
    throw Error(ErrorKind::config, std::string(kernel) + " needs a device workspace of " + std::to_string(bytes) +
                                       " bytes, but was given " + std::to_string(exec.workspace.size()));
}

template <class Item>
Item* scratch(const Exec& exec, std::size_t offset_bytes) {
    return reinterpret_cast<Item*>(exec.workspace.data() + offset_bytes);
}

// The chunks that kernels work in, and the bytes of Exec::workspace that they need for them: X_workspace(...) for
// kernel X. From shapes alone, so that a build without CUDA plans for a GPU as well. What is enough for some rows is
// enough for fewer: a model plans for its longest step.

inline constexpr std::int64_t kLeastColumnRows = 64, kMostColumnChunks = 128;

// Rows that share one partial sum a column.
inline std::int64_t column_chunk_rows(std::int64_t rows) {
    return std::max(kLeastColumnRows, ceil_div(rows, kMostColumnChunks));
}

// Fewer rows may have more chunks: 8193 have 127, 8192 have 128. No row has one, of zeros.
inline std::size_t column_sums_workspace(std::int64_t rows, std::int64_t cols) {
    return scratch_bytes<float>(std::clamp<std::int64_t>(ceil_div(rows, kLeastColumnRows), 1, kMostColumnChunks) *
                                cols);
}

// Rows of one block of norm_backward: enough blocks for two on each multiprocessor, in whole turns of its warps.
inline constexpr std::int64_t kLeastNormRows = 32, kMostNormChunks = 256, kNormTurn = 8;
inline std::int64_t norm_chunk_rows(std::int64_t rows) {
    return std::max(kLeastNormRows, ceil_div(ceil_div(rows, kMostNormChunks), kNormTurn) * kNormTurn);
}
inline std::size_t norm_backward_workspace(std::int64_t rows, std::int64_t C) {
    constexpr std::int64_t kSums = 2;  // of weight and bias
    return scratch_bytes<float>(std::clamp<std::int64_t>(ceil_div(rows, kLeastNormRows), 1, kMostNormChunks) * kSums *
                                C);
}

// Rows of a product that waits, in float, for the derivative by which it is multiplied before it is added.
inline std::int64_t product_chunk_rows(std::int64_t rows, std::int64_t in) {
    constexpr std::int64_t kMostValues = 1 << 22, kLeastRows = 256;
    return std::min(rows, std::max(kLeastRows, kMostValues / std::max<std::int64_t>(1, in)));
}
inline std::size_t linear_backward_input_workspace(std::int64_t rows, std::int64_t in, Activation act,
                                                   Accumulate accumulate) {
    if (act == Activation::none || accumulate == Accumulate::no) return 0;
    return scratch_bytes<float>(product_chunk_rows(rows, in) * in);
}

inline std::size_t linear_backward_weight_workspace(std::int64_t rows, std::int64_t, std::int64_t out) {
    return column_sums_workspace(rows, out);
}

// Ids sorted by sort_ids: two copies of ids and positions, and a count of each digit for each tile.
inline constexpr std::int64_t kLeastTileIds = 2048, kMostIdTiles = 64, kTileGrain = 256;
inline std::int64_t sorted_tile_ids(std::int64_t n) {
    return std::max(kLeastTileIds, ceil_div(ceil_div(n, kMostIdTiles), kTileGrain) * kTileGrain);
}
inline std::size_t sorted_ids_bytes(std::int64_t n) {
    constexpr std::int64_t kDigits = 256;
    return 4 * scratch_bytes<std::int32_t>(n) +
           scratch_bytes<std::int32_t>(std::min(kMostIdTiles, ceil_div(n, kLeastTileIds)) * kDigits);
}

// Sorted positions that share partial sums of the rows of their ids.
inline constexpr std::int64_t kRunChunk = 64;
inline std::size_t embedding_backward_workspace(std::int64_t B, std::int64_t T, std::int64_t C) {
    return sorted_ids_bytes(B * T) + scratch_bytes<float>(ceil_div(B * T, kRunChunk) * 2 * C);
}

// Rows of statistics that tiles of queries read whole.
inline std::int64_t padded_queries(std::int64_t T) {
    constexpr std::int64_t kTile = 128;
    return ceil_div(T, kTile) * kTile;
}
inline std::size_t attention_backward_workspace(std::int64_t B, std::int64_t T, std::int64_t H) {
    return scratch_bytes<float>(2 * B * H * padded_queries(T));
}

// A layer of experts: rows that share partial sums of the gate's losses, of which each expert has two, and three are of
// all.
inline constexpr std::int64_t kGateLossRows = 128;
inline std::size_t gate_losses_workspace(std::int64_t N, std::int64_t E) {
    return scratch_bytes<double>(std::max<std::int64_t>(1, ceil_div(N, kGateLossRows)) * (2 * E + 3));
}

// Workspace for the gate's bias.
inline std::size_t gate_backward_weight_workspace(std::int64_t N, std::int64_t, std::int64_t E) {
    return column_sums_workspace(N, E);
}

// Rows of logits and of the head's weight are as many as fill tiles of products, whatever V is.
inline std::int64_t padded_vocabulary(std::int64_t V) {
    constexpr std::int64_t kTile = 128;
    return ceil_div(V, kTile) * kTile;
}

// Rows whose logits exist at once. kWave rows of a gradient (rows, 768) fill each multiprocessor of an H100 with one
// tile of 128 x 256; kMostBytes bounds their logits, of bytes_of_logit each.
inline std::int64_t head_chunk_rows(std::int64_t rows, std::int64_t V, std::size_t bytes_of_logit) {
    constexpr std::int64_t kWave = 5632, kMostBytes = 576 << 20, kGrain = 128;
    const std::int64_t fit = kMostBytes / (padded_vocabulary(V) * static_cast<std::int64_t>(bytes_of_logit));
    const std::int64_t most = fit >= kGrain ? fit / kGrain * kGrain : std::max<std::int64_t>(1, fit);
    return std::min({rows, kWave, most});
}

// Where head_loss and head_loss_train keep what of a chunk, whatever Real and however many rows have a target: bytes
// from the start of the workspace.
struct HeadLossPlaces {
    std::size_t copied, list, end;  // after the logits: copied rows of x; the list of rows with a target

    HeadLossPlaces(std::int64_t rows, std::int64_t C, std::int64_t V) {
        const std::int64_t of_floats = head_chunk_rows(rows, V, sizeof(float));
        const std::int64_t of_halves = head_chunk_rows(rows, V, sizeof(bf16)), leading = padded_vocabulary(V);
        copied = std::max(scratch_bytes<float>(of_floats * leading), scratch_bytes<bf16>(of_halves * leading));
        list = copied + std::max(scratch_bytes<float>(of_floats * C), scratch_bytes<bf16>(of_halves * C));
        end = list + scratch_bytes<std::int32_t>(rows);
    }
};
inline std::size_t head_loss_workspace(std::int64_t rows, std::int64_t C, std::int64_t V) {
    return HeadLossPlaces(rows, C, V).end;
}

inline constexpr std::int64_t kSquaresChunk = 1 << 15;  // elements a block; part of the summation order
inline std::size_t sum_of_squares_workspace(std::int64_t n) {
    return scratch_bytes<double>(std::max<std::int64_t>(1, ceil_div(n, kSquaresChunk)));
}

}  // namespace deft::kernels::cuda
