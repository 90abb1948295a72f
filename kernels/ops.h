// Every op, once for all backends: its shapes, its formula and source, and which buffers may be one.
//
// kernels/cpu/cpu.h and kernels/cuda/cuda.h include this list inside their namespace, so it names no namespace and has
// no include guard. `Exec` is that backend's. A backend defines an op for each type that it supports: the CPU for
// Real = float, CUDA for float and bf16. The reference kernels take Real = double throughout.
//
// Statistics, losses and gradients of weights are float. Shapes are row-major. A null pointer means that the buffer is
// absent, where the comment permits it. "= or +=" follows Accumulate. X_work() in kernels/work.h counts the FLOPs and
// bytes of op X. What only one backend has, such as workspaces and limits, is in its own header.

// ---- linear ----

// y = act(x W^T + bias). x (rows, in), w (out, in), bias (out) or null, y (rows, out).
// pre (rows, out) or null receives x W^T + bias, which the backward pass of an activation reads.
// The activation has no gate: SwiGLU is an op of its own, below.
template <class Real>
void linear_forward(Exec&, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias, std::int64_t rows,
                    std::int64_t in, std::int64_t out, Activation);

// dx = or += (dy W) * act'(pre). dy (rows, out), w (out, in), dx (rows, in).
// pre (rows, in) is the pre-activation of the layer that made x, null without an activation.
template <class Real>
void linear_backward_input(Exec&, Real* dx, const Real* dy, const Real* w, const Real* pre, std::int64_t rows,
                           std::int64_t in, std::int64_t out, Activation, Accumulate);

// dw (out, in) = or += dy^T x. dbias (out) or null = or += column sums of dy.
template <class Real>
void linear_backward_weight(Exec&, float* dw, float* dbias, const Real* dy, const Real* x, std::int64_t rows,
                            std::int64_t in, std::int64_t out, Accumulate);

// ---- activation ----
// The bits equal those of linear_forward on the same pre, so a backward pass may recompute y.

// y (rows, cols) = act(pre). pre (rows, cols).
// SwiGLU: pre (rows, 2 cols), each row [gate | up], and y = silu(gate) up.
template <class Real>
void activation_forward(Exec&, Real* y, const Real* pre, std::int64_t rows, std::int64_t cols, Activation);

// dpre, shaped as pre, from dy (rows, cols). Without a gate, dpre may be dy.
template <class Real>
void activation_backward(Exec&, Real* dpre, const Real* dy, const Real* pre, std::int64_t rows, std::int64_t cols,
                         Activation);

// ---- dropout ----
// Srivastava et al. 2014, section 4. No mask is stored: kernels/dropout_key.h decides which values are kept, in both
// passes.

// y = residual + keep x / (1 - p); with p = 0, x keeps its bits. y, x, residual (B, N), N < 2^34.
// Packed samples have at most N values each. residual may be null; y may be x or residual.
// The op is its own backward pass: dx from dy, without residual.
template <class Real>
void dropout(Exec&, Real* y, const Real* x, const Real* residual, std::int64_t B, std::int64_t N, const DropoutKey&);

// ---- rope ----
// Rotary position embedding (Su et al. 2021, section 3.4.2). It rotates the pair (x[i], x[i + d/2]) of each head by
// position theta^(-2i/d), or back. The pairs are those of Llama in Hugging Face; the paper pairs neighbours.

// Row r of (B, K) begins at y + r y_stride and x + r x_stride. Values outside the heads stay as they are. y may be x.
template <class Real>
void rope(Exec&, Real* y, std::int64_t y_stride, const Real* x, std::int64_t x_stride, const RopeShape&, RopeTurn);

// ---- cache of keys and values ----

// cache (samples, T, C) at the rows that CacheRows names = rows (B, K, C) of x. Its other rows stay as they are.
template <class Real>
void cache_rows(Exec&, Real* cache, const Real* x, const CacheRows&);

// ---- pooling and patches ----

// y (B, C) = the first of the rows x (B, K, C), or their mean. Padding counts as other rows do.
template <class Real>
void pool_forward(Exec&, Real* y, const Real* x, std::int64_t B, std::int64_t K, std::int64_t C, Pooling);

// dx (B, K, C) = or += dy (B, C) in the first row and 0 in the others, or dy / K in all.
template <class Real>
void pool_backward(Exec&, Real* dx, const Real* dy, std::int64_t B, std::int64_t K, std::int64_t C, Pooling,
                   Accumulate);

