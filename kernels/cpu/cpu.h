#pragma once
// All CPU kernels: what each computes, on which shapes.

#include "kernels/attention.h"
#include "kernels/bf16.h"
#include "kernels/cpu/exec.h"
#include "kernels/cpu/experts.h"
#include "kernels/dropout_key.h"
#include "kernels/embedding_tables.h"
#include "kernels/token_keys.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// ---- linear ----
// Linear layers: GEMM on a fixed grid of tiles, each tile one single-threaded oneDNN call, with bias and activation
// on the hot tile. An activation that has a gate is an op of its own, see below.

// y = act(x W^T + bias). x (rows, in), w (out, in), bias (out) or null, y (rows, out).
// pre (rows, out) or null receives x W^T + bias, which the backward pass of an activation needs.
void linear_forward(Exec&, float* y, float* pre, const float* x, const float* w, const float* bias, std::int64_t rows,
                    std::int64_t in, std::int64_t out, Activation);

// dx = or += (dy W) * act'(pre). dy (rows, out), w (out, in), dx (rows, in); pre (rows, in) is the pre-activation of
// the layer that made x, null when act is none.
void linear_backward_input(Exec&, float* dx, const float* dy, const float* w, const float* pre, std::int64_t rows,
                           std::int64_t in, std::int64_t out, Activation, Accumulate);
std::size_t linear_backward_input_workspace(int threads, std::int64_t rows, std::int64_t in, Activation, Accumulate);

// dw (out, in) = or += dy^T x; dbias (out) or null = or += column sums of dy.
void linear_backward_weight(Exec&, float* dw, float* dbias, const float* dy, const float* x, std::int64_t rows,
                            std::int64_t in, std::int64_t out, Accumulate);
std::size_t linear_backward_weight_workspace(int threads, std::int64_t rows, std::int64_t in, std::int64_t out);

// ---- activation ----
// The bits equal those of linear_forward on the same pre, so that a backward pass may recompute y.

// y (rows, cols) = act(pre). pre (rows, cols), or of SwiGLU (rows, 2 cols) = [gate | up] a row: y = silu(gate) up.
void activation_forward(Exec&, float* y, const float* pre, std::int64_t rows, std::int64_t cols, Activation);

// dpre, shaped as pre, from dy (rows, cols); without a gate it may be dy.
void activation_backward(Exec&, float* dpre, const float* dy, const float* pre, std::int64_t rows, std::int64_t cols,
                         Activation);

// ---- dropout ----
// No mask is stored: kernels/dropout_key.h decides which values are kept, in a backward pass as in a forward one.

// y = residual + keep x / (1 - p), x alone with its bits where p is 0. y, x, residual (B, N) with N < 2^34 values a
// sample, or of packed samples with N at most; residual may be null; y may be x or residual. Its own backward op: dx of
// dy, without residual.
void dropout(Exec&, float* y, const float* x, const float* residual, std::int64_t B, std::int64_t N, const DropoutKey&);

// ---- rope ----
// The pair (x[i], x[i + d/2]) of each head is turned by the angle position theta^(-2i/d), or back. (Pairs are Llama's,
// as Hugging Face stores its weights; the paper's are neighbours.)

// Row r of (B, K) begins at y + r y_stride and x + r x_stride; what of a row belongs to no head is left alone. y may be
// x.
void rope(Exec&, float* y, std::int64_t y_stride, const float* x, std::int64_t x_stride, const RopeShape&, RopeTurn);

// ---- cache of keys and values ----

// cache (samples, T, C) in the rows that CacheRows names = rows (B, K, C) of x; its other rows are left alone.
void cache_rows(Exec&, float* cache, const float* x, const CacheRows&);

// ---- pooling and patches ----

// y (B, C) = the first of the rows x (B, K, C), or their mean; padding counts as other rows do.
void pool_forward(Exec&, float* y, const float* x, std::int64_t B, std::int64_t K, std::int64_t C, Pooling);

