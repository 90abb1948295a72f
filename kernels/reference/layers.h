#pragma once
// The layers of a model, as their papers define them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/embedding_tables.h"
#include "kernels/reference/activation.h"
#include "kernels/reference/exec.h"
#include "kernels/require_attention.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

// The dot product of all matrix products. Eight partial sums: one chain of additions would wait for each, and
// benchmarks check large products.
template <class Real>
Real dot(const Real* a, const Real* b, std::int64_t n) {
    constexpr std::int64_t kParts = 8;
    Real part[kParts] = {};
    std::int64_t i = 0;
    for (; i + kParts <= n; i += kParts)
        for (std::int64_t j = 0; j < kParts; ++j) part[j] += a[i + j] * b[i + j];
    Real sum = 0;
    for (; i < n; ++i) sum += a[i] * b[i];
    for (const Real p : part) sum += p;
    return sum;
}

template <class Real>
Real log_sum_exp(const std::vector<Real>& logits) {
    const Real highest = *std::max_element(logits.begin(), logits.end());
    Real sum = 0;
    for (const Real logit : logits) sum += std::exp(logit - highest);
    return highest + std::log(sum);
}

// Linear layers.

template <class Real>
void linear_forward(Exec&, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias, std::int64_t rows,
                    std::int64_t in, std::int64_t out, Activation act) {
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t o = 0; o < out; ++o) {
            const Real z = (bias == nullptr ? Real(0) : bias[o]) + dot(x + r * in, w + o * in, in);
            if (pre != nullptr) pre[r * out + o] = z;
            y[r * out + o] = activate(act, z);
        }
}

template <class Real>
void linear_backward_input(Exec&, Real* dx, const Real* dy, const Real* w, const Real* pre, std::int64_t rows,
                           std::int64_t in, std::int64_t out, Activation act, Accumulate accumulate) {
    std::vector<Real> row(static_cast<std::size_t>(in));
    for (std::int64_t r = 0; r < rows; ++r) {
        std::fill(row.begin(), row.end(), Real(0));
        for (std::int64_t o = 0; o < out; ++o)
            for (std::int64_t i = 0; i < in; ++i) row[static_cast<std::size_t>(i)] += dy[r * out + o] * w[o * in + i];
        for (std::int64_t i = 0; i < in; ++i) {
            Real& value = dx[r * in + i];
            Real gradient = row[static_cast<std::size_t>(i)];
            if (act != Activation::none) gradient *= activation_derivative(act, pre[r * in + i]);
            value = accumulate == Accumulate::yes ? value + gradient : gradient;
        }
    }
}

inline std::size_t linear_backward_input_workspace(int, std::int64_t, std::int64_t, Activation, Accumulate) {
    return 0;
}

template <class Real>
void linear_backward_weight(Exec&, Real* dw, Real* dbias, const Real* dy, const Real* x, std::int64_t rows,
                            std::int64_t in, std::int64_t out, Accumulate accumulate) {
    for (std::int64_t i = 0; accumulate == Accumulate::no && i < out * in; ++i) dw[i] = 0;
    for (std::int64_t o = 0; accumulate == Accumulate::no && dbias != nullptr && o < out; ++o) dbias[o] = 0;
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t o = 0; o < out; ++o) {
            const Real dy_ro = dy[r * out + o];
            for (std::int64_t i = 0; i < in; ++i) dw[o * in + i] += dy_ro * x[r * in + i];
            if (dbias != nullptr) dbias[o] += dy_ro;
        }
}

inline std::size_t linear_backward_weight_workspace(std::int64_t, std::int64_t, std::int64_t) {
    return 0;
}

// Layer and RMS normalisation with residual and row-index forms.

// The stream row that corresponds to row i of (B, K).
inline std::int64_t stream_row(const std::int32_t* index, std::int64_t i, std::int64_t T, std::int64_t K) {
    return index == nullptr ? i : i / K * T + index[i];
}