// Dosovitskiy et al. 2021, section 3.1: out (B, H/P W/P, P P channels) = the patches of images (B, H, W, channels), row
// by row. The values of a patch run over its rows, columns and channels. Pixel: float or std::uint8_t.
template <class Real, class Pixel>
void patchify(Exec&, Real* out, const Pixel* images, const PatchShape&);

// ---- class token ----
// Dosovitskiy et al. 2021, equation 1.

// out (B, 1 + K, C) = [token (C); x (B, K, C)] + position (1 + K, C). position may be null.
template <class Real>
void class_token_forward(Exec&, Real* out, const Real* token, const Real* x, const Real* position, std::int64_t B,
                         std::int64_t K, std::int64_t C);

// dx (B, K, C) = the rows of dout after the token's.
// dtoken (C), and dposition (1 + K, C) or null, = or += sums over the samples.
template <class Real>
void class_token_backward(Exec&, float* dtoken, Real* dx, float* dposition, const Real* dout, std::int64_t B,
                          std::int64_t K, std::int64_t C, Accumulate);

// ---- norm ----
// Layer normalisation (Ba et al. 2016) and RMS normalisation (Zhang & Sennrich 2019), with the residual and row-index
// forms of a pre-norm block. A stream is (B, T, C). index (B, K) names, sorted, the rows that each sample takes; with a
// null index, K == T and all rows are taken. RMS normalisation ignores mean, bias and dbias, which may be null.

// y = norm(stream rows) * weight + bias. y (B, K, C); stream (B, T, C); weight, bias (C); mean, rstd (B, K).
// gathered (B, K, C) receives the rows read, and is null without index.
template <class Real>
void norm_forward(Exec&, Real* y, Real* gathered, float* mean, float* rstd, const Real* stream,
                  const std::int32_t* index, const Real* weight, const Real* bias, std::int64_t B, std::int64_t T,
                  std::int64_t K, std::int64_t C, const NormSpec&);

// sum = a + delta, rounded to Real; y = norm(sum) * weight + bias. All (rows, C); mean, rstd (rows).
template <class Real>
void residual_norm_forward(Exec&, Real* y, Real* sum, float* mean, float* rstd, const Real* a, const Real* delta,
                           const Real* weight, const Real* bias, std::int64_t rows, std::int64_t C, const NormSpec&);

// out rows = a + delta. a (B, K, C); delta (B, K, C), or null for a alone; out (B, T, C), its other rows as they are.
// Without index, out may be a or delta.
template <class Real>
void residual_forward(Exec&, Real* out, const std::int32_t* index, const Real* a, const Real* delta, std::int64_t B,
                      std::int64_t T, std::int64_t K, std::int64_t C);

// dx rows (B, T, C) at index = dresidual + d(norm)/dx . dy; the other rows stay as they are.
// dy, x (B, K, C); mean, rstd (B, K). dweight, dbias (C) = or += their gradients.
// dresidual (B, K, C) may be null, which means zero; without index it may be dx.
template <class Real>
void norm_backward(Exec&, Real* dx, const std::int32_t* index, float* dweight, float* dbias, const Real* dy,
                   const Real* dresidual, const Real* x, const float* mean, const float* rstd, const Real* weight,
                   std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C, Accumulate, const NormSpec&);

// out (B, K, C) = rows of stream (B, T, C).
template <class Real>
void gather_rows(Exec&, Real* out, const Real* stream, const std::int32_t* index, std::int64_t B, std::int64_t T,
                 std::int64_t K, std::int64_t C);

// ---- attention ----
// Multi-head attention (Vaswani et al. 2017, equation 1), tiled with online softmax, without a (T, T) matrix
// (Dao 2023, FlashAttention-2, algorithms 1 and 2). All arithmetic is float.
// Errors: config, as require_attention (kernels/require_attention.h).

// out = softmax(Q K^T / sqrt(d)) V per head, over the keys that spec lets each query see, with its dropout.
// q (B, Tq, H, d), k and v (B, Tk, Hkv, d), at any stride; out (B, Tq, H, d).
// lse (B, H, Tq) = log-sum-exp of each row of scaled scores. out and lse are 0 in padding.
// Packed samples: q, k, v and out have M rows (M, H, d), and lse keeps its shape.
template <class Real>
void attention_forward(Exec&, Real* out, float* lse, const AttentionHeads<const Real>& in, const AttentionSpec& spec);

