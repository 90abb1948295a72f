#pragma once
// One pre-norm transformer block (Radford et al. 2019, section 2.3): x + attention(LN(x)), then + MLP(LN(.)).
// With kept tokens the block takes only those rows of the stream; several blocks in a row may share them.

#include <cstdint>

#include "engine/core/ops.h"
#include "engine/nn/attention_layer.h"
#include "engine/nn/feed_forward.h"
#include "engine/nn/norm.h"
#include "engine/nn/planner.h"
#include "engine/nn/rows.h"

namespace deft::engine {

struct BlockConfig {
    std::int64_t width = 64;
    std::int64_t heads = 2;
    std::int64_t hidden = 256;  // of the feed-forward part
    bool causal = true;         // a position attends to itself and those before it; else to all
};

class Block {
 public:
    Block(const Planner&, const BlockConfig&);

    // in: the stream, or inside a run of blocks with the same kept tokens those rows. input (B, K, C) receives what the
    // block normalises first, unless that is in.rows itself, and must stay unchanged until backward. Returns the rows
    // after the block, not yet added up.
    Residual forward(Exec&, const Residual& in, Tensor input, const BlockRows& kept, const StreamRows&) const;

    // What the backward pass reads, once more from the input.
    void recompute(Exec&, Tensor input, const StreamRows&) const;

    // d_stream (B, T, C) holds the gradient of the output and receives that of the input; rows that are not kept pass
    // through. Inside a run the gradient of the kept rows goes from block to block in a buffer that they share.
    void backward(Exec&, Tensor d_stream, Tensor input, const BlockRows& kept, const StreamRows&, Accumulate) const;

    TrainingFlops flops() const {
        return norm1_.flops() + attention_.flops() + norm2_.flops() + feed_forward_.flops();
    }

 private:
    // Up to the feed-forward part, whose input (B, K, C) it returns. x: norm1_ of input.
    Tensor forward_attention(Exec&, Tensor input, Tensor x, const StreamRows&) const;

    bool recomputes_outputs_;  // of norms and the activation, in the backward pass
    Norm norm1_;
    AttentionLayer attention_;
    Norm norm2_;
    FeedForward feed_forward_;
    Tensor mid_;                         // (B, K, C): input plus attention
    Tensor branch_, d_branch_, d_rows_;  // (B, K, C), scratch; d_rows: the gradient of the kept rows
};

}  // namespace deft::engine