// n (C) = (x - mean) rstd with rstd = 1 / sqrt(mean((x - mean)^2) + eps). The mean is x's for layer normalisation (Ba
// et al. 2016, equations 3 and 4), 0 for RMS normalisation (Zhang & Sennrich 2019, equation 4). y (C) = n weight +
// bias; the latter has no bias.
template <class Real>
void normalise_row(Real* y, Real& mean, Real& rstd, const Real* x, const Real* weight, const Real* bias, std::int64_t C,
                   const NormSpec& spec) {
    Real total = 0;
    for (std::int64_t c = 0; c < C; ++c) total += x[c];
    mean = spec.kind == NormKind::layer ? total / Real(C) : Real(0);
    Real squares = 0;
    for (std::int64_t c = 0; c < C; ++c) squares += (x[c] - mean) * (x[c] - mean);
    rstd = 1 / std::sqrt(squares / Real(C) + Real(spec.eps));
    for (std::int64_t c = 0; c < C; ++c)
        y[c] = (x[c] - mean) * rstd * weight[c] + (spec.kind == NormKind::layer ? bias[c] : Real(0));
}

// Row `row` of y (rows, C) and of the statistics (rows); mean null for RMS normalisation.
template <class Real>
void normalise_row(Real* y, Real* mean, Real* rstd, std::int64_t row, const Real* x, const Real* weight,
                   const Real* bias, std::int64_t C, const NormSpec& spec) {
    Real row_mean = 0;
    normalise_row(y + row * C, row_mean, rstd[row], x, weight, bias, C, spec);
    if (spec.kind == NormKind::layer) mean[row] = row_mean;
}

template <class Real>
void norm_forward(Exec&, Real* y, Real* gathered, Real* mean, Real* rstd, const Real* stream, const std::int32_t* index,
                  const Real* weight, const Real* bias, std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C,
                  const NormSpec& spec) {
    for (std::int64_t i = 0; i < B * K; ++i) {
        const Real* x = stream + stream_row(index, i, T, K) * C;
        for (std::int64_t c = 0; gathered != nullptr && c < C; ++c) gathered[i * C + c] = x[c];
        normalise_row(y, mean, rstd, i, x, weight, bias, C, spec);
    }
}

template <class Real>
void residual_norm_forward(Exec&, Real* y, Real* sum, Real* mean, Real* rstd, const Real* a, const Real* delta,
                           const Real* weight, const Real* bias, std::int64_t rows, std::int64_t C,
                           const NormSpec& spec) {
    for (std::int64_t i = 0; i < rows * C; ++i) sum[i] = a[i] + delta[i];
    for (std::int64_t r = 0; r < rows; ++r) normalise_row(y, mean, rstd, r, sum + r * C, weight, bias, C, spec);
}

template <class Real>
void residual_forward(Exec&, Real* out, const std::int32_t* index, const Real* a, const Real* delta, std::int64_t B,
                      std::int64_t T, std::int64_t K, std::int64_t C) {
    for (std::int64_t i = 0; i < B * K; ++i)
        for (std::int64_t c = 0; c < C; ++c)
            out[stream_row(index, i, T, K) * C + c] = a[i * C + c] + (delta != nullptr ? delta[i * C + c] : 0);
}

// With n = (x - mean) rstd, mean and rstd functions of x, and g = dy weight, the chain rule gives
// dx = dresidual + rstd (g - mean(g) - n mean(g n)), dweight = sum dy n, dbias = sum dy. Without a mean its term
// mean(g) falls away.
template <class Real>
void norm_backward(Exec&, Real* dx, const std::int32_t* index, Real* dweight, Real* dbias, const Real* dy,
                   const Real* dresidual, const Real* x, const Real* mean, const Real* rstd, const Real* weight,
                   std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C, Accumulate accumulate,
                   const NormSpec& spec) {
    const bool is_layer = spec.kind == NormKind::layer;
    for (std::int64_t c = 0; accumulate == Accumulate::no && c < C; ++c) dweight[c] = 0;
    for (std::int64_t c = 0; accumulate == Accumulate::no && is_layer && c < C; ++c) dbias[c] = 0;
    std::vector<Real> n(static_cast<std::size_t>(C)), g(static_cast<std::size_t>(C));
    for (std::int64_t i = 0; i < B * K; ++i) {
        Real g_mean = 0, gn_mean = 0;
        for (std::int64_t c = 0; c < C; ++c) {
            const auto at = static_cast<std::size_t>(c);
            n[at] = (x[i * C + c] - (is_layer ? mean[i] : Real(0))) * rstd[i];
            g[at] = dy[i * C + c] * weight[c];
            if (is_layer) g_mean += g[at] / Real(C);
            gn_mean += g[at] * n[at] / Real(C);
            dweight[c] += dy[i * C + c] * n[at];
            if (is_layer) dbias[c] += dy[i * C + c];
        }
        for (std::int64_t c = 0; c < C; ++c) {
            const auto at = static_cast<std::size_t>(c);
            const Real residual = dresidual == nullptr ? Real(0) : dresidual[i * C + c];
            dx[stream_row(index, i, T, K) * C + c] = residual + rstd[i] * (g[at] - g_mean - n[at] * gn_mean);
        }
    }
}