// The gradients of q, k and v, at any stride, from dout (B, Tq, H, d). They are 0 in padding, where dout is not read.
// out and lse are those of attention_forward.
template <class Real>
void attention_backward(Exec&, const AttentionHeads<Real>& gradients, const Real* dout, const Real* out,
                        const AttentionHeads<const Real>& in, const float* lse, const AttentionSpec& spec);

// ---- embedding ----
// The sum of rows of up to kMostEmbeddingTables tables: tokens with learned positions (Radford et al. 2018,
// section 3.1), and segments (Devlin et al. 2019, section 3).

// out[b, t] = sum over tables of weight[id[b, t]], in their order, in float. out (B, T, C); each table (V, C).
// Errors: config, for T above V where the positions are the ids.
template <class Real>
void embedding_forward(Exec&, Real* out, const EmbeddingTables<Real>& tables, std::int64_t B, std::int64_t T,
                       std::int64_t C);

// The gradient of each table (V, C) = or += the rows of dout (B, T, C) that its ids name. Ids are in [0, V).
template <class Real>
void embedding_backward(Exec&, const EmbeddingGradients<float>& gradients, const Real* dout, std::int64_t B,
                        std::int64_t T, std::int64_t C);

// ---- head loss ----
// The language-model head and its cross-entropy, fused over chunks of rows: the (rows, V) logits never exist whole.

// loss (rows) = -log softmax(x W^T + bias)[target], in nats, and 0 where target is kIgnoreTarget.
// dx (rows, C) = scale * d(sum of loss)/dx. It is 0 in ignored rows, which cost no product.
// dw (V, C), and dbias (V) or null, = or += scale * d(sum of loss)/dw, /dbias.
// x (rows, C), w (V, C), bias (V) or null, target (rows), of which target_rows are not ignored.
template <class Real>
void head_loss_train(Exec&, float* loss, Real* dx, float* dw, float* dbias, const Real* x, const Real* w,
                     const Real* bias, const std::int32_t* target, std::int64_t rows, std::int64_t target_rows,
                     std::int64_t C, std::int64_t V, StepValue<double> scale, Accumulate);

// As head_loss_train, without gradients. greedy (rows) or null receives 1 where the target has the largest logit; among
// equal logits, the lowest id is the largest.
template <class Real>
void head_loss(Exec&, float* loss, std::int32_t* greedy, const Real* x, const Real* w, const Real* bias,
               const std::int32_t* target, std::int64_t rows, std::int64_t target_rows, std::int64_t C, std::int64_t V);

// ---- value loss ----
// A regression head: one value per sample, and its squared error.

// value (B) = x (B, C) w (C) + bias[0]; loss (B) = (value - target)^2.
template <class Real>
void value_loss(Exec&, float* loss, float* value, const Real* x, const Real* w, const Real* bias, const float* target,
                std::int64_t B, std::int64_t C);

// As value_loss, with gradients: dx (B, C) = scale * d(sum of loss)/dx.
// dw (C), dbias (1) = or += scale * d(sum of loss)/dw, /dbias.
template <class Real>
void value_loss_train(Exec&, float* loss, float* value, Real* dx, float* dw, float* dbias, const Real* x, const Real* w,
                      const Real* bias, const float* target, std::int64_t B, std::int64_t C, StepValue<double> scale,
                      Accumulate);

// ---- optimizer ----
// Global gradient norm, AdamW and SGD over flat buffers. Master weights and gradients are float on every backend.
// Moment: float, or bf16, rounded at random (kernels/stochastic_rounding.h). No optimizer writes when norm[0] or
// loss[0] is not finite.

// total[0] = or += sum of the squares of x (n), in double over fixed chunks.
void sum_of_squares(Exec&, double* total, const float* x, std::int64_t n, Accumulate);

// x[0] = its square root.
void square_root(Exec&, double* x);

// One step of AdamW (Loshchilov & Hutter 2019, algorithm 2) on param, m, v (n) with gradient grad (n).
// norm[0] is the gradient's global norm, read by the kernel, so a device needs no host round trip.
// rounded (n) or null receives the new weights, rounded.
template <class Moment>
void adamw_update(Exec&, float* param, bf16* rounded, Moment* m, Moment* v, const float* grad, const double* norm,
                  const double* loss, std::int64_t n, const AdamW&);

// One step of SGD, as torch.optim.SGD without dampening and Nesterov. m (n) is the momentum, 0 before the first step.
template <class Moment>
void sgd_update(Exec&, float* param, bf16* rounded, Moment* m, const float* grad, const double* norm,
                const double* loss, std::int64_t n, const Sgd&);

