#pragma once
// Training apart from layers: the optimizer, the selection of tokens and their importance.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/bf16.h"
#include "kernels/entry_loss.h"
#include "kernels/reference/exec.h"
#include "kernels/stochastic_rounding.h"
#include "kernels/token_keys.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

template <class Real>
void sum_of_squares(Exec&, double* total, const Real* x, std::int64_t n, Accumulate accumulate) {
    double squares = 0;
    for (std::int64_t i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    total[0] = accumulate == Accumulate::yes ? total[0] + squares : squares;
}

inline std::size_t sum_of_squares_workspace(std::int64_t) {
    return 0;
}

inline void square_root(Exec&, double* x) {
    x[0] = std::sqrt(x[0]);
}

// Loshchilov & Hutter 2019, algorithm 2, with the decay multiplied by the learning rate; gradients are first clipped by
// their global norm (Pascanu et al. 2013, algorithm 1). Nothing is written when norm[0] or loss[0] is not finite.
template <class Real, class Moment>
void adamw_update(Exec&, Real* param, bf16* rounded, Moment* m, Moment* v, const Real* grad, const double* norm,
                  const double* loss, std::int64_t n, const AdamW& adamw) {
    if (!std::isfinite(norm[0]) || !std::isfinite(loss[0])) return;
    const bool clips = adamw.max_grad_norm > 0 && norm[0] > adamw.max_grad_norm;
    const Real clip = clips ? Real(adamw.max_grad_norm / norm[0]) : Real(1);
    const AdamWRates rates = adamw.rates.get();
    const Real mean_scale = Real(rates.mean_scale), square_scale = Real(rates.square_scale);
    const Real beta1 = Real(adamw.beta1), beta2 = Real(adamw.beta2), eps = Real(adamw.eps);
    const Real decay = Real(rates.lr * adamw.weight_decay);
    for (std::int64_t i = 0; i < n; ++i) {
        const std::uint32_t random = moment_bits(rates.step, static_cast<float>(param[i]), static_cast<float>(grad[i]));
        const Real g = clip * grad[i];
        const Real mean = beta1 * to_float(m[i]) + (1 - beta1) * g;
        const Real square = beta2 * to_float(v[i]) + (1 - beta2) * g * g;
        m[i] = stored_moment<Moment>(mean, random);
        v[i] = stored_moment<Moment>(square, random >> 16);
        param[i] -= mean_scale * mean / (std::sqrt(square_scale * square) + eps) + decay * param[i];
        if (rounded != nullptr) rounded[i] = to_bf16(static_cast<float>(param[i]));
    }
}

// torch.optim.SGD without dampening and Nesterov: the decay is a part of the gradient, and m (n), from 0 on, its
// momentum. Clipped, and left alone, as above.
template <class Real, class Moment>
void sgd_update(Exec&, Real* param, bf16* rounded, Moment* m, const Real* grad, const double* norm, const double* loss,
                std::int64_t n, const Sgd& sgd) {
    if (!std::isfinite(norm[0]) || !std::isfinite(loss[0])) return;
    const bool clips = sgd.max_grad_norm > 0 && norm[0] > sgd.max_grad_norm;
    const Real clip = clips ? Real(sgd.max_grad_norm / norm[0]) : Real(1);
    const SgdRates rates = sgd.rates.get();
    const Real lr = Real(rates.lr), momentum = Real(sgd.momentum), weight_decay = Real(sgd.weight_decay);
    for (std::int64_t i = 0; i < n; ++i) {
        const std::uint32_t random = moment_bits(rates.step, static_cast<float>(param[i]), static_cast<float>(grad[i]));
        const Real g = clip * grad[i] + weight_decay * param[i];
        const Real sum = momentum * to_float(m[i]) + g;
        m[i] = stored_moment<Moment>(sum, random);
        param[i] -= lr * sum;
        if (rounded != nullptr) rounded[i] = to_bf16(static_cast<float>(param[i]));
    }
}

// to (n) = from (n), in the type of activations.
template <class Real>
void round_to(Exec&, Real* to, const Sum<Real>* from, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
}

template <class Real>
void sum(Exec&, double* total, const Real* x, std::int64_t n, Accumulate accumulate) {
    double all = 0;
    for (std::int64_t i = 0; i < n; ++i) all += static_cast<double>(x[i]);
    total[0] = accumulate == Accumulate::yes ? total[0] + all : all;
}

template <class Keys>
void select_kept_tokens(Exec&, std::int32_t* index, const Keys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K) {
    for (std::int64_t row = 0; row < rows; ++row) {
        const typename Keys::Row of_row = keys.row(row, T);
        std::vector<std::pair<std::uint32_t, std::int32_t>> keyed;
        for (std::int64_t t = 0; t < T; ++t) keyed.emplace_back(of_row[t], static_cast<std::int32_t>(t));
        std::sort(keyed.begin(), keyed.end());
        std::int32_t* kept = index + row * K;
        for (std::int64_t k = 0; k < K; ++k) kept[k] = keyed[static_cast<std::size_t>(k)].second;
        std::sort(kept, kept + K);
    }
}

inline std::size_t select_kept_tokens_workspace(int, std::int64_t) {
    return 0;
}

// Kept rows of packed samples: the first of kept (layers, B, K), as many as sample b has kept rows.
inline void pack_kept_tokens(Exec&, std::int32_t* index, std::int32_t* position, const std::int32_t* kept,
                             const std::int32_t* start, const std::int32_t* kept_start, std::int64_t layers,
                             std::int64_t B, std::int64_t K, std::int64_t) {
    for (std::int64_t layer = 0; layer < layers; ++layer)
        for (std::int64_t b = 0; b < B; ++b) {
            const std::int32_t* of_sample = kept + (layer * B + b) * K;
            for (std::int32_t k = 0; k < kept_start[b + 1] - kept_start[b]; ++k) {
                *position++ = of_sample[k];
                *index++ = start[b] + of_sample[k];
            }
        }
}

template <class Real>
void add_entry_losses(Exec&, std::int64_t* loss_sum, std::int64_t* count, const Real* loss, const std::int32_t* target,
                      std::int64_t n, std::int64_t V, Accumulate accumulate) {
    if (accumulate == Accumulate::no) {
        std::fill_n(loss_sum, V, 0);
        std::fill_n(count, V, 0);
    }
    for (std::int64_t i = 0; i < n; ++i) {
        if (target[i] < 0 || target[i] >= V) continue;
        loss_sum[target[i]] += fixed_point_loss(static_cast<double>(loss[i]));
        count[target[i]] += 1;
    }
}

inline void update_importance(Exec&, float* importance, const std::int64_t* loss_sum, const std::int64_t* count,
                              const double* norm, const double* loss, std::int64_t V, double decay) {
    if (!std::isfinite(norm[0]) || !std::isfinite(loss[0])) return;
    for (std::int64_t v = 0; v < V; ++v) importance[v] = moved_importance(importance[v], loss_sum[v], count[v], decay);
}

}  // namespace deft::kernels::reference