inline std::size_t norm_backward_workspace(std::int64_t, std::int64_t) {
    return 0;
}

template <class Real>
void gather_rows(Exec&, Real* out, const Real* stream, const std::int32_t* index, std::int64_t B, std::int64_t T,
                 std::int64_t K, std::int64_t C) {
    for (std::int64_t i = 0; i < B * K; ++i)
        for (std::int64_t c = 0; c < C; ++c) out[i * C + c] = stream[stream_row(index, i, T, K) * C + c];
}

// Scaled dot-product attention (Vaswani et al. 2017, equation 1), one row at a time, with keys and values shared by
// groups of heads (Ainslie et al. 2023, section 2.2).

// Vector h of position t of sample b.
template <class Real>
Real* head_vector(const HeadRows<Real>& rows, const AttentionSpec& s, std::int64_t b, std::int64_t t, std::int64_t h) {
    if (s.start != nullptr) return rows.data + (s.start[b] + t) * rows.row_stride + h * s.d;
    return rows.data + b * rows.sample_stride + t * rows.row_stride + h * s.d;
}
// The same vector of an output (B, Tq, H, d), or of packed rows.
template <class Real>
Real* output_vector(Real* out, const AttentionSpec& s, std::int64_t b, std::int64_t t, std::int64_t h) {
    return head_vector(HeadRows<Real>{out, s.H * s.d, s.Tq * s.H * s.d}, s, b, t, h);
}

// Dropout factor of the probability of head h, query t and key s: 0 or 1 / (1 - p).
template <class Real>
Real dropout_factor(const AttentionDropout& dropout, std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t s) {
    if (dropout.p == 0) return 1;
    const PhiloxBlock block = dropout.block(b, h, t, AttentionDropout::block_of(s));
    const bool dropped = block.word[s / AttentionDropout::kApart % 4] < dropout.threshold();
    return dropped ? Real(0) : 1 / (1 - Real(dropout.p));
}

// The scaled scores of head h of query t: (Tk), minus infinity where the key is not seen.
template <class Real>
std::vector<Real> attention_scores(const AttentionHeads<const Real>& in, const AttentionSpec& s, std::int64_t b,
                                   std::int64_t h, std::int64_t t) {
    std::vector<Real> score(static_cast<std::size_t>(s.Tk), -std::numeric_limits<Real>::infinity());
    for (std::int64_t key = 0; key < s.real(b, s.Tk); ++key)
        if (s.sees(t, key))
            score[static_cast<std::size_t>(key)] =
                dot(head_vector(in.q, s, b, t, h), head_vector(in.k, s, b, key, h / s.group()), s.d) /
                std::sqrt(Real(s.d));
    return score;
}

template <class Real>
void attention_forward(Exec&, Real* out, Real* lse, const AttentionHeads<const Real>& in, const AttentionSpec& s) {
    require_attention(s);
    for (std::int64_t b = 0; b < s.B; ++b)
        for (std::int64_t h = 0; h < s.H; ++h)
            for (std::int64_t t = 0; t < s.Tq; ++t) {
                Real& row_lse = lse[(b * s.H + h) * s.Tq + t];
                row_lse = 0;
                if (t >= s.rows(b, s.Tq)) continue;
                Real* o = output_vector(out, s, b, t, h);
                for (std::int64_t i = 0; i < s.d; ++i) o[i] = 0;
                if (t >= s.real(b, s.Tq)) continue;
                const std::vector<Real> score = attention_scores(in, s, b, h, t);
                row_lse = log_sum_exp(score);
                for (std::int64_t key = 0; key < s.Tk; ++key) {
                    const Real p = std::exp(score[static_cast<std::size_t>(key)] - row_lse);
                    if (p == 0) continue;
                    const Real weight = p * dropout_factor<Real>(s.dropout, b, h, t, key);
                    const Real* v = head_vector(in.v, s, b, key, h / s.group());
                    for (std::int64_t i = 0; i < s.d; ++i) o[i] += weight * v[i];
                }
            }
}