// total[0] = or += sum of x (n), in double, in a fixed order.
void sum(Exec&, double* total, const float* x, std::int64_t n, Accumulate);

// ---- sums over ranks ----

// sums (n) = the sum over ranks, in their order. Rank r adds row r of others (ranks, n); `rank` itself adds sums, and
// its row of others is not read. Value: float, double or std::int64_t.
template <class Value>
void sum_ranks(Exec&, Value* sums, const Value* others, std::int64_t n, int rank, int ranks);

// ---- token selection ----
// The tokens that a layer keeps: the K smallest keys of each row, in position order.

// index (rows, K), ascending in each row, for 0 <= K <= T. Keys: RandomKeys or ImportanceKeys (kernels/token_keys.h),
// which define rows and ties.
template <class Keys>
void select_kept_tokens(Exec&, std::int32_t* index, const Keys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K);

// The kept rows of packed samples, by layer. Sample b has the rows from start[b] to before start[b + 1]. Its kept rows
// are those from kept_start[b] to before kept_start[b + 1], the first entries of kept (layers, B, K).
// index (layers, rows): their rows among all rows; position (layers, rows): in their samples.
// start, kept_start (B + 1).
void pack_kept_tokens(Exec&, std::int32_t* index, std::int32_t* position, const std::int32_t* kept,
                      const std::int32_t* start, const std::int32_t* kept_start, std::int64_t layers, std::int64_t B,
                      std::int64_t K, std::int64_t rows);

// ---- token importance ----
// The importance of each vocabulary entry: a moving average of the loss of the targets with that id (Hou et al. 2022,
// section 3).

// loss_sum, count (V) = or += the sums and counts of loss (n) by target (n). loss_sum is in kLossUnits
// (kernels/entry_loss.h). Targets outside the vocabulary, such as kIgnoreTarget, are skipped.
void add_entry_losses(Exec&, std::int64_t* loss_sum, std::int64_t* count, const float* loss, const std::int32_t* target,
                      std::int64_t n, std::int64_t V, Accumulate);

// importance (V) = decay x importance + (1 - decay) x mean loss, for the entries that occurred and are not kAlwaysKept.
// Nothing is written when norm[0] or loss[0] is not finite, as in the optimizer.
void update_importance(Exec&, float* importance, const std::int64_t* loss_sum, const std::int64_t* count,
                       const double* norm, const double* loss, std::int64_t V, double decay);

// ---- gate of experts ----
// N rows choose k of E experts each. A *slot* is a row of a buffer (slots, ...) in which the rows are grouped by
// expert: expert e has the slots from start[e] to before start[e + 1]. Buffers have at most N k slots; those from
// start[E] on are neither read nor written. Logits, probabilities and weights of the gate are float.

// logits (N, E) = x (N, C) w^T + bias. w (E, C), bias (E) or null.
template <class Real>
void gate_logits(Exec&, float* logits, const Real* x, const float* w, const float* bias, std::int64_t N, std::int64_t C,
                 std::int64_t E);

// dx (N, C) = or += dlogits (N, E) w.
template <class Real>
void gate_backward_input(Exec&, Real* dx, const float* dlogits, const float* w, std::int64_t N, std::int64_t C,
                         std::int64_t E, Accumulate);

// dw (E, C) = or += dlogits^T x. dbias (E) or null = or += column sums of dlogits.
template <class Real>
void gate_backward_weight(Exec&, float* dw, float* dbias, const float* dlogits, const Real* x, std::int64_t N,
                          std::int64_t C, std::int64_t E, Accumulate);

// y (N, C) = residual + x jitter_factor. residual may be null; y may be x or residual.
// The op is its own backward pass: dx from dy, with dx as residual.
template <class Real>
void jitter_rows(Exec&, Real* y, const Real* x, const Real* residual, const RoutedRows&, std::int64_t C,
                 double epsilon);

// prob (N, E) = softmax(logits); lse (N) = log-sum-exp of the logits.
// expert (N, k): the highest scores (routing_score) in their order; among equal ones, the lower expert.
// In padding, prob and lse are 0, and expert is -1.
void route(Exec&, float* prob, float* lse, std::int32_t* expert, const float* logits, const RoutedRows&,
           const RouteSpec&);

// weight (N, k) = the expert's probability of each choice that has a slot, and 0 without one.
// For k > 1 it is divided by the sum over the choices that have one (Lepikhin et al. 2020, algorithm 1).
void gate_weights(Exec&, float* weight, const float* prob, const std::int32_t* expert, const std::int32_t* slot,
                  std::int64_t N, std::int64_t E, std::int64_t k);

