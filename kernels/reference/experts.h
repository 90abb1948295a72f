#pragma once
// Layers of experts (Shazeer et al. 2017; Lepikhin et al. 2020; Fedus et al. 2021): a gate, places, and sums.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/expert_routing.h"
#include "kernels/reference/exec.h"
#include "kernels/reference/layers.h"

namespace deft::kernels::reference {

template <class Real>
void gate_logits(Exec& exec, Real* logits, const Real* x, const Real* w, const Real* bias, std::int64_t N,
                 std::int64_t C, std::int64_t E) {
    linear_forward<Real>(exec, logits, nullptr, x, w, bias, N, C, E, Activation::none);
}

template <class Real>
void gate_backward_input(Exec& exec, Real* dx, const Real* dlogits, const Real* w, std::int64_t N, std::int64_t C,
                         std::int64_t E, Accumulate accumulate) {
    linear_backward_input<Real>(exec, dx, dlogits, w, nullptr, N, C, E, Activation::none, accumulate);
}

template <class Real>
void gate_backward_weight(Exec& exec, Real* dw, Real* dbias, const Real* dlogits, const Real* x, std::int64_t N,
                          std::int64_t C, std::int64_t E, Accumulate accumulate) {
    linear_backward_weight(exec, dw, dbias, dlogits, x, N, C, E, accumulate);
}

template <class Real>
void jitter_rows(Exec&, Real* y, const Real* x, const Real* residual, const RoutedRows& rows, std::int64_t C,
                 double epsilon) {
    for (std::int64_t n = 0; n < rows.N; ++n)
        for (std::int64_t c = 0; c < C; ++c) {
            const Real value = x[n * C + c] * Real(jitter_factor(rows, rows.place(n), C, c, epsilon));
            y[n * C + c] = residual == nullptr ? value : residual[n * C + c] + value;
        }
}

template <class Real>
void route(Exec&, Real* prob, Real* lse, std::int32_t* expert, const Real* logits, const RoutedRows& rows,
           const RouteSpec& spec) {
    const std::int64_t E = spec.E, k = spec.k;
    for (std::int64_t n = 0; n < rows.N; ++n) {
        const RoutedRows::Place at = rows.place(n);
        const std::vector<Real> row(logits + n * E, logits + (n + 1) * E);
        lse[n] = at.is_real ? log_sum_exp(row) : Real(0);
        for (std::int64_t e = 0; e < E; ++e)
            prob[n * E + e] = at.is_real ? std::exp(row[static_cast<std::size_t>(e)] - lse[n]) : Real(0);
        std::vector<bool> is_chosen(static_cast<std::size_t>(E));
        for (std::int64_t j = 0; j < k; ++j) {
            std::int64_t best = -1;
            double highest = 0;
            for (std::int64_t e = 0; at.is_real && e < E; ++e) {
                const auto i = static_cast<std::size_t>(e);
                if (is_chosen[i]) continue;
                const double score = routing_score(rows, at, spec, j, e, static_cast<double>(row[i]));
                if (best >= 0 && !(score > highest)) continue;
                best = e;
                highest = score;
            }
            expert[n * k + j] = static_cast<std::int32_t>(best);
            if (best >= 0) is_chosen[static_cast<std::size_t>(best)] = true;
        }
    }
}

inline void place_choices(Exec&, std::int32_t* start, std::int32_t* row, std::int32_t* slot, const std::int32_t* expert,
                          const RoutedRows& rows, std::int64_t E, std::int64_t k, const CapacitySpec& spec) {
    const std::int64_t N = rows.N;
    const std::int64_t capacity = expert_capacity(spec, rows.real_rows(), E, k);
    std::int32_t used = 0;
    std::fill_n(slot, N * k, -1);
    for (std::int64_t e = 0; e < E; ++e) {
        struct Choice {
            std::uint32_t key;
            std::int64_t n, j;
        };
        std::vector<Choice> choices;
        for (std::int64_t j = 0; j < k; ++j)
            for (std::int64_t n = 0; n < N; ++n)
                if (expert[n * k + j] == e)
                    choices.push_back(
                        {spec.selects_at_random && spec.factor > 0 ? capacity_key(rows, n, k, j) : 0, n, j});
        if (spec.factor > 0 && static_cast<std::int64_t>(choices.size()) > capacity) {
            if (spec.selects_at_random)
                std::sort(choices.begin(), choices.end(),
                          [](const Choice& a, const Choice& b) { return a.key != b.key ? a.key < b.key : a.n < b.n; });
            choices.resize(static_cast<std::size_t>(capacity));
        }
        std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) { return a.n < b.n; });
        start[e] = used;
        for (const Choice& choice : choices) {
            row[used] = static_cast<std::int32_t>(choice.n);
            slot[choice.n * k + choice.j] = used++;
        }
    }
    start[E] = used;
    std::fill(row + used, row + N * k, 0);
}