inline std::size_t attention_forward_workspace(int, std::int64_t, std::int64_t) {
    return 0;
}

// Dao 2023, FlashAttention-2, section 2.2: with p = exp(s - lse) and delta = dout . out, dv += p m dout,
// dp = m dout . v, ds = p (dp - delta), dq += scale ds k, dk += scale ds q.
template <class Real>
void attention_backward(Exec&, const AttentionHeads<Real>& gradients, const Real* dout, const Real* out,
                        const AttentionHeads<const Real>& in, const Real* lse, const AttentionSpec& s) {
    require_attention(s);
    const Real scale = 1 / std::sqrt(Real(s.d));
    const auto clear = [&](const HeadRows<Real>& rows, std::int64_t T, std::int64_t heads) {
        for (std::int64_t b = 0; b < s.B; ++b)
            for (std::int64_t t = 0; t < s.rows(b, T); ++t)
                for (std::int64_t i = 0; i < heads * s.d; ++i) head_vector(rows, s, b, t, 0)[i] = 0;
    };
    clear(gradients.q, s.Tq, s.H);
    clear(gradients.k, s.Tk, s.Hkv);
    clear(gradients.v, s.Tk, s.Hkv);
    for (std::int64_t b = 0; b < s.B; ++b)
        for (std::int64_t h = 0; h < s.H; ++h)
            for (std::int64_t t = 0; t < s.real(b, s.Tq); ++t) {
                const Real* dout_row = output_vector(dout, s, b, t, h);
                const Real delta = dot(dout_row, output_vector(out, s, b, t, h), s.d);
                const std::vector<Real> score = attention_scores(in, s, b, h, t);
                for (std::int64_t key = 0; key < s.Tk; ++key) {
                    const Real p = std::exp(score[static_cast<std::size_t>(key)] - lse[(b * s.H + h) * s.Tq + t]);
                    if (p == 0) continue;
                    const std::int64_t of_keys = h / s.group();
                    const Real m = dropout_factor<Real>(s.dropout, b, h, t, key);
                    const Real ds = p * (m * dot(dout_row, head_vector(in.v, s, b, key, of_keys), s.d) - delta);
                    const Real *q = head_vector(in.q, s, b, t, h), *k = head_vector(in.k, s, b, key, of_keys);
                    Real *dq = head_vector(gradients.q, s, b, t, h), *dk = head_vector(gradients.k, s, b, key, of_keys);
                    Real* dv = head_vector(gradients.v, s, b, key, of_keys);
                    for (std::int64_t i = 0; i < s.d; ++i) {
                        dv[i] += p * m * dout_row[i];
                        dq[i] += scale * ds * k[i];
                        dk[i] += scale * ds * q[i];
                    }
                }
            }
}

inline std::size_t attention_backward_workspace(int, std::int64_t, std::int64_t) {
    return 0;
}

// Sums of embeddings: tokens and positions (Radford et al. 2018, section 3.1: h0 = U We + Wp), and segments (Devlin et
// al. 2019, section 3).

// The row of a table that the i-th position of (B, T) takes. Errors: config, for a row that the table lacks.
inline std::int64_t embedding_row(const std::int32_t* id, std::int64_t V, std::int64_t i, std::int64_t T) {
    const std::int64_t row = id == nullptr ? i % T : id[i];
    if (row < 0 || row >= V)
        throw Error(ErrorKind::config,
                    "id " + std::to_string(row) + " is outside an embedding table of " + std::to_string(V) + " rows");
    return row;
}

template <class Real>
void embedding_forward(Exec&, Real* out, const EmbeddingTables<Real>& tables, std::int64_t B, std::int64_t T,
                       std::int64_t C) {
    for (std::int64_t i = 0; i < B * T; ++i)
        for (int table = 0; table < tables.count; ++table) {
            const Real* row = tables[table].weight + embedding_row(tables[table].id, tables[table].V, i, T) * C;
            for (std::int64_t c = 0; c < C; ++c) out[i * C + c] = (table == 0 ? Real(0) : out[i * C + c]) + row[c];
        }
}

