#pragma once
// One pre-norm transformer block (Radford et al. 2019, section 2.3): x + attention(LN(x)), then + MLP(LN(.)).
// With kept tokens the block reads and writes only those rows of the stream; several blocks in a row may share them.

#include <cstdint>
#include <string>

#include "engine/core/ops.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

struct BlockShape {
    std::int64_t B, T;  // the largest micro-batch and sequence length
    std::int64_t C;     // width
    std::int64_t H;     // heads
    std::int64_t F;     // hidden width of the MLP
};

// The rows of the stream that a block takes: (B, K), or empty for all of them. Of a run of blocks that take the same
// rows, the first gathers them, the last puts them back, and what lies between is (B, K, C).
struct BlockRows {
    Tensor index;
    bool gathers = true, scatters = true;
};

// Weights, or with the same fields their gradients. Linear weights are (out, in): y = x W^T + b.
struct BlockTensors {
    Tensor ln1_weight, ln1_bias;    // (C)
    Tensor qkv_weight, qkv_bias;    // (3C, C), (3C)
    Tensor proj_weight, proj_bias;  // (C, C), (C)
    Tensor ln2_weight, ln2_bias;    // (C)
    Tensor fc_weight, fc_bias;      // (F, C), (F)
    Tensor fc2_weight, fc2_bias;    // (C, F), (C)
};

// What the backward pass reads; K kept tokens a sample, K == T where none is dropped.
struct BlockSaved {
    Tensor ln1, ln1_mean, ln1_rstd;  // (B, K, C), (B, K), (B, K)
    Tensor qkv;                      // (B, K, 3C)
    Tensor att, lse;                 // (B, K, C), (B, H, K)
    Tensor mid;                      // (B, K, C): input plus attention
    Tensor ln2, ln2_mean, ln2_rstd;  // (B, K, C), (B, K), (B, K)
    Tensor pre, act;                 // (B, K, F): before and after GELU
};

// Shared by all blocks: only one runs at a time.
struct BlockScratch {
    Tensor branch;    // (B, K, C): output of attention or MLP before the residual
    Tensor d_branch;  // (B, K, C)
    Tensor d_rows;    // (B, K, C): gradient of the kept rows
    Tensor d_qkv;     // (B, K, 3C)
    Tensor d_hidden;  // (B, K, F)
};

BlockSaved plan_block_saved(Arena& arena, const std::string& name, DType dtype, const BlockShape& shape);
BlockScratch plan_block_scratch(Arena& arena, DType dtype, const BlockShape& shape);

// Views of the planned buffers for this batch.
BlockSaved view(const BlockSaved& saved, const BlockShape& shape, std::int64_t B, std::int64_t K);
BlockScratch view(const BlockScratch& scratch, const BlockShape& shape, std::int64_t B, std::int64_t K);

// Attention over (B, T) where the stream holds M of those positions in one row, (1, M, C): what samples begin with
// alike, once, and no padding. Empty: the stream is (B, K, C).
struct PackedAttention {
    Tensor source;         // (1, B T): the row of the stream that stands at each position
    Tensor computed;       // (1, M): the position of each row of the stream
    Tensor qkv, out, lse;  // (B, T, 3C), (B, T, C), (B, H, T): scratch
};

// out = block(in), each the stream (B, T, C) or, inside a run, its kept rows (B, K, C). A block that scatters writes
// only the kept rows of `out`, so that the stream it gathered from may be `out`. One that gathers leaves what it
// gathered in `gathered` (B, K, C). `in`, or `gathered`, must stay unchanged until backward. saved and scratch are
// views for (B, K).
void block_forward(Exec& exec, const BlockTensors& weights, const BlockSaved& saved, const BlockScratch& scratch,
                   Tensor in, Tensor gathered, Tensor out, const BlockRows& rows, const AttentionMask& mask,
                   const PackedAttention& packed = {});

// d_stream (B, T, C) holds the gradient of the output and receives that of the input; rows not in index pass through.
// Inside a run the gradient of the kept rows goes from block to block in scratch.d_rows. input: `in` of forward, or
// `gathered` of a block that gathers.
void block_backward(Exec& exec, const BlockTensors& weights, const BlockTensors& gradients, const BlockSaved& saved,
                    const BlockScratch& scratch, Tensor d_stream, Tensor input, const BlockRows& rows,
                    const AttentionMask& mask, Accumulate);

}  // namespace deft::engine