template <class Real>
void gate_weights(Exec&, Real* weight, const Real* prob, const std::int32_t* expert, const std::int32_t* slot,
                  std::int64_t N, std::int64_t E, std::int64_t k) {
    for (std::int64_t n = 0; n < N; ++n) {
        Real sum = 0;
        for (std::int64_t j = 0; j < k; ++j) {
            weight[n * k + j] = slot[n * k + j] < 0 ? Real(0) : prob[n * E + expert[n * k + j]];
            sum += weight[n * k + j];
        }
        for (std::int64_t j = 0; k > 1 && j < k; ++j) weight[n * k + j] /= std::max(sum, Real(kLeastWeightSum));
    }
}

template <class Real>
void gate_losses(Exec&, Real* losses, std::int32_t* chosen, const Real* prob, const Real* lse, const Real* logits,
                 const std::int32_t* expert, std::int64_t N, std::int64_t E, std::int64_t k) {
    std::vector<Real> probability(static_cast<std::size_t>(E));
    std::fill_n(chosen, E + 1, 0);
    Real squares = 0, entropy = 0;
    for (std::int64_t n = 0; n < N; ++n) {
        if (expert[n * k] < 0) continue;
        ++chosen[E];
        for (std::int64_t j = 0; j < balanced_choices(k); ++j) ++chosen[expert[n * k + j]];
        squares += lse[n] * lse[n];
        for (std::int64_t e = 0; e < E; ++e) {
            const Real p = prob[n * E + e];
            probability[static_cast<std::size_t>(e)] += p;
            entropy -= p * (logits[n * E + e] - lse[n]);
        }
    }
    const Real rows = std::max<Real>(1, Real(chosen[E]));
    Real balance = 0;
    for (std::int64_t e = 0; e < E; ++e)
        balance += probability[static_cast<std::size_t>(e)] / rows * (Real(chosen[e]) / rows);
    losses[kBalanceLoss] = balance * Real(E) / Real(balanced_choices(k));
    losses[kZLoss] = squares / rows;
    losses[kGateEntropy] = entropy / rows;
}

template <class Real>
void sum_routing(Exec&, double* totals, const Real* losses, const std::int32_t* chosen, const std::int32_t* start,
                 std::int64_t E, double weight, Accumulate accumulate) {
    std::vector<double> own;
    for (std::int64_t e = 0; e < E; ++e) own.push_back(chosen[e]);
    for (std::int64_t e = 0; e < E; ++e) own.push_back(start[e + 1] - start[e]);
    own.push_back(chosen[E]);
    for (std::int64_t i = 0; i < kGateLosses; ++i) own.push_back(weight * static_cast<double>(losses[i]));
    for (std::size_t i = 0; i < own.size(); ++i) totals[i] = own[i] + (accumulate == Accumulate::yes ? totals[i] : 0);
}

template <class Real>
void gate_backward(Exec&, Real* dlogits, const Real* dweight, const Real* logits, const std::int32_t* expert,
                   const std::int32_t* slot, const std::int32_t* chosen, std::int64_t N, std::int64_t E, std::int64_t k,
                   double balance_scale, double z_scale) {
    const Real rows = Real(chosen[E]);
    for (std::int64_t n = 0; n < N; ++n) {
        if (expert[n * k] < 0) {
            std::fill_n(dlogits + n * E, E, Real(0));
            continue;
        }
        std::vector<Real> p(logits + n * E, logits + (n + 1) * E), dp(static_cast<std::size_t>(E));
        const Real lse = log_sum_exp(p);
        for (Real& value : p) value = std::exp(value - lse);
        Real kept = 0, mean = 0;  // the kept probabilities; the mean of dweight over them
        for (std::int64_t j = 0; j < k; ++j) {
            if (slot[n * k + j] < 0) continue;
            const Real of_choice = p[static_cast<std::size_t>(expert[n * k + j])];
            kept += of_choice;
            mean += dweight[n * k + j] * of_choice;
        }
        const bool is_least = kept < Real(kLeastWeightSum);
        const Real sum = is_least ? Real(kLeastWeightSum) : kept;
        for (std::int64_t j = 0; j < k; ++j) {
            if (slot[n * k + j] < 0) continue;
            Real& of_choice = dp[static_cast<std::size_t>(expert[n * k + j])];
            const Real d = dweight[n * k + j];
            of_choice = k == 1 ? d : is_least ? d / sum : (d - mean / sum) / sum;
        }
        Real along = 0;
        for (std::int64_t e = 0; e < E; ++e) {
            const auto i = static_cast<std::size_t>(e);
            dp[i] += Real(balance_scale) * Real(E) * Real(chosen[e]) / (rows * rows * Real(balanced_choices(k)));
            along += p[i] * dp[i];
        }
        for (std::int64_t e = 0; e < E; ++e) {
            const auto i = static_cast<std::size_t>(e);
            dlogits[n * E + e] = p[i] * (dp[i] - along + Real(z_scale) * 2 * lse / rows);
        }
    }
}