template <class Real>
void embedding_backward(Exec&, const EmbeddingGradients<Real>& gradients, const Real* dout, std::int64_t B,
                        std::int64_t T, std::int64_t C) {
    for (int table = 0; table < gradients.count; ++table) {
        const EmbeddingGradient<Real>& gradient = gradients[table];
        for (std::int64_t i = 0; gradient.accumulate == Accumulate::no && i < gradient.V * C; ++i)
            gradient.weight[i] = 0;
        for (std::int64_t i = 0; i < B * T; ++i) {
            Real* row = gradient.weight + embedding_row(gradient.id, gradient.V, i, T) * C;
            for (std::int64_t c = 0; c < C; ++c) row[c] += dout[i * C + c];
        }
    }
}

// The language-model head and its cross-entropy (Goodfellow et al. 2016, section 6.2.2.3), one row at a time.

// logits (V) of one row x (C) under w (V, C) and bias (V) or null. Errors: config, for a target that is neither a token
// nor ignored.
template <class Real>
void row_logits(std::vector<Real>& logits, const Real* x, const Real* w, const Real* bias, std::int32_t target,
                std::int64_t C, std::int64_t V) {
    if (target != kIgnoreTarget && (target < 0 || target >= V))
        throw Error(ErrorKind::config, "target " + std::to_string(target) + " lies outside the vocabulary");
    logits.resize(static_cast<std::size_t>(V));
    for (std::int64_t v = 0; v < V; ++v)
        logits[static_cast<std::size_t>(v)] = dot(x, w + v * C, C) + (bias == nullptr ? Real(0) : bias[v]);
}

// loss (rows) = lse(logits) - logits[target]; d loss / d logits = softmax(logits) - one-hot(target), so
// dx (rows, C) = scale dlogits W, dw (V, C) = or += scale dlogits^T x, dbias (V) or null = or += scale sums of dlogits.
template <class Real>
void head_loss_train(Exec&, Real* loss, Real* dx, Real* dw, Real* dbias, const Real* x, const Real* w, const Real* bias,
                     const std::int32_t* target, std::int64_t rows, std::int64_t, std::int64_t C, std::int64_t V,
                     StepValue<double> scale, Accumulate accumulate) {
    std::vector<Real> logits;
    for (std::int64_t i = 0; accumulate == Accumulate::no && i < V * C; ++i) dw[i] = 0;
    for (std::int64_t v = 0; accumulate == Accumulate::no && dbias != nullptr && v < V; ++v) dbias[v] = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
        row_logits(logits, x + r * C, w, bias, target[r], C, V);
        loss[r] = 0;
        for (std::int64_t c = 0; c < C; ++c) dx[r * C + c] = 0;
        if (target[r] == kIgnoreTarget) continue;
        const Real lse = log_sum_exp(logits);
        loss[r] = lse - logits[static_cast<std::size_t>(target[r])];
        for (std::int64_t v = 0; v < V; ++v) {
            const Real p = std::exp(logits[static_cast<std::size_t>(v)] - lse);
            const Real dlogit = Real(scale.get()) * (p - (v == target[r] ? Real(1) : Real(0)));
            if (dbias != nullptr) dbias[v] += dlogit;
            for (std::int64_t c = 0; c < C; ++c) {
                dx[r * C + c] += dlogit * w[v * C + c];
                dw[v * C + c] += dlogit * x[r * C + c];
            }
        }
    }
}

template <class Real>
void head_loss(Exec&, Real* loss, std::int32_t* greedy, const Real* x, const Real* w, const Real* bias,
               const std::int32_t* target, std::int64_t rows, std::int64_t, std::int64_t C, std::int64_t V) {
    std::vector<Real> logits;
    for (std::int64_t r = 0; r < rows; ++r) {
        row_logits(logits, x + r * C, w, bias, target[r], C, V);
        const bool ignored = target[r] == kIgnoreTarget;
        loss[r] = ignored ? Real(0) : log_sum_exp(logits) - logits[static_cast<std::size_t>(target[r])];
        if (greedy != nullptr)
            greedy[r] = !ignored && std::max_element(logits.begin(), logits.end()) - logits.begin() == target[r];
    }
}

inline std::size_t head_loss_workspace(std::int64_t, std::int64_t, std::int64_t) {
    return 0;
}

}  // namespace deft::kernels::reference
