#pragma once
// The work of each op, from its shapes: floating-point operations, and the bytes of every operand once for reading and
// once for writing. For profiles, benchmarks and the accounting of training.

#include <algorithm>
#include <cstdint>

#include "kernels/attention.h"
#include "kernels/embedding_tables.h"
#include "kernels/types.h"

namespace deft::kernels {

struct Work {
    double flops = 0;
    double reals = 0;  // values moved that are stored as activations and the weights that kernels read are
    double sums = 0;   // as statistics, losses and gradients of weights are
    double other = 0;  // bytes of what is stored in one way always: indices, random keys' ids, doubles

    // Total bytes for the given sizes of a value.
    double bytes(std::int64_t of_real, std::int64_t of_sum) const {
        return reals * static_cast<double>(of_real) + sums * static_cast<double>(of_sum) + other;
    }
};

// Sizes multiplied as doubles, in which no product of them overflows.
template <class... Sizes>
double product(Sizes... sizes) {
    return (1.0 * ... * static_cast<double>(sizes));
}

// A buffer that is added to is read first.
inline double written(double values, Accumulate accumulate) {
    return accumulate == Accumulate::yes ? 2 * values : values;
}

// The bytes of an index (rows), where there is one.
inline double index_bytes(std::int64_t rows, bool is_indexed) {
    return is_indexed ? product(rows, sizeof(std::int32_t)) : 0;
}

// ---- linear ----

// A product and a sum for each of rows x in x out.
inline double linear_flops(std::int64_t rows, std::int64_t in, std::int64_t out) {
    return 2 * product(rows, in, out);
}

inline Work linear_forward_work(std::int64_t rows, std::int64_t in, std::int64_t out, bool has_bias, bool keeps_pre) {
    Work work{linear_flops(rows, in, out)};
    work.reals =
        product(rows, in) + product(in, out) + product(rows, out) * (keeps_pre ? 2 : 1) + (has_bias ? product(out) : 0);
    return work;
}

inline Work linear_backward_input_work(std::int64_t rows, std::int64_t in, std::int64_t out, bool reads_pre,
                                       Accumulate accumulate) {
    Work work{linear_flops(rows, in, out)};
    work.reals = product(rows, out) + product(in, out) + written(product(rows, in), accumulate) +
                 (reads_pre ? product(rows, in) : 0);
    return work;
}

inline Work linear_backward_weight_work(std::int64_t rows, std::int64_t in, std::int64_t out, bool has_bias,
                                        Accumulate accumulate) {
    Work work{linear_flops(rows, in, out)};
    work.reals = product(rows, in) + product(rows, out);
    work.sums = written(product(in, out) + (has_bias ? product(out) : 0), accumulate);
    return work;
}

// ---- activation ----
// An exponential, a tail of the normal distribution and a division count as one operation each.

inline Work activation_forward_work(std::int64_t rows, std::int64_t cols, Activation act) {
    const bool is_gated = act == Activation::swiglu;
    Work work{product(act == Activation::none ? 0 : is_gated ? 5 : 9, rows, cols)};
    work.reals = product(rows, cols) + product(rows, columns_before(act, cols));
    return work;
}

inline Work activation_backward_work(std::int64_t rows, std::int64_t cols, Activation act) {
    const bool is_gated = act == Activation::swiglu;
    Work work{product(act == Activation::none ? 0 : is_gated ? 12 : 16, rows, cols)};
    work.reals = product(rows, cols) + 2 * product(rows, columns_before(act, cols));
    return work;
}

// ---- dropout ----

// Work on `values` values of all B samples: a product, and a sum with the residual. Deciding whether a value is kept
// takes about thirty integer operations.
inline Work dropout_work(std::int64_t B, std::int64_t values, bool has_residual, bool is_packed) {
    Work work{product(has_residual ? 2 : 1, values)};
    work.reals = product(has_residual ? 3 : 2, values);
    work.other = product(B, sizeof(std::int64_t)) + index_bytes(B + 1, is_packed);
    return work;
}

// ---- rope ----

// Four products and two sums a pair of values; the angles are few.
inline Work rope_work(std::int64_t rows, std::int64_t heads, std::int64_t d, bool has_position) {
    Work work{3 * product(rows, heads, d)};
    work.reals = 2 * product(rows, heads, d);
    work.other = index_bytes(rows, has_position);
    return work;
}

// ---- cache of keys and values ----

// has_positions: of the samples, beside s, since work is computed before buffers exist.
inline Work cache_rows_work(const CacheRows& s, bool has_positions) {
    Work work{0};
    work.other = product(has_positions ? sizeof(std::int32_t) : 0, s.samples);
    work.reals = product(s.samples + s.B, s.K, s.C);
    return work;
}

// ---- attention ----
// Only sizes, causality and dropout of a spec count. Whether samples have lengths is a separate argument, as is the
// number of packed rows, 0 where none are packed, since work is computed before buffers exist.

// A product and a sum for each column of every query and every key that it may see. What padding hides is counted too,
// and packed samples as if all were the longest.
inline double attention_product_flops(const AttentionSpec& s) {
    const auto Tq = static_cast<double>(s.Tq), Tk = static_cast<double>(s.Tk);
    return 2 * product(s.B, s.H, s.d, s.Tq) * (s.causal ? Tk - Tq + (Tq + 1) / 2 : Tk);
}

// Queries, keys and values, or their gradients.
inline double attention_heads(const AttentionSpec& s, std::int64_t packed_rows) {
    const std::int64_t queries = packed_rows > 0 ? packed_rows : s.B * s.Tq;
    const std::int64_t keys = packed_rows > 0 ? packed_rows : s.B * s.Tk;
    return product(queries, s.H, s.d) + 2 * product(keys, s.Hkv, s.d);
}
inline double attention_output(const AttentionSpec& s, std::int64_t packed_rows) {
    return product(packed_rows > 0 ? packed_rows : s.B * s.Tq, s.H, s.d);
}

inline double attention_mask_bytes(const AttentionSpec& s, bool is_padded, std::int64_t packed_rows) {
    return index_bytes(s.B, is_padded) + index_bytes(s.B + 1, packed_rows > 0) +
           (s.dropout.p != 0 ? product(s.B, sizeof(std::int64_t)) : 0);
}

// Two products: of queries with keys, and of probabilities with values.
inline Work attention_forward_work(const AttentionSpec& s, bool is_padded, std::int64_t packed_rows) {
    Work work{2 * attention_product_flops(s)};
    work.reals = attention_heads(s, packed_rows) + attention_output(s, packed_rows);
    work.sums = product(s.B, s.H, s.Tq);
    work.other = attention_mask_bytes(s, is_padded, packed_rows);
    return work;
}

// Five products: the probabilities again, their gradients, and the gradients of queries, keys and values.
inline Work attention_backward_work(const AttentionSpec& s, bool is_padded, std::int64_t packed_rows) {
    Work work{5 * attention_product_flops(s)};
    work.reals = 2 * attention_heads(s, packed_rows) + 2 * attention_output(s, packed_rows);
    work.sums = product(s.B, s.H, s.Tq);
    work.other = attention_mask_bytes(s, is_padded, packed_rows);
    return work;
}

// ---- pooling and patches ----

inline Work pool_forward_work(std::int64_t B, std::int64_t K, std::int64_t C, Pooling pooling) {
    const bool is_mean = pooling == Pooling::mean;
    Work work{is_mean ? product(B, K, C) : 0};
    work.reals = product(B, C) + product(B, is_mean ? K : 1, C);
    return work;
}

// A buffer that is added to is touched only in the rows that have a gradient.
inline Work pool_backward_work(std::int64_t B, std::int64_t K, std::int64_t C, Pooling pooling, Accumulate accumulate) {
    const bool is_mean = pooling == Pooling::mean, adds = accumulate == Accumulate::yes;
    const std::int64_t rows = is_mean || !adds ? K : 1;
    Work work{(is_mean || adds ? 1 : 0) * product(B, is_mean ? K : 1, C)};
    work.reals = product(B, C) + written(product(B, rows, C), accumulate);
    return work;
}

inline Work patchify_work(const PatchShape& s, std::int64_t pixel_bytes) {
    Work work{2 * product(s.values())};
    work.reals = product(s.values());
    work.other = product(s.values(), pixel_bytes);
    return work;
}

// ---- class token ----

inline Work class_token_forward_work(std::int64_t B, std::int64_t K, std::int64_t C, bool has_positions) {
    Work work{has_positions ? product(B, K + 1, C) : 0};
    work.reals = product(B, K + 1, C) + product(B, K, C) + product(C) + (has_positions ? product(K + 1, C) : 0);
    return work;
}

inline Work class_token_backward_work(std::int64_t B, std::int64_t K, std::int64_t C, bool has_positions,
                                      Accumulate accumulate) {
    Work work{product(B, C) + (has_positions ? product(B, K + 1, C) : 0)};
    work.reals = product(B, K + 1, C) + product(B, K, C);
    work.sums = written(product(has_positions ? K + 2 : 1, C), accumulate);
    return work;
}

// ---- norm ----
// rows: those taken, where an index names some of a stream.

// Weight and bias, or weight alone; and the mean and the inverse deviation, or the latter alone.
inline std::int64_t norm_parts(NormKind kind) {
    return kind == NormKind::layer ? 2 : 1;
}

inline Work norm_forward_work(std::int64_t rows, std::int64_t C, bool is_indexed, NormKind kind) {
    Work work{product(kind == NormKind::layer ? 8 : 4, rows, C)};
    work.reals = product(rows, C) * (is_indexed ? 3 : 2) + product(norm_parts(kind), C);
    work.sums = product(norm_parts(kind), rows);
    work.other = index_bytes(rows, is_indexed);
    return work;
}

inline Work residual_norm_forward_work(std::int64_t rows, std::int64_t C, NormKind kind) {
    Work work{product(kind == NormKind::layer ? 9 : 5, rows, C)};
    work.reals = product(4, rows, C) + product(norm_parts(kind), C);
    work.sums = product(norm_parts(kind), rows);
    return work;
}

inline Work residual_forward_work(std::int64_t rows, std::int64_t C, bool is_indexed, bool has_delta) {
    Work work{product(has_delta ? 1 : 0, rows, C)};
    work.reals = product(has_delta ? 3 : 2, rows, C);
    work.other = index_bytes(rows, is_indexed);
    return work;
}

inline Work norm_backward_work(std::int64_t rows, std::int64_t C, bool is_indexed, bool has_residual,
                               Accumulate accumulate, NormKind kind) {
    Work work{product(kind == NormKind::layer ? 15 : 11, rows, C)};
    work.reals = product(rows, C) * (has_residual ? 4 : 3) + product(C);
    work.sums = product(norm_parts(kind), rows) + written(product(norm_parts(kind), C), accumulate);
    work.other = index_bytes(rows, is_indexed);
    return work;
}

inline Work gather_rows_work(std::int64_t rows, std::int64_t C) {
    Work work;
    work.reals = product(2, rows, C);
    work.other = index_bytes(rows, true);
    return work;
}

// ---- embedding ----

// A table of V rows: position (b, t) of (B, T) takes the row of its id, or row t. Its gradient is written or added to.
struct EmbeddingTableShape {
    std::int64_t V = 0;
    bool has_ids = true;
    Accumulate accumulate = Accumulate::no;

