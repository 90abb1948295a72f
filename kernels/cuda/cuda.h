#pragma once
// All CUDA kernels: what each computes, on which shapes.

#include "kernels/attention.h"
#include "kernels/bf16.h"
#include "kernels/cuda/exec.h"
#include "kernels/cuda/experts.h"
#include "kernels/cuda/workspace.h"
#include "kernels/dropout_key.h"
#include "kernels/embedding_tables.h"
#include "kernels/token_keys.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// ---- linear ----
// Linear layers: products, with bias and the tanh form of GELU in the library's call where it has one; activations in
// float are ours. Real: float or bf16; gradients of weights are float. An activation that has a gate is an op of its
// own.

// y = act(x W^T + bias). x (rows, in), w (out, in), bias (out) or null, y (rows, out).
// pre (rows, out) or null receives x W^T + bias, which the backward pass of an activation needs.
template <class Real>
void linear_forward(Exec&, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias, std::int64_t rows,
                    std::int64_t in, std::int64_t out, Activation);

// dx = or += (dy W) * act'(pre). dy (rows, out), w (out, in), dx (rows, in); pre (rows, in) is the pre-activation of
// the layer that made x, null when act is none.
template <class Real>
void linear_backward_input(Exec&, Real* dx, const Real* dy, const Real* w, const Real* pre, std::int64_t rows,
                           std::int64_t in, std::int64_t out, Activation, Accumulate);

// dw (out, in) = or += dy^T x; dbias (out) or null = or += column sums of dy.
template <class Real>
void linear_backward_weight(Exec&, float* dw, float* dbias, const Real* dy, const Real* x, std::int64_t rows,
                            std::int64_t in, std::int64_t out, Accumulate);

// ---- activation ----
// The bits equal those of linear_forward on the same pre, so that a backward pass may recompute y; but not
// where the library activated: gelu_tanh in bf16, of which it alone knows the arithmetic.

// y (rows, cols) = act(pre). pre (rows, cols), or of SwiGLU (rows, 2 cols) = [gate | up] a row: y = silu(gate) up.
template <class Real>
void activation_forward(Exec&, Real* y, const Real* pre, std::int64_t rows, std::int64_t cols, Activation);

// dpre, shaped as pre, from dy (rows, cols); without a gate it may be dy.
template <class Real>
void activation_backward(Exec&, Real* dpre, const Real* dy, const Real* pre, std::int64_t rows, std::int64_t cols,
                         Activation);

// ---- dropout ----
// No mask is stored: kernels/dropout_key.h decides which values are kept, in a backward pass as in a forward one.

// y = residual + keep x / (1 - p), x alone with its bits where p is 0. y, x, residual (B, N) with N < 2^34 values a
// sample, or of packed samples with N at most; residual may be null; y may be x or residual. Its own backward op: dx of
// dy, without residual.
template <class Real>
void dropout(Exec&, Real* y, const Real* x, const Real* residual, std::int64_t B, std::int64_t N, const DropoutKey&);

// ---- rope ----
// The pair (x[i], x[i + d/2]) of each head is turned by the angle position theta^(-2i/d), or back. (Pairs are Llama's,
// as Hugging Face stores its weights; the paper's are neighbours.)

// Row r of (B, K) begins at y + r y_stride and x + r x_stride; what of a row belongs to no head is left alone. y may be
// x.
template <class Real>
void rope(Exec&, Real* y, std::int64_t y_stride, const Real* x, std::int64_t x_stride, const RopeShape&, RopeTurn);

// ---- cache of keys and values ----

// cache (samples, T, C) in the rows that CacheRows names = rows (B, K, C) of x; its other rows are left alone.
template <class Real>
void cache_rows(Exec&, Real* cache, const Real* x, const CacheRows&);

// ---- pooling and patches ----

// y (B, C) = the first of the rows x (B, K, C), or their mean; padding counts as other rows do.
template <class Real>
void pool_forward(Exec&, Real* y, const Real* x, std::int64_t B, std::int64_t K, std::int64_t C, Pooling);