template <class Real>
void combine_rows(Exec&, Real* out, const Real* y, const Real* weight, const std::int32_t* slot, std::int64_t N,
                  std::int64_t k, std::int64_t C) {
    std::fill_n(out, N * C, Real(0));
    for (std::int64_t i = 0; i < N * k; ++i)
        for (std::int64_t c = 0; slot[i] >= 0 && c < C; ++c)
            out[i / k * C + c] += (weight == nullptr ? Real(1) : weight[i]) * y[slot[i] * C + c];
}

template <class Real>
void combine_backward(Exec&, Real* dy, Real* dweight, const Real* dout, const Real* y, const Real* weight,
                      const std::int32_t* slot, std::int64_t N, std::int64_t k, std::int64_t C) {
    for (std::int64_t i = 0; i < N * k; ++i) {
        dweight[i] = 0;
        if (slot[i] < 0) continue;
        const Real* d = dout + i / k * C;
        dweight[i] = dot(d, y + slot[i] * C, C);
        for (std::int64_t c = 0; c < C; ++c) dy[slot[i] * C + c] = weight[i] * d[c];
    }
}

template <class Real>
void mix_rows(Exec&, Real* out, const Real* a, const Real* b, const Real* logits, std::int64_t N, std::int64_t C) {
    for (std::int64_t i = 0; i < N * C; ++i) {
        const Real p = sigmoid(logits[i / C * 2] - logits[i / C * 2 + 1]);
        out[i] = p * a[i] + (1 - p) * b[i];
    }
}

template <class Real>
void mix_backward(Exec&, Real* da, Real* db, Real* dlogits, const Real* dout, const Real* a, const Real* b,
                  const Real* logits, std::int64_t N, std::int64_t C) {
    for (std::int64_t n = 0; n < N; ++n) {
        const Real p = sigmoid(logits[n * 2] - logits[n * 2 + 1]);
        const Real d = p * (1 - p) * (dot(dout + n * C, a + n * C, C) - dot(dout + n * C, b + n * C, C));
        dlogits[n * 2] = d;
        dlogits[n * 2 + 1] = -d;
        for (std::int64_t i = n * C; i < (n + 1) * C; ++i) {
            const Real g = dout[i];
            da[i] = p * g;
            db[i] = (1 - p) * g;
        }
    }
}

template <class Real>
void grouped_linear_forward(Exec& exec, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias,
                            const std::int32_t* start, std::int64_t, std::int64_t E, std::int64_t in, std::int64_t out,
                            Activation act) {
    for (std::int64_t e = 0; e < E; ++e) {
        const std::int64_t s = start[e];
        linear_forward<Real>(exec, y + s * out, pre == nullptr ? nullptr : pre + s * out, x + s * in, w + e * out * in,
                             bias == nullptr ? nullptr : bias + e * out, start[e + 1] - s, in, out, act);
    }
}

template <class Real>
void grouped_linear_backward_input(Exec& exec, Real* dx, const Real* dy, const Real* w, const Real* pre,
                                   const std::int32_t* start, std::int64_t, std::int64_t E, std::int64_t in,
                                   std::int64_t out, Activation act) {
    for (std::int64_t e = 0; e < E; ++e) {
        const std::int64_t s = start[e];
        linear_backward_input<Real>(exec, dx + s * in, dy + s * out, w + e * out * in,
                                    pre == nullptr ? nullptr : pre + s * in, start[e + 1] - s, in, out, act,
                                    Accumulate::no);
    }
}

template <class Real>
void grouped_linear_backward_weight(Exec& exec, Real* dw, Real* dbias, const Real* dy, const Real* x,
                                    const std::int32_t* start, std::int64_t, std::int64_t E, std::int64_t in,
                                    std::int64_t out, Accumulate accumulate) {
    for (std::int64_t e = 0; e < E; ++e) {
        const std::int64_t s = start[e];
        linear_backward_weight<Real>(exec, dw + e * out * in, dbias == nullptr ? nullptr : dbias + e * out,
                                     dy + s * out, x + s * in, start[e + 1] - s, in, out, accumulate);
    }
}

}  // namespace deft::kernels::reference
