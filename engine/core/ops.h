#pragma once
// Every operation of the models, the size of a fusion: shapes are checked here, then one kernel runs. Semantics:
// kernels/ops.h. An empty Tensor means "not there".

#include <cstdint>
#include <span>

#include "engine/core/exec.h"
#include "engine/core/tensor.h"
#include "kernels/types.h"

namespace deft::engine {

using kernels::Accumulate;
using kernels::Activation;
using kernels::AdamW;
using kernels::NormKind;
using kernels::NormSpec;
using kernels::Pooling;
using kernels::RopeTurn;
using kernels::Sgd;
using kernels::StepValue;

// Samples that lie one after the other in tensors (1, M, ...), without padding.
struct SampleStarts {
    Tensor start;  // (B + 1) i32: sample b has the rows from start[b] to before start[b + 1]; empty: none are
                   // packed, tensors are (B, T, ...)
    std::int64_t longest = 0;  // rows of a sample at most

    explicit operator bool() const { return bool(start); }
    std::int64_t samples() const { return start.dim(0) - 1; }
};

// One of the tables whose rows an embedding sums, or with `weight` its gradient.
struct EmbeddingSource {
    Tensor weight;                           // (V, C)
    Tensor id;                               // (B, T) i32; empty: position t takes row t
    Accumulate accumulate = Accumulate::no;  // of a gradient alone
};
// out (B, T, C), from one to kernels::kMostEmbeddingTables tables
void embedding_forward(Exec&, Tensor out, std::span<const EmbeddingSource> tables);
void embedding_backward(Exec&, std::span<const EmbeddingSource> gradients, Tensor dout);

// y (B, K, C), gathered (B, K, C) with index, mean and rstd (B, K), stream (B, T, C), index (B, K) or empty. Here and
// below: RMS normalisation has no mean, bias and dbias.
void norm_forward(Exec&, Tensor y, Tensor gathered, Tensor mean, Tensor rstd, Tensor stream, Tensor index,
                  Tensor weight, Tensor bias, const NormSpec& = {});
// y, sum, a, delta (B, K, C)
void residual_norm_forward(Exec&, Tensor y, Tensor sum, Tensor mean, Tensor rstd, Tensor a, Tensor delta, Tensor weight,
                           Tensor bias, const NormSpec& = {});
// out (B, T, C) at index, a and delta (B, K, C), delta empty for a alone
void residual_forward(Exec&, Tensor out, Tensor index, Tensor a, Tensor delta);
// dx (B, T, C) at index, dy, dresidual and x (B, K, C)
void norm_backward(Exec&, Tensor dx, Tensor index, Tensor dweight, Tensor dbias, Tensor dy, Tensor dresidual, Tensor x,
                   Tensor mean, Tensor rstd, Tensor weight, Accumulate, const NormSpec& = {});
// out (B, K, C), stream (B, T, C), index (B, K)
void gather_rows(Exec&, Tensor out, Tensor stream, Tensor index);

// y (..., out), pre (..., out) or empty, x (..., in), weight (out, in), bias (out) or empty
void linear_forward(Exec&, Tensor y, Tensor pre, Tensor x, Tensor weight, Tensor bias, Activation);
// dx = or += (dy weight) act'(pre). Both, an activation and adding, need a workspace: linear_backward_input_workspace.
void linear_backward_input(Exec&, Tensor dx, Tensor dy, Tensor weight, Tensor pre, Activation,
                           Accumulate = Accumulate::no);
void linear_backward_weight(Exec&, Tensor dweight, Tensor dbias, Tensor dy, Tensor x, Accumulate);

// y (..., C), pre (..., C), of SwiGLU (..., 2C) = [gate | up]. Fused into the linear ops above are those without a
// gate.
void activation_forward(Exec&, Tensor y, Tensor pre, Activation);
void activation_backward(Exec&, Tensor dpre, Tensor dy, Tensor pre, Activation);

// y = residual + dropout of x. y, x, residual (B, ...), or of packed samples (1, M, ...); residual empty or in the
// shape of y, which may be either; the draws' numbers (B) i64. Its own backward op: dx of dy, without residual.
struct Dropout {
    std::uint64_t seed = 0;
    StepValue<std::uint64_t> step = 0;
    std::int64_t layer = 0;  // which dropout of the model: no two have the same number
    Tensor draw;
    double p = 0;  // of being dropped, in [0, 1)
    SampleStarts packed = {};
};
void dropout(Exec&, Tensor y, Tensor x, Tensor residual, const Dropout&);

// y (B, K, ...) and x of one shape, y may be x: in each row the heads (heads, d) from value `first` on are turned by
// their position; what is beside them is left alone.
struct Rope {
    std::int64_t first, heads, d;  // d is even
    double theta = 10000;
    Tensor position;  // (B, K) i32, or empty: 0 to K - 1
};
void rope(Exec&, Tensor y, Tensor x, const Rope&, RopeTurn);

// y (B, C), x (B, K, C)
void pool_forward(Exec&, Tensor y, Tensor x, Pooling);
void pool_backward(Exec&, Tensor dx, Tensor dy, Pooling, Accumulate);
// out (B, H/P W/P, P P channels), images (B, H, W, channels) f32 or u8; every value times scale, plus shift
void patchify(Exec&, Tensor out, Tensor images, std::int64_t P, double scale, double shift);

// out (B, 1 + K, C), token (1, C), x (B, K, C), position (1 + K, C) or empty
void class_token_forward(Exec&, Tensor out, Tensor token, Tensor x, Tensor position);
// dtoken (1, C), dx (B, K, C), dposition (1 + K, C) or empty, dout (B, 1 + K, C); of the weights' gradients accumulate
void class_token_backward(Exec&, Tensor dtoken, Tensor dx, Tensor dposition, Tensor dout, Accumulate);

// cache (samples, T, C) of keys or values: each sample's rows from its position on = the C columns of x from `column`
// on. x (B, K, columns): B = samples, or one sample that all share. position (samples) i32, each at most T - K; empty:
// 0.
void cache_rows(Exec&, Tensor cache, Tensor position, Tensor x, std::int64_t column);

// Heads of d columns each, from column `first` on, in a tensor (B, T, columns).
struct HeadColumns {
    Tensor tensor;
    std::int64_t first = 0;
};
// q with T = Tq, k and v with T = Tk; or their gradients.
struct AttentionTensors {
    HeadColumns q, k, v;
    std::int64_t heads = 0, kv_heads = 0;
};
// qkv (B, T, (heads + 2 kv_heads) d)
AttentionTensors fused_heads(Tensor qkv, std::int64_t heads, std::int64_t kv_heads);

// Which positions a position attends to, and which probabilities are dropped: see kernels/attention.h.
struct AttentionMask {
    bool causal = true;
    Tensor length = {};  // (B) i32 real tokens, what is above T counting as T; empty: no padding
    double dropout = 0;
    std::uint64_t seed = 0;  // this and the next: of dropout
    StepValue<std::uint64_t> step = 0;
    std::uint32_t layer = 0;
    Tensor draw = {};  // (B) i64
    SampleStarts packed = {};
};
// out (B, Tq, heads d), lse (B, heads, Tq); of packed samples out and the others (1, M, ...), lse (B, heads, longest)
void attention_forward(Exec&, Tensor out, Tensor lse, const AttentionTensors& in, const AttentionMask&);
void attention_backward(Exec&, const AttentionTensors& gradients, Tensor dout, Tensor out, const AttentionTensors& in,
                        Tensor lse, const AttentionMask&);

// loss and target (B, T), dx and x (B, T, C), weight and dweight (V, C), bias and dbias (V) or empty; target_rows: how
// many targets are not kernels::kIgnoreTarget; weight_rows: of weight and dweight with rows of zeros, 0 where there are
// none
void head_loss_train(Exec&, Tensor loss, Tensor dx, Tensor dweight, Tensor dbias, Tensor x, Tensor weight, Tensor bias,
                     Tensor target, std::int64_t target_rows, StepValue<double> scale, Accumulate,
                     std::int64_t weight_rows = 0);
// greedy (B, T) or empty
void head_loss(Exec&, Tensor loss, Tensor greedy, Tensor x, Tensor weight, Tensor bias, Tensor target,
               std::int64_t target_rows, std::int64_t weight_rows = 0);

// loss, value and target (B), the last f32; x and dx (B, C), weight and dweight (1, C), bias and dbias (1)
void value_loss_train(Exec&, Tensor loss, Tensor value, Tensor dx, Tensor dweight, Tensor dbias, Tensor x,
                      Tensor weight, Tensor bias, Tensor target, StepValue<double> scale, Accumulate);
void value_loss(Exec&, Tensor loss, Tensor value, Tensor x, Tensor weight, Tensor bias, Tensor target);

// index (layers, B, K), layer_id (layers) i32, draw (B) i64, length (B) i32 or empty; keys do not depend on dtype,
// so neither does the kernel
void select_random_tokens(Exec&, Tensor index, std::uint64_t seed, std::int64_t step, Tensor layer_id, Tensor draw,
                          std::int64_t T, std::int64_t keep_first, Tensor length);
// index (1, B, K), importance (V) f32, token (B, T), or (1, M) of packed samples; length (B) i32 or empty
void select_important_tokens(Exec&, Tensor index, Tensor importance, Tensor token, std::int64_t keep_first,
                             Tensor length, const SampleStarts& packed = {});
// index and position (layers, 1, M), kept (layers, B, K): packed samples keep at most K tokens each, as `of_kept` says,
// and these lie one after the other too
void pack_kept_tokens(Exec&, Tensor index, Tensor position, Tensor kept, const SampleStarts& packed,
                      const SampleStarts& of_kept);
// loss_sum and count (V) i64, loss and target (B, T)
void add_entry_losses(Exec&, Tensor loss_sum, Tensor count, Tensor loss, Tensor target, Accumulate);
// importance (V) f32; norm and loss (1) f64, of which neither may be other than finite, else nothing is written
void update_importance(Exec&, Tensor importance, Tensor loss_sum, Tensor count, Tensor norm, Tensor loss, double decay);

// total (1) f64, x flat
void sum_of_squares(Exec&, Tensor total, Tensor x, Accumulate);
// x (1) f64 = its square root
void square_root(Exec&, Tensor x);
// rounded bf16 or empty; m, v: as param, or bf16; norm and loss (1) f64, of which neither may be other than finite,
// else nothing is written
void adamw_update(Exec&, Tensor param, Tensor rounded, Tensor m, Tensor v, Tensor grad, Tensor norm, Tensor loss,
                  const AdamW&);
void sgd_update(Exec&, Tensor param, Tensor rounded, Tensor m, Tensor grad, Tensor norm, Tensor loss, const Sgd&);
// total (1) f64
void sum(Exec&, Tensor total, Tensor x, Accumulate);

// to = from (f32) rounded; both flat, to bf16
void round_to(Exec&, Tensor to, Tensor from);

}  // namespace deft::engine