// losses (kGateLosses), means over real rows; prob, lse and expert are those of route:
//   balance: E / balanced_choices(k) x the sum over experts of (mean probability) (mean of the counted choices), before
//   any is dropped (Fedus et al. 2021, equation 4);
//   the square of lse (Zoph et al. 2022, equation 5);
//   the entropy of the probabilities, in nats.
// chosen (E + 1): the counted choices of each expert, then the number of real rows.
void gate_losses(Exec&, float* losses, std::int32_t* chosen, const float* prob, const float* lse, const float* logits,
                 const std::int32_t* expert, std::int64_t N, std::int64_t E, std::int64_t k);

// totals (RoutingTotals of E) = or += the counts of one pass, and its losses times weight.
// losses and chosen are those of gate_losses, start that of place_choices.
void sum_routing(Exec&, double* totals, const float* losses, const std::int32_t* chosen, const std::int32_t* start,
                 std::int64_t E, double weight, Accumulate);

// dlogits (N, E) of sum(dweight weight) + balance_scale losses[0] + z_scale losses[1].
// dweight, slot and expert (N, k); chosen (E + 1) of gate_losses.
void gate_backward(Exec&, float* dlogits, const float* dweight, const float* logits, const std::int32_t* expert,
                   const std::int32_t* slot, const std::int32_t* chosen, std::int64_t N, std::int64_t E, std::int64_t k,
                   double balance_scale, double z_scale);

// start (E + 1), row (N k) and slot (N, k) of expert (N, k): the choices of each expert, in the order of rows.
// An expert over its capacity keeps the first of them, where first choices precede second ones, or a random part, as
// CapacitySpec says. slot: the slot of each choice, -1 where it is dropped or absent.
// row: the row of each slot, 0 where the slot is not used. The integers are the same on every backend.
void place_choices(Exec&, std::int32_t* start, std::int32_t* row, std::int32_t* slot, const std::int32_t* expert,
                   const RoutedRows&, std::int64_t E, std::int64_t k, const CapacitySpec&);

// ---- rows of experts ----

// out (N, C) = the sum of weight y[slot] over the choices that have a slot. weight (N, k), null for 1; y (slots, C).
template <class Real>
void combine_rows(Exec&, Real* out, const Real* y, const float* weight, const std::int32_t* slot, std::int64_t N,
                  std::int64_t k, std::int64_t C);

// dy[slot] = weight dout. dweight (N, k) = dout (N, C) . y[slot], 0 without a slot. dy may be y.
template <class Real>
void combine_backward(Exec&, Real* dy, float* dweight, const Real* dout, const Real* y, const float* weight,
                      const std::int32_t* slot, std::int64_t N, std::int64_t k, std::int64_t C);

// out (N, C) = p a + (1 - p) b, where p = softmax(logits (N, 2))[0] in each row (Rajbhandari et al. 2022, section 4.1).
template <class Real>
void mix_rows(Exec&, Real* out, const Real* a, const Real* b, const float* logits, std::int64_t N, std::int64_t C);

// da, db (N, C) and dlogits (N, 2) of dout (N, C). da may be a; db may be b or dout.
template <class Real>
void mix_backward(Exec&, Real* da, Real* db, float* dlogits, const Real* dout, const Real* a, const Real* b,
                  const float* logits, std::int64_t N, std::int64_t C);

// ---- grouped linear ----
// A linear layer per expert, with the bits of the linear ops for one expert. Slot s of expert e is multiplied by w[e].
// w (E, out, in), bias (E, out), start (E + 1).

// y (slots, out) = act(x w[e]^T + bias[e]). x (slots, in), bias or null; pre (slots, out) or null.
template <class Real>
void grouped_linear_forward(Exec&, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias,
                            const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                            std::int64_t out, Activation);

// dx (slots, in) = (dy w[e]) act'(pre). dy (slots, out); pre (slots, in) or null.
template <class Real>
void grouped_linear_backward_input(Exec&, Real* dx, const Real* dy, const Real* w, const Real* pre,
                                   const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                   std::int64_t out, Activation);

// dw (E, out, in) = or += dy^T x over each expert's slots. dbias (E, out) or null = or += column sums of dy.
template <class Real>
void grouped_linear_backward_weight(Exec&, float* dw, float* dbias, const Real* dy, const Real* x,
                                    const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                    std::int64_t out, Accumulate);