// dx (B, K, C) = or += dy (B, C) in the first row and 0 in the others, or dy / K in all.
template <class Real>
void pool_backward(Exec&, Real* dx, const Real* dy, std::int64_t B, std::int64_t K, std::int64_t C, Pooling,
                   Accumulate);

// Dosovitskiy et al. 2021, section 3.1: out (B, H/P W/P, P P channels) = the patches of images (B, H, W, channels), by
// rows; the values of a patch by its rows, columns and channels. Images are float or bytes.
template <class Real, class Pixel>
void patchify(Exec&, Real* out, const Pixel* images, const PatchShape&);

// ---- class token ----
// Dosovitskiy et al. 2021, equation 1. Real: float or bf16; gradients of weights are float.

// out (B, 1 + K, C) = [token (C); x (B, K, C)] + position (1 + K, C), or without it where that is null.
template <class Real>
void class_token_forward(Exec&, Real* out, const Real* token, const Real* x, const Real* position, std::int64_t B,
                         std::int64_t K, std::int64_t C);

// dx (B, K, C) = the rows after the token's; dtoken (C) and dposition (1 + K, C) or null = or += sums over the samples.
template <class Real>
void class_token_backward(Exec&, float* dtoken, Real* dx, float* dposition, const Real* dout, std::int64_t B,
                          std::int64_t K, std::int64_t C, Accumulate);

// ---- norm ----
// Layer and RMS normalisation, with the residual and row-index forms that a pre-norm block needs.
// A stream is (B, T, C); index (B, K) names, sorted, the rows of each sample that are taken; index == nullptr: all
// rows, K == T. Real: float or bf16; statistics and gradients of weights are float.
// RMS normalisation has no mean and no bias: mean, bias and dbias are not touched and may be null.

// y = norm(stream rows) * weight + bias. y (B, K, C); gathered (B, K, C) receives the rows read, null without index;
// mean, rstd (B, K); stream (B, T, C); weight, bias (C).
template <class Real>
void norm_forward(Exec&, Real* y, Real* gathered, float* mean, float* rstd, const Real* stream,
                  const std::int32_t* index, const Real* weight, const Real* bias, std::int64_t B, std::int64_t T,
                  std::int64_t K, std::int64_t C, const NormSpec&);

// sum = a + delta, rounded to Real; y = norm(sum) * weight + bias. All (rows, C); mean, rstd (rows).
template <class Real>
void residual_norm_forward(Exec&, Real* y, Real* sum, float* mean, float* rstd, const Real* a, const Real* delta,
                           const Real* weight, const Real* bias, std::int64_t rows, std::int64_t C, const NormSpec&);

// out rows = a + delta. a, delta (B, K, C), delta null for a alone; out (B, T, C), its other rows left alone. Without
// index out may be a or delta.
template <class Real>
void residual_forward(Exec&, Real* out, const std::int32_t* index, const Real* a, const Real* delta, std::int64_t B,
                      std::int64_t T, std::int64_t K, std::int64_t C);

// dx = dresidual + d(norm)/dx . dy, written to dx rows (B, T, C) through index (other rows left alone).
// dy, x, dresidual (B, K, C), dresidual may be null (taken as zero) and without index may be dx itself;
// mean, rstd (B, K); dweight, dbias (C).
template <class Real>
void norm_backward(Exec&, Real* dx, const std::int32_t* index, float* dweight, float* dbias, const Real* dy,
                   const Real* dresidual, const Real* x, const float* mean, const float* rstd, const Real* weight,
                   std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C, Accumulate, const NormSpec&);

// out (B, K, C) = rows of stream (B, T, C).
template <class Real>
void gather_rows(Exec&, Real* out, const Real* stream, const std::int32_t* index, std::int64_t B, std::int64_t T,
                 std::int64_t K, std::int64_t C);

