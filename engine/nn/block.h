#pragma once
// One transformer block: attention, then a feed-forward part, each added to the stream.
// Pre-norm (Radford et al. 2019, section 2.3):  x + attention(norm(x)), then + MLP(norm(.)).
// Post-norm (Vaswani et al. 2017, section 3.1): norm(x + attention(x)), then norm(. + MLP(.)).
// With kept tokens the block takes only those rows of the stream; several blocks in a row may share them.

#include <cstdint>
#include <optional>

#include "engine/core/ops.h"
#include "engine/nn/attention_layer.h"
#include "engine/nn/experts.h"
#include "engine/nn/feed_forward.h"
#include "engine/nn/norm.h"
#include "engine/nn/planner.h"
#include "engine/nn/rows.h"

namespace deft::engine {

enum class NormPlacement { pre, post };

struct BlockConfig {
    NormPlacement placement = NormPlacement::pre;
    NormSpec norm;
    AttentionConfig attention;
    FeedForwardConfig feed_forward;
    double dropout = 0;                         // of what each half adds to the stream
    std::optional<ExpertsConfig> experts = {};  // in place of one feed-forward part several, each as feed_forward says

    bool operator==(const BlockConfig&) const = default;
};

class Block {
 public:
    // layer: its number in the model.
    Block(const Planner&, std::int64_t width, const BlockConfig&, std::int64_t layer);

    // Shapes are of samples in rows of their own; of packed ones (1, M, C).
    // in: the stream, or inside a run of blocks with the same kept tokens those rows. input (B, K, C) receives what the
    // block takes, unless that is in.rows itself, and must stay unchanged until backward. Returns the rows after the
    // block: of a pre-norm block not yet added up; of a post-norm block in output (B, K, C), or where that is empty, in
    // a buffer that holds them for a moment.
    Residual forward(Exec&, const Residual& in, Tensor input, Tensor output, const BlockRows& kept,
                     const StreamRows&) const;

    // Recomputes from the input the tensors that the backward pass reads.
    void recompute(Exec&, Tensor input, const BlockRows& kept, const StreamRows&) const;

    // d_stream (B, T, C) holds the gradient of the output and receives that of the input; rows that are not kept pass
    // through. Inside a run the gradient of the kept rows goes from block to block in a buffer that they share.
    void backward(Exec&, Tensor d_stream, Tensor input, const BlockRows& kept, const StreamRows&, Accumulate) const;

    TrainingFlops flops() const;
    // Null where the feed-forward part is dense.
    const Experts* experts() const { return experts_ ? &*experts_ : nullptr; }

 private:
    // The output that a half adds to the stream, in branch_ (B, K, C), with dropout.
    Tensor attend(Exec&, Tensor x, const BlockRows& kept, const StreamRows&) const;
    Tensor feed_forward(Exec&, Tensor x, const BlockRows& kept, const StreamRows&) const;
    // The dense part's or the experts' tensors that backward reads, without their output; x (B, K, C) is their input.
    void feed_forward_hidden(Exec&, Tensor x, const BlockRows& kept, const StreamRows&) const;
    void recompute_activation(Exec&, Tensor x) const;
    // dx and dout as of FeedForward.
    void feed_forward_backward(Exec&, Tensor dx, Tensor dout, Tensor x, const BlockRows& kept, const StreamRows&,
                               Accumulate) const;
    RoutingRows routing(const Tensor& x, const BlockRows& kept, const StreamRows&) const;
    enum class Half { attention, feed_forward };
    // y = x with the half's dropout. Returns y; where nothing is dropped, x, and y stays as it is.
    Tensor drop(Exec&, Tensor y, Tensor x, Half, const BlockRows& kept, const StreamRows&) const;

    void forward_post(Exec&, Tensor output, Tensor input, const BlockRows& kept, const StreamRows&) const;
    // d_rows (B, K, C) holds the gradient of the output; that of the input is written to the rows `index` (B, K) of
    // d_input (B, T, C), or to all of it, (B, K, C), which d_rows may be.
    void backward_pre(Exec&, Tensor d_input, Tensor index, Tensor d_rows, Tensor input, const BlockRows& kept,
                      const StreamRows&, Accumulate) const;
    void backward_post(Exec&, Tensor d_input, Tensor index, Tensor d_rows, Tensor input, const BlockRows& kept,
                       const StreamRows&, Accumulate) const;

    NormPlacement placement_;
    double dropout_;
    std::int64_t layer_;
    bool recomputes_outputs_;  // of norms and the activation, in the backward pass
    Norm norm1_;
    AttentionLayer attention_;
    Norm norm2_;
    std::optional<FeedForward> feed_forward_;  // or
    std::optional<Experts> experts_;
    Tensor mid_;                         // (B, K, C): input plus attention
    Tensor end_;                         // (B, K, C), of post-norm: what its last norm takes
    Tensor branch_, d_branch_, d_rows_;  // (B, K, C), scratch; d_rows: the gradient of the kept rows
};

}  // namespace deft::engine