// dx (B, K, C) = or += dy (B, C) in the first row and 0 in the others, or dy / K in all.
void pool_backward(Exec&, float* dx, const float* dy, std::int64_t B, std::int64_t K, std::int64_t C, Pooling,
                   Accumulate);

// Dosovitskiy et al. 2021, section 3.1: out (B, H/P W/P, P P channels) = the patches of images (B, H, W, channels), by
// rows; the values of a patch by its rows, columns and channels. Images are float or bytes.
void patchify(Exec&, float* out, const float* images, const PatchShape&);
void patchify(Exec&, float* out, const std::uint8_t* images, const PatchShape&);

// ---- class token ----
// Dosovitskiy et al. 2021, equation 1.

// out (B, 1 + K, C) = [token (C); x (B, K, C)] + position (1 + K, C), or without it where that is null.
void class_token_forward(Exec&, float* out, const float* token, const float* x, const float* position, std::int64_t B,
                         std::int64_t K, std::int64_t C);

// dx (B, K, C) = the rows after the token's; dtoken (C) and dposition (1 + K, C) or null = or += sums over the samples.
void class_token_backward(Exec&, float* dtoken, float* dx, float* dposition, const float* dout, std::int64_t B,
                          std::int64_t K, std::int64_t C, Accumulate);

// ---- norm ----
// Layer and RMS normalisation, with the residual and row-index forms that a pre-norm block needs.
// A stream is (B, T, C); index (B, K) names, sorted, the rows of each sample that are taken; index == nullptr: all
// rows, K == T. RMS normalisation has no mean and no bias: mean, bias and dbias are not touched and may be null.

// y = norm(stream rows) * weight + bias. y (B, K, C); gathered (B, K, C) receives the rows read, null without index;
// mean, rstd (B, K); stream (B, T, C); weight, bias (C).
void norm_forward(Exec&, float* y, float* gathered, float* mean, float* rstd, const float* stream,
                  const std::int32_t* index, const float* weight, const float* bias, std::int64_t B, std::int64_t T,
                  std::int64_t K, std::int64_t C, const NormSpec&);

// sum = a + delta; y = norm(sum) * weight + bias. All (rows, C); mean, rstd (rows).
void residual_norm_forward(Exec&, float* y, float* sum, float* mean, float* rstd, const float* a, const float* delta,
                           const float* weight, const float* bias, std::int64_t rows, std::int64_t C, const NormSpec&);

// out rows = a + delta. a, delta (B, K, C), delta null for a alone; out (B, T, C), its other rows left alone. Without
// index out may be a or delta.
void residual_forward(Exec&, float* out, const std::int32_t* index, const float* a, const float* delta, std::int64_t B,
                      std::int64_t T, std::int64_t K, std::int64_t C);

// dx = dresidual + d(norm)/dx . dy, written to dx rows (B, T, C) through index (other rows left alone).
// dy, x, dresidual (B, K, C), dresidual may be null (taken as zero) and without index may be dx itself;
// mean, rstd (B, K); dweight, dbias (C).
void norm_backward(Exec&, float* dx, const std::int32_t* index, float* dweight, float* dbias, const float* dy,
                   const float* dresidual, const float* x, const float* mean, const float* rstd, const float* weight,
                   std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C, Accumulate, const NormSpec&);
std::size_t norm_backward_workspace(std::int64_t rows, std::int64_t C);

// out (B, K, C) = rows of stream (B, T, C).
void gather_rows(Exec&, float* out, const float* stream, const std::int32_t* index, std::int64_t B, std::int64_t T,
                 std::int64_t K, std::int64_t C);

// ---- attention ----
// Multi-head attention, tiled with online softmax (Dao 2023, FlashAttention-2, algorithms 1 and 2): never a (T, T)
// matrix.