// ---- attention ----
// Multi-head attention, tiled with online softmax (Dao 2023, FlashAttention-2, algorithms 1 and 2): never a (T, T)
// matrix. Real: float or bf16; lse and all arithmetic are float.

inline constexpr std::int64_t kMostHeadSize = 128;

// out = softmax(Q K^T / sqrt(d)) V per head, over the keys that spec lets each query see; probabilities dropped as it
// says. q (B, Tq, H, d), k and v (B, Tk, Hkv, d) anywhere; out (B, Tq, H, d); lse (B, H, Tq) = log-sum-exp of each row
// of scaled scores. Of queries that are padding, out and lse are 0; of packed samples q, k, v and out have M rows, (M,
// H, d), and lse is (B, H, Tq) all the same. Errors: config, as require_attention (kernels/require_attention.h), or d >
// kMostHeadSize; likewise below.
template <class Real>
void attention_forward(Exec&, Real* out, float* lse, const AttentionHeads<const Real>& in, const AttentionSpec& spec);

// The gradients of q, k and v, anywhere, from dout (B, Tq, H, d); 0 of padding, whose dout is not read. out and lse are
// those of forward.
template <class Real>
void attention_backward(Exec&, const AttentionHeads<Real>& gradients, const Real* dout, const Real* out,
                        const AttentionHeads<const Real>& in, const float* lse, const AttentionSpec& spec);

// ---- embedding ----
// The sum of rows of up to kMostEmbeddingTables tables. Real: float or bf16; gradients are float.

// out[b, t] = sum over tables of weight[id[b, t]], in their order, in float. out (B, T, C); at least one table (V, C).
// An id outside [0, V), which a caller should have refused, gives a row of NaN. Errors: config, for T above V where the
// positions are the ids.
template <class Real>
void embedding_forward(Exec&, Real* out, const EmbeddingTables<Real>& tables, std::int64_t B, std::int64_t T,
                       std::int64_t C);

// Each table's gradient (V, C) = or += the rows of dout (B, T, C) that its ids name. Ids must lie in [0, V).
// B T < 2^31.
template <class Real>
void embedding_backward(Exec&, const EmbeddingGradients<float>& gradients, const Real* dout, std::int64_t B,
                        std::int64_t T, std::int64_t C);

// ---- head loss ----
// The language-model head and its cross-entropy, fused over chunks of rows: the (rows, V) logits never exist whole.
// Real: float or bf16; losses and gradients of weights are float. Logits are of type Real in training, and their
// gradients take their place; they are float in evaluation.

// How w and dw are stored, and how many rows are worked on at once.
struct HeadLayout {
    std::int64_t weight_rows =
        0;  // of w and dw, at least V, the rest zero in w; 0: V. As padded_vocabulary(V): fast products
    std::int64_t most_rows = 0;  // of a chunk; 0: head_chunk_rows
};

// loss (rows) = -log softmax(x W^T + bias)[target], nats, 0 where target is kIgnoreTarget.
// dx (rows, C) = scale * d(sum of loss)/dx, 0 in ignored rows, which cost no product; dw (V, C), and dbias (V) unless
// null, = or += scale * d(sum of loss)/dw, /dbias; dw's rows from V on are written as zeros. x (rows, C), w (V, C),
// bias (V) or null, target (rows), of which target_rows are not ignored. A target outside [0, V), which a caller should
// have refused, gives a loss of NaN and no gradient; so does a target beyond the first target_rows.
template <class Real>
void head_loss_train(Exec&, float* loss, Real* dx, float* dw, float* dbias, const Real* x, const Real* w,
                     const Real* bias, const std::int32_t* target, std::int64_t rows, std::int64_t target_rows,
                     std::int64_t C, std::int64_t V, double scale, Accumulate, const HeadLayout& = {});

// As above without gradients; greedy (rows) or null receives 1 where the target has the largest logit (lowest id wins
// ties).
template <class Real>
void head_loss(Exec&, float* loss, std::int32_t* greedy, const Real* x, const Real* w, const Real* bias,
               const std::int32_t* target, std::int64_t rows, std::int64_t target_rows, std::int64_t C, std::int64_t V,
               const HeadLayout& = {});

