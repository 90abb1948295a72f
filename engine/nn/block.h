#pragma once
// One pre-norm transformer block (Radford et al. 2019, section 2.3): x + attention(LN(x)), then + MLP(LN(.)).
// With kept tokens (random-LTD) the block reads and writes only those rows of the stream.

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
    bool causal;
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

// in: (B, T, C), kept unchanged until backward. Without index: out (B, T, C) = block(in).
// With index (B, K): `in` is the running stream, updated in place at the kept rows; `kept` (B, K, C) receives their old
// values and is what backward takes as input. saved and scratch are views for (B, K).
void block_forward(Exec& exec, const BlockTensors& weights, const BlockSaved& saved, const BlockScratch& scratch,
                   Tensor in, Tensor out, Tensor kept, Tensor index, bool causal);

// d_stream (B, T, C) holds the gradient of the output and receives that of the input; rows not in index pass through.
// input: `in` of forward, or `kept` where there was an index.
void block_backward(Exec& exec, const BlockTensors& weights, const BlockTensors& gradients, const BlockSaved& saved,
                    const BlockScratch& scratch, Tensor d_stream, Tensor input, Tensor index, bool causal, Accumulate);

}  // namespace deft::engine
