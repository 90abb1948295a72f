#pragma once
// Multi-head self-attention with its projections (Vaswani et al. 2017, section 3.2.2); with fewer heads of keys and
// values than of queries it is grouped-query attention (Ainslie et al. 2023, section 2.2).

#include <cstdint>
#include <optional>

#include "engine/core/ops.h"
#include "engine/nn/linear.h"
#include "engine/nn/planner.h"
#include "engine/nn/rows.h"

namespace deft::engine {

struct AttentionConfig {
    std::int64_t heads = 2;                 // of queries; divides the width
    std::int64_t kv_heads = 2;              // of keys and values; divides heads
    bool causal = true;                     // a position attends to itself and those before it; else to all
    bool bias = true;                       // of the projections
    std::optional<double> rope_theta = {};  // positions turn queries and keys (rotary embedding), with this base
    double dropout = 0;                     // of the probabilities

    std::int64_t head_size(std::int64_t width) const { return width / heads; }
    bool operator==(const AttentionConfig&) const = default;
};

class AttentionLayer {
 public:
    // layer: its number in the model, by which its dropout is drawn.
    AttentionLayer(const Planner&, std::int64_t width, const AttentionConfig&, std::int64_t layer);

    // out and x (B, K, C), or (1, M, C) of packed rows. Keys and values of rows that go on from a cache enter it.
    void forward(Exec&, Tensor out, Tensor x, const BlockRows& kept, const StreamRows&) const;
    // dx, dout and x likewise; dx is not dout, and may be scratch "d_branch".
    void backward(Exec&, Tensor dx, Tensor dout, Tensor x, const BlockRows& kept, const StreamRows&, Accumulate) const;

    TrainingFlops flops() const;

 private:
    void attend(Exec&, Tensor out, Tensor qkv, const BlockRows& kept, const StreamRows&) const;
    void attend_shared(Exec&, Tensor out, Tensor qkv, const StreamRows&) const;
    void attend_cached(Exec&, Tensor out, Tensor qkv, const BlockRows& kept, const StreamRows&) const;
    void turn(Exec&, Tensor qkv, Tensor position, RopeTurn) const;
    AttentionMask mask(const BlockRows& kept, const StreamRows&) const;
    AttentionTensors heads_of(const Tensor& qkv) const { return fused_heads(qkv, config_.heads, config_.kv_heads); }
    Tensor lse(const Tensor& out, const AttentionMask&) const;

    std::int64_t width_;
    AttentionConfig config_;
    std::int64_t layer_;
    std::int64_t qkv_width_;  // of a row's queries, keys and values: (heads + 2 kv_heads) head_size
    Linear qkv_linear_, output_;
    Tensor qkv_, attended_, lse_;  // (B, K, qkv_width), (B, K, C), (B, H, K)
    Tensor d_qkv_;                 // (B, K, qkv_width), scratch; with shared rows, the row of each position
    Tensor d_attended_;            // (B, K, C), scratch "d_branch", likewise
};

}  // namespace deft::engine
