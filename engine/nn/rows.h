#pragma once
// Which rows of its samples a pass over the model computes, and which of them each block takes.

#include <cstdint>
#include <span>

#include "engine/core/ops.h"
#include "engine/nn/key_value_cache.h"

namespace deft::engine {

// The rows of the stream that a block takes: (B, K), or (1, M) of packed samples, or empty for all of them. Of a run of
// blocks that take the same rows, the first gathers them, the last puts them back, and what lies between is (B, K, C)
// or (1, M, C).
struct BlockRows {
    Tensor index;
    bool gathers = true, scatters = true;
    Tensor position = {};      // (1, M) i32 of each row in its sample, where samples are packed
    SampleStarts packed = {};  // likewise
};

// Which tokens each layer takes in one micro-batch; the others pass it by unchanged. Layers in a row that take the same
// set share one gather and one scatter.
struct KeptTokens {
    static constexpr std::int32_t kEveryToken = -1;

    // (sets, B, K) i32 ascending, where there is padding with the real tokens first; of packed samples (sets, 1, M),
    // the rows of the stream; empty: none dropped
    Tensor index;
    std::span<const std::int32_t> set_of_layer;  // (layers), or kEveryToken
    Tensor position = {};                        // (sets, 1, M) i32, of packed samples: those rows in their samples
    SampleStarts packed = {};                    // where the kept rows of each packed sample start

    std::int32_t set_of(std::int64_t layer) const {
        const bool named = index && layer >= 0 && layer < static_cast<std::int64_t>(set_of_layer.size());
        return named ? set_of_layer[static_cast<std::size_t>(layer)] : kEveryToken;
    }
    // The rows of the stream that block `layer` computes.
    BlockRows rows(std::int64_t layer) const {
        const std::int32_t set = set_of(layer);
        if (set == kEveryToken) return {};
        return {index.slice(set), set_of(layer - 1) != set, set_of(layer + 1) != set,
                position ? position.slice(set) : Tensor{}, packed};
    }
};

// The stream is one row of the M tokens of all samples, (1, M, C), without padding. Each sample has rows of its own,
// one after the other; or, of samples that are scored, a common beginning is stored once.
struct PackedRows {
    Tensor position;       // (1, M) i32: of each row within its sample; empty: nothing is packed
    SampleStarts samples;  // where samples have rows of their own
    Tensor source;         // (1, B T) i32, where they share rows: the row of each position
    Tensor computed;       // (1, M) i32, likewise: the position of each row among all B T
};

// Keys of dropout's draws in a training pass, besides the number of the layer.
struct DropoutKeys {
    std::uint64_t seed = 0;
    StepValue<std::uint64_t> step = 0;
    Tensor draw;  // (B) i64: the number of each sample's draw; empty: nothing is dropped, as when a model is scored
};

// The rows of one pass.
struct StreamRows {
    std::int64_t B = 0, T = 0;  // samples, tokens of each
    Tensor length;              // (B) i32 real tokens of each sample; empty: all are, or samples are packed
    KeptTokens kept;
    PackedRows packed;
    DropoutKeys random;
    // For a pass that continues from a cache: its (1, M, C) rows are the first M tokens of a text, which all samples
    // of an empty cache share, or one more token of each of M samples.
    const KeyValueCache* cache = nullptr;
    // The factor of experts' auxiliary losses, besides their weights, before their gradient is taken.
    double auxiliary_scale = 1;

    // The stream of those rows, (B, T, C) or (1, M, C).
    Tensor of(const Tensor& stream) const {
        const std::int64_t C = stream.columns();
        return packed.position ? stream.view({1, packed.position.dim(1), C}) : stream.view({B, T, C});
    }
};

// Dropout of what enters the first block, in place, in training passes alone; its number among a step's dropouts is 0.
// Its backward is the same of the gradient. x (B, T, C) or (1, M, C); probability of a value to be dropped.
inline void drop_input(Exec& exec, Tensor x, const StreamRows& rows, double probability) {
    if (probability == 0 || !rows.random.draw) return;
    dropout(exec, x, x, {},
            {rows.random.seed, rows.random.step, 0, rows.random.draw, probability, rows.packed.samples});
}

// The position of each row that a block takes in its sample, (B, K) or (1, M); empty: 0 to K - 1.
inline Tensor position_of(const BlockRows& kept, const StreamRows& rows) {
    if (!kept.index) return rows.packed.position;
    return kept.position ? kept.position : kept.index;
}

// Where the rows of each packed sample start that a block takes.
inline const SampleStarts& starts_of(const BlockRows& kept, const StreamRows& rows) {
    return kept.index ? kept.packed : rows.packed.samples;
}

}  // namespace deft::engine