// ---- value loss ----
// One number a sample and its squared error, as of regression. Real: float or bf16.

// value (B) = x (B, C) w (C) + bias[0]; loss (B) = (value - target)^2.
template <class Real>
void value_loss(Exec&, float* loss, float* value, const Real* x, const Real* w, const Real* bias, const float* target,
                std::int64_t B, std::int64_t C);

// With gradients; dx (B, C) = scale * d(sum of loss)/dx; dw (C), dbias (1) = or += scale * d(sum of loss)/dw, /dbias.
template <class Real>
void value_loss_train(Exec&, float* loss, float* value, Real* dx, float* dw, float* dbias, const Real* x, const Real* w,
                      const Real* bias, const float* target, std::int64_t B, std::int64_t C, double scale, Accumulate);

// ---- optimizer ----
// Global gradient norm and AdamW (Loshchilov & Hutter 2019, algorithm 2) or SGD, over flat buffers. Master weights,
// moments and gradients are float whatever the type of activations.

// total[0] = or += sum of the squares of x (n), in double over fixed chunks.
void sum_of_squares(Exec&, double* total, const float* x, std::int64_t n, Accumulate);

// x[0] = its square root.
void square_root(Exec&, double* x);

// One step on param, m, v (n) with gradient grad (n). rounded (n) or null receives the new weights, rounded. norm[0] is
// the gradient's global norm. Nothing is written when norm[0] or loss[0] is not finite.
void adamw_update(Exec&, float* param, bf16* rounded, float* m, float* v, const float* grad, const double* norm,
                  const double* loss, std::int64_t n, const AdamW&);

// The same of SGD, which keeps one moment: the momentum m (n), 0 before the first step.
void sgd_update(Exec&, float* param, bf16* rounded, float* m, const float* grad, const double* norm, const double* loss,
                std::int64_t n, const Sgd&);

// total[0] = or += sum of x (n), in double.
void sum(Exec&, double* total, const float* x, std::int64_t n, Accumulate);

// to (n) = from (n), rounded: the copy of freshly loaded weights that kernels read.
template <class Real>
void round_to(Exec&, Real* to, const float* from, std::int64_t n);

// ---- sums over ranks ----

// Shapes and meaning: kernels/cpu/cpu.h. Value: float, double or std::int64_t.
template <class Value>
void sum_ranks(Exec&, Value* sums, const Value* others, std::int64_t n, int rank, int ranks);

// ---- token selection ----
// The tokens that a layer keeps: the K smallest keys of each row, in position order.

// index (rows, K), ascending in each row, for 0 <= K <= T, which has no limit. Keys, their ties and the meaning of a
// row: kernels/token_keys.h.
template <class Keys>
void select_kept_tokens(Exec&, std::int32_t* index, const Keys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K);

// Kept rows of packed samples, by layer. Shapes and meaning: kernels/cpu/cpu.h.
void pack_kept_tokens(Exec&, std::int32_t* index, std::int32_t* position, const std::int32_t* kept,
                      const std::int32_t* start, const std::int32_t* kept_start, std::int64_t layers, std::int64_t B,
                      std::int64_t K, std::int64_t rows);

// ---- token importance ----
// The importance of each vocabulary entry: a moving average of the loss of the targets that are it (Hou et al. 2022,
// section 3). Shapes and meaning: kernels/cpu/cpu.h.

// Atomic sums of integers, whose order cannot be seen.
void add_entry_losses(Exec&, std::int64_t* loss_sum, std::int64_t* count, const float* loss, const std::int32_t* target,
                      std::int64_t n, std::int64_t V, Accumulate);

void update_importance(Exec&, float* importance, const std::int64_t* loss_sum, const std::int64_t* count,
                       const double* norm, const double* loss, std::int64_t V, double decay);

}  // namespace deft::kernels::cuda