// out = softmax(Q K^T / sqrt(d)) V per head, over the keys that spec lets each query see; probabilities dropped as it
// says. q (B, Tq, H, d), k and v (B, Tk, Hkv, d) anywhere; out (B, Tq, H, d); lse (B, H, Tq) = log-sum-exp of each row
// of scaled scores. Of queries that are padding, out and lse are 0; of packed samples q, k, v and out have M rows, (M,
// H, d), and lse is (B, H, Tq) all the same. Errors: config, as require_attention (kernels/require_attention.h).
void attention_forward(Exec&, float* out, float* lse, const AttentionHeads<const float>& in, const AttentionSpec& spec);
std::size_t attention_forward_workspace(int threads, std::int64_t Tq, std::int64_t d);

// The gradients of q, k and v, anywhere, from dout (B, Tq, H, d); 0 of padding, whose dout is not read. out and lse are
// those of forward.
void attention_backward(Exec&, const AttentionHeads<float>& gradients, const float* dout, const float* out,
                        const AttentionHeads<const float>& in, const float* lse, const AttentionSpec& spec);
std::size_t attention_backward_workspace(int threads, std::int64_t Tq, std::int64_t d);

// ---- embedding ----
// The sum of rows of up to kMostEmbeddingTables tables: tokens with learned positions (Radford et al. 2018,
// section 3.1), and segments (Devlin et al. 2019, section 3).

// out[b, t] = sum over tables of weight[id[b, t]], in their order. out (B, T, C); at least one table (V, C).
// Errors: config, for an id outside [0, V), or T above V where the positions are the ids.
void embedding_forward(Exec&, float* out, const EmbeddingTables<float>& tables, std::int64_t B, std::int64_t T,
                       std::int64_t C);

// Each table's gradient (V, C) = or += the rows of dout (B, T, C) that its ids name, in the order of positions. Ids as
// forward has checked them.
void embedding_backward(Exec&, const EmbeddingGradients<float>& gradients, const float* dout, std::int64_t B,
                        std::int64_t T, std::int64_t C);

// ---- head loss ----
// The language-model head and its cross-entropy, fused over chunks of rows: the (rows, V) logits never exist whole.

// loss (rows) = -log softmax(x W^T + bias)[target], nats, 0 where target is kIgnoreTarget.
// dx (rows, C) = scale * d(sum of loss)/dx, 0 in ignored rows, which cost no product; dw (V, C), and dbias (V) unless
// null, = or += scale * d(sum of loss)/dw, /dbias. x (rows, C), w (V, C), bias (V) or null, target (rows), of which
// target_rows are not ignored.
// Errors: config, for a target outside [0, V) or another number of targets.
void head_loss_train(Exec&, float* loss, float* dx, float* dw, float* dbias, const float* x, const float* w,
                     const float* bias, const std::int32_t* target, std::int64_t rows, std::int64_t target_rows,
                     std::int64_t C, std::int64_t V, double scale, Accumulate);

// As above without gradients; greedy (rows) or null receives 1 where the target has the largest logit (lowest id wins
// ties).
void head_loss(Exec&, float* loss, std::int32_t* greedy, const float* x, const float* w, const float* bias,
               const std::int32_t* target, std::int64_t rows, std::int64_t target_rows, std::int64_t C, std::int64_t V);

// For both.
std::size_t head_loss_workspace(std::int64_t rows, std::int64_t C, std::int64_t V);

// ---- value loss ----
// One number a sample and its squared error, as of regression.

// value (B) = x (B, C) w (C) + bias[0]; loss (B) = (value - target)^2.
void value_loss(Exec&, float* loss, float* value, const float* x, const float* w, const float* bias,
                const float* target, std::int64_t B, std::int64_t C);

// With gradients; dx (B, C) = scale * d(sum of loss)/dx; dw (C), dbias (1) = or += scale * d(sum of loss)/dw, /dbias.
void value_loss_train(Exec&, float* loss, float* value, float* dx, float* dw, float* dbias, const float* x,
                      const float* w, const float* bias, const float* target, std::int64_t B, std::int64_t C,
                      double scale, Accumulate);