    // At most: the ids are not looked at. A row counts once, however many positions take it.
    std::int64_t taken_rows(std::int64_t B, std::int64_t T) const { return has_ids ? std::min(V, B * T) : T; }
};
using EmbeddingTableShapes = FewTables<EmbeddingTableShape>;

inline Work embedding_forward_work(const EmbeddingTableShapes& tables, std::int64_t B, std::int64_t T, std::int64_t C) {
    Work work{product(tables.count - 1, B, T, C)};
    work.reals = product(B, T, C);
    for (int i = 0; i < tables.count; ++i) {
        work.reals += product(tables[i].taken_rows(B, T), C);
        work.other += index_bytes(B * T, tables[i].has_ids);
    }
    return work;
}

// A buffer that is added to is touched only in the taken rows; otherwise the others are zeroed.
inline Work embedding_backward_work(const EmbeddingTableShapes& gradients, std::int64_t B, std::int64_t T,
                                    std::int64_t C) {
    Work work{product(gradients.count, B, T, C)};
    work.reals = product(B, T, C);
    for (int i = 0; i < gradients.count; ++i) {
        const EmbeddingTableShape& table = gradients[i];
        const std::int64_t rows = table.accumulate == Accumulate::yes ? table.taken_rows(B, T) : table.V;
        work.sums += written(product(rows, C), table.accumulate);
        work.other += index_bytes(B * T, table.has_ids);
    }
    return work;
}

// ---- head loss ----
// Rows without a target cost no product and are not read; their losses and gradients are zeroed. The softmax is not
// counted: it is small beside products of C columns.

// The logits, and the gradients of rows and of the weight.
inline Work head_loss_train_work(std::int64_t rows, std::int64_t target_rows, std::int64_t C, std::int64_t V,
                                 bool has_bias, Accumulate accumulate) {
    const double bias = has_bias ? product(V) : 0;
    Work work{3 * linear_flops(target_rows, C, V)};
    work.reals = product(target_rows, C) + product(rows, C) + product(V, C) + bias;
    work.sums = product(rows) + written(product(V, C) + bias, accumulate);
    work.other = index_bytes(rows, true);
    return work;
}

inline Work head_loss_work(std::int64_t rows, std::int64_t target_rows, std::int64_t C, std::int64_t V, bool has_bias,
                           bool has_greedy) {
    Work work{linear_flops(target_rows, C, V)};
    work.reals = product(target_rows, C) + product(V, C) + (has_bias ? product(V) : 0);
    work.sums = product(rows);
    work.other = index_bytes(rows, true) + index_bytes(rows, has_greedy);
    return work;
}

// ---- token selection and importance ----

// For rows of T positions, of which K are kept; layers and samples: how many their ids name.
inline Work select_random_tokens_work(std::int64_t layers, std::int64_t B, std::int64_t K, bool is_padded) {
    Work work;
    work.other = index_bytes(layers * B * K, true) + index_bytes(layers, true) + product(B, sizeof(std::int64_t)) +
                 index_bytes(B, is_padded);
    return work;
}

inline Work select_important_tokens_work(std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t V, bool is_padded,
                                         bool is_packed) {
    Work work;
    work.other = index_bytes(B * K, true) + index_bytes(B * T, true) + product(V, sizeof(float)) +
                 index_bytes(B, is_padded) + index_bytes(B, is_packed);
    return work;
}

// rows: kept ones of all samples.
inline Work pack_kept_tokens_work(std::int64_t layers, std::int64_t B, std::int64_t K, std::int64_t rows) {
    Work work;
    work.other =
        index_bytes(layers * B * K, true) + 2 * index_bytes(layers * rows, true) + 2 * index_bytes(B + 1, true);
    return work;
}

inline Work add_entry_losses_work(std::int64_t n, std::int64_t V, Accumulate accumulate) {
    Work work;
    work.sums = product(n);
    work.other = index_bytes(n, true) + written(product(2, V, sizeof(std::int64_t)), accumulate);
    return work;
}

inline Work update_importance_work(std::int64_t V) {
    Work work;
    work.other = product(2, V, sizeof(float)) + product(2, V, sizeof(std::int64_t)) + product(2, sizeof(double));
    return work;
}

// ---- experts ----
// N rows that choose k of E experts each; slots: rows grouped by expert, k N at most.

// Inputs that mark the real rows and key their draws.
inline double routed_rows_bytes(std::int64_t B, bool is_padded, bool is_packed, bool draws) {
    return index_bytes(B, is_padded) + index_bytes(B + 1, is_packed) + (draws ? product(B, sizeof(std::int64_t)) : 0);
}

inline Work gate_logits_work(std::int64_t N, std::int64_t C, std::int64_t E, bool has_bias) {
    Work work{linear_flops(N, C, E)};
    work.reals = product(N, C);
    work.sums = product(N, E) + product(E, C) + (has_bias ? product(E) : 0);
    return work;
}

inline Work gate_backward_input_work(std::int64_t N, std::int64_t C, std::int64_t E, Accumulate accumulate) {
    Work work{linear_flops(N, C, E)};
    work.reals = written(product(N, C), accumulate);
    work.sums = product(N, E) + product(E, C);
    return work;
}

inline Work gate_backward_weight_work(std::int64_t N, std::int64_t C, std::int64_t E, bool has_bias,
                                      Accumulate accumulate) {
    Work work{linear_flops(N, C, E)};
    work.reals = product(N, C);
    work.sums = product(N, E) + written(product(E, C) + (has_bias ? product(E) : 0), accumulate);
    return work;
}

// rows_bytes, here and below: routed_rows_bytes.
inline Work jitter_rows_work(std::int64_t N, std::int64_t C, bool has_residual, double rows_bytes) {
    Work work{product(has_residual ? 2 : 1, N, C)};
    work.reals = product(has_residual ? 3 : 2, N, C);
    work.other = rows_bytes;
    return work;
}

// An exponential, a sum, a difference and a product a logit; and the comparisons.
inline Work route_work(std::int64_t N, std::int64_t E, std::int64_t k, double rows_bytes) {
    Work work{product(4 + k, N, E)};
    work.sums = product(2, N, E) + product(N);
    work.other = index_bytes(N * k, true) + rows_bytes;
    return work;
}

inline Work place_choices_work(std::int64_t N, std::int64_t E, std::int64_t k, double rows_bytes) {
    Work work;
    work.other = index_bytes(E + 1 + 3 * N * k, true) + rows_bytes;
    return work;
}

inline Work gate_weights_work(std::int64_t N, std::int64_t E, std::int64_t k) {
    Work work{product(k == 1 ? 0 : 2, N, k)};
    work.sums = product(N, E) + product(N, k);
    work.other = index_bytes(2 * N * k, true);
    return work;
}

inline Work gate_losses_work(std::int64_t N, std::int64_t E, std::int64_t k) {
    Work work{product(4, N, E)};
    work.sums = product(2, N, E) + product(N) + 3;
    work.other = index_bytes(N * k + E + 1, true);
    return work;
}

inline Work sum_routing_work(std::int64_t E, Accumulate accumulate) {
    Work work{product(2, E)};
    work.sums = 3;
    work.other = index_bytes(2 * E + 2, true) + 8.0 * product(accumulate == Accumulate::yes ? 2 : 1, 2 * E + 1 + 3);
    return work;
}

inline Work gate_backward_work(std::int64_t N, std::int64_t E, std::int64_t k) {
    Work work{product(8, N, E)};
    work.sums = product(2, N, E) + product(N, k);
    work.other = index_bytes(2 * N * k + E + 1, true);
    return work;
}

inline Work combine_rows_work(std::int64_t N, std::int64_t k, std::int64_t C, std::int64_t slots, bool has_weight) {
    Work work{product(has_weight ? 2 : 1, slots, C)};
    work.reals = product(N + slots, C);
    work.sums = product(has_weight ? k : 0, N);
    work.other = index_bytes(N * k, true);
    return work;
}

inline Work combine_backward_work(std::int64_t N, std::int64_t k, std::int64_t C, std::int64_t slots) {
    Work work{product(3, slots, C)};
    work.reals = product(N + 2 * slots, C);
    work.sums = product(2, N, k);
    work.other = index_bytes(N * k, true);
    return work;
}

inline Work mix_rows_work(std::int64_t N, std::int64_t C) {
    Work work{product(3, N, C)};
    work.reals = product(3, N, C);
    work.sums = product(2, N);
    return work;
}

inline Work mix_backward_work(std::int64_t N, std::int64_t C) {
    Work work{product(5, N, C)};
    work.reals = product(5, N, C);
    work.sums = product(4, N);
    return work;
}

// A linear layer of E experts differs from one of as many rows by its weights.
inline Work grouped_linear_forward_work(std::int64_t slots, std::int64_t E, std::int64_t in, std::int64_t out,
                                        bool has_bias, bool keeps_pre) {
    Work work = linear_forward_work(slots, in, out, has_bias, keeps_pre);
    work.reals += product(E - 1, in + (has_bias ? 1 : 0), out);
    work.other = index_bytes(E + 1, true);
    return work;
}

inline Work grouped_linear_backward_input_work(std::int64_t slots, std::int64_t E, std::int64_t in, std::int64_t out,
                                               bool reads_pre) {
    Work work = linear_backward_input_work(slots, in, out, reads_pre, Accumulate::no);
    work.reals += product(E - 1, in, out);
    work.other = index_bytes(E + 1, true);
    return work;
}

inline Work grouped_linear_backward_weight_work(std::int64_t slots, std::int64_t E, std::int64_t in, std::int64_t out,
                                                bool has_bias, Accumulate accumulate) {
    Work work = linear_backward_weight_work(slots, in, out, has_bias, accumulate);
    work.sums += written(product(E - 1, in + (has_bias ? 1 : 0), out), accumulate);
    work.other = index_bytes(E + 1, true);
    return work;
}

// ---- value loss ----

inline Work value_loss_work(std::int64_t B, std::int64_t C) {
    Work work{2 * product(B, C)};
    work.reals = product(B, C) + product(C) + 1;
    work.sums = 2 * product(B);
    work.other = 4 * product(B);  // targets
    return work;
}

// Gradients of the values, the rows and the weight.
inline Work value_loss_train_work(std::int64_t B, std::int64_t C, Accumulate accumulate) {
    Work work = value_loss_work(B, C);
    work.flops += 3 * product(B, C);
    work.reals += product(B, C);
    work.sums += written(product(C) + 1, accumulate);
    return work;
}

// ---- optimizer ----

inline Work sum_of_squares_work(std::int64_t n, Accumulate accumulate) {
    Work work{2 * product(n)};
    work.sums = product(n);
    work.other = written(sizeof(double), accumulate);
    return work;
}

inline Work square_root_work() {
    Work work{1};
    work.other = product(2, sizeof(double));
    return work;
}

// moment_bytes: of one stored moment.
inline Work adamw_update_work(std::int64_t n, bool keeps_rounded, std::int64_t moment_bytes) {
    Work work{15 * product(n)};
    work.sums = product(3, n);  // param read and written, grad read
    work.other = product(4 * moment_bytes, n) + product(keeps_rounded ? 2 : 0, n) + product(2, sizeof(double));
    return work;
}

inline Work sgd_update_work(std::int64_t n, bool keeps_rounded, std::int64_t moment_bytes) {
    Work work{7 * product(n)};
    work.sums = product(3, n);  // param read and written, grad read
    work.other = product(2 * moment_bytes, n) + product(keeps_rounded ? 2 : 0, n) + product(2, sizeof(double));
    return work;
}

inline Work sum_work(std::int64_t n, Accumulate accumulate) {
    Work work{product(n)};
    work.sums = product(n);
    work.other = written(sizeof(double), accumulate);
    return work;
}

inline Work round_to_work(std::int64_t n) {
    Work work;
    work.reals = product(n);
    work.sums = product(n);
    return work;
}

// ---- sums over ranks ----

// A rank's own row of what the others sent is not read.
inline Work sum_ranks_work(std::int64_t n, int ranks, std::int64_t value_bytes) {
    Work work{product(n, ranks - 1)};
    work.other = product(n, ranks + 1, value_bytes);
    return work;
}

}  // namespace deft::kernels
