#pragma once
// The blocks of a model and the stream between them.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/nn/block.h"
#include "engine/nn/planner.h"
#include "engine/nn/rows.h"

namespace deft::engine {

// The prefix of the names of a block's weights: "h.3.".
std::string block_prefix(std::int64_t block);

// Told of a block once the gradients of its weights are what they will be.
using BlockDone = std::function<void(std::int64_t block)>;

class BlockStack {
 public:
    // For inference the blocks share the memory of one.
    BlockStack(const Planner&, std::int64_t width, const std::vector<BlockConfig>&, Recompute = Recompute::none);

    // Where the first block's input (B, T, C) is to be written before a forward pass.
    Tensor input(const StreamRows& rows) const { return rows.of(slots_.front()); }
    // All rows after the last block; what adds them up leaves the sum in output(), where post-norm blocks leave their
    // rows themselves.
    Residual forward(Exec&, const StreamRows&) const;
    Tensor output(const StreamRows& rows) const { return stream_before(layers(), rows); }

    // d_stream (B, T, C) holds the gradient of the output and receives that of the input.
    void backward(Exec&, Tensor d_stream, const StreamRows&, Accumulate, const BlockDone& = {}) const;

    std::int64_t layers() const { return static_cast<std::int64_t>(blocks_.size()); }
    const std::vector<Block>& blocks() const { return blocks_; }

 private:
    // A block that takes every row leaves its input, added up, in the slot of its number, unless the blocks before it
    // took kept tokens: they update the stream in place, in the slot of the first of them, and each keeps its own rows
    // in the slot after its number.
    Tensor stream_before(std::int64_t layer, const StreamRows&) const;
    Tensor input_of(std::int64_t layer, const StreamRows&) const;
    // Where a post-norm block leaves its rows; empty where they go to the stream's kept rows.
    Tensor output_of(std::int64_t layer, const StreamRows&) const;

    Recompute recompute_;
    std::vector<Block> blocks_;
    std::vector<Tensor> slots_;  // layers + 1 of (B, T, C); for inference two, used in turn
};

}  // namespace deft::engine