// ---- optimizer ----
// Global gradient norm and AdamW (Loshchilov & Hutter 2019, algorithm 2) or SGD, over flat buffers.

// total[0] = or += sum of the squares of x (n), in double over fixed chunks.
void sum_of_squares(Exec&, double* total, const float* x, std::int64_t n, Accumulate);
std::size_t sum_of_squares_workspace(std::int64_t n);

// x[0] = its square root.
void square_root(Exec&, double* x);

// One step on param, m, v (n) with gradient grad (n). rounded (n) or null receives the new weights, rounded. norm[0] is
// the gradient's global norm, read here so that a device needs no host round trip. Nothing is written when norm[0] or
// loss[0] is not finite.
void adamw_update(Exec&, float* param, bf16* rounded, float* m, float* v, const float* grad, const double* norm,
                  const double* loss, std::int64_t n, const AdamW&);

// The same of SGD, which keeps one moment: the momentum m (n), 0 before the first step.
void sgd_update(Exec&, float* param, bf16* rounded, float* m, const float* grad, const double* norm, const double* loss,
                std::int64_t n, const Sgd&);

// total[0] = or += sum of x (n), in double over fixed chunks.
void sum(Exec&, double* total, const float* x, std::int64_t n, Accumulate);

// ---- sums over ranks ----

// sums (n) = the sum over ranks, one after the other in their order: of rank r row r of others (ranks, n), of `rank`
// itself sums, and its row of others is not read. Value: float, double or std::int64_t.
template <class Value>
void sum_ranks(Exec&, Value* sums, const Value* others, std::int64_t n, int rank, int ranks);

// ---- token selection ----
// The tokens that a layer keeps: the K smallest keys of each row, in position order.

// index (rows, K), ascending in each row, for 0 <= K <= T. Keys, their ties and the meaning of a row:
// kernels/token_keys.h.
void select_kept_tokens(Exec&, std::int32_t* index, const RandomKeys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K);
void select_kept_tokens(Exec&, std::int32_t* index, const ImportanceKeys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K);
std::size_t select_kept_tokens_workspace(int threads, std::int64_t T);

// Kept rows of packed samples, by layer: sample b has rows start[b] to before start[b + 1] of all, and those from
// kept_start[b] to before kept_start[b + 1] of the `rows` kept ones, as many as are real of its K in kept (layers, B,
// K). index (layers, rows): their rows among all; position (layers, rows): in their samples. start, kept_start (B + 1).
void pack_kept_tokens(Exec&, std::int32_t* index, std::int32_t* position, const std::int32_t* kept,
                      const std::int32_t* start, const std::int32_t* kept_start, std::int64_t layers, std::int64_t B,
                      std::int64_t K, std::int64_t rows);

// ---- token importance ----
// The importance of each vocabulary entry: a moving average of the loss of the targets that are it (Hou et al. 2022,
// section 3).

// Sums and counts of a step's losses by target: loss_sum in units of kLossUnits (kernels/entry_loss.h), count (V);
// loss, target (n). Targets outside the vocabulary, kIgnoreTarget among them, count for nothing.
void add_entry_losses(Exec&, std::int64_t* loss_sum, std::int64_t* count, const float* loss, const std::int32_t* target,
                      std::int64_t n, std::int64_t V, Accumulate);

// importance (V) = decay x importance + (1 - decay) x mean loss, of the entries that occurred and are not kAlwaysKept.
// Nothing is written when norm[0] or loss[0] is not finite, as the optimizer then writes nothing.
void update_importance(Exec&, float* importance, const std::int64_t* loss_sum, const std::int64_t* count,
                       const double* norm, const double* loss, std::int64_t V, double decay);

}  // namespace deft::kernels::cpu
