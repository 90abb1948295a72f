// The gate of a layer of experts: who goes where, with what weight, and what that costs.

#include <algorithm>
#include <cmath>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/parallel_rows.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/workspace.h"

namespace deft::kernels::cpu {

namespace {

constexpr std::int64_t kGateRows = 64;   // of a block
constexpr std::int64_t kLossRows = 256;  // that share partial sums

// p (E) = softmax(logits); returns their log-sum-exp. p may be logits.
inline float softmax_row(float* p, const float* logits, std::int64_t E) {
    const float highest = largest(logits, E);
#pragma omp simd
    for (std::int64_t e = 0; e < E; ++e) p[e] = vector_exp(logits[e] - highest);
    const float sum = sum_of(E, [&](std::int64_t e) { return p[e]; });
    const float inverse = 1 / sum;
#pragma omp simd
    for (std::int64_t e = 0; e < E; ++e) p[e] *= inverse;
    return highest + std::log(sum);
}

// The expert with the highest score that is not among the first `choice` ones of a row; the lower of equal ones.
template <class Score>
std::int32_t best_expert(const std::int32_t* chosen, std::int64_t choice, std::int64_t E, const Score& score) {
    std::int64_t best = -1;
    double highest = 0;
    for (std::int64_t e = 0; e < E; ++e) {
        if (std::find(chosen, chosen + choice, static_cast<std::int32_t>(e)) != chosen + choice) continue;
        const double own = score(e);
        if (best >= 0 && !(own > highest)) continue;
        best = e;
        highest = own;
    }
    return static_cast<std::int32_t>(best);
}

}  // namespace

template <>
void gate_logits(Exec& exec, float* logits, const float* x, const float* w, const float* bias, std::int64_t N,
                 std::int64_t C, std::int64_t E) {
    linear_forward<float>(exec, logits, nullptr, x, w, bias, N, C, E, Activation::none);
}

template <>
void gate_backward_input(Exec& exec, float* dx, const float* dlogits, const float* w, std::int64_t N, std::int64_t C,
                         std::int64_t E, Accumulate accumulate) {
    linear_backward_input<float>(exec, dx, dlogits, w, nullptr, N, C, E, Activation::none, accumulate);
}

template <>
void gate_backward_weight(Exec& exec, float* dw, float* dbias, const float* dlogits, const float* x, std::int64_t N,
                          std::int64_t C, std::int64_t E, Accumulate accumulate) {
    linear_backward_weight(exec, dw, dbias, dlogits, x, N, C, E, accumulate);
}

std::size_t gate_backward_weight_workspace(int threads, std::int64_t N, std::int64_t C, std::int64_t E) {
    return linear_backward_weight_workspace(threads, N, C, E);
}

template <>
void jitter_rows(Exec& exec, float* y, const float* x, const float* residual, const RoutedRows& rows, std::int64_t C,
                 double epsilon) {
    parallel_row_blocks(exec.threads, rows.N, kGateRows, [&](std::int64_t n) {
        const RoutedRows::Place at = rows.place(n);
        for (std::int64_t c = 0; c < C; ++c) {
            const float value = x[n * C + c] * static_cast<float>(jitter_factor(rows, at, C, c, epsilon));
            y[n * C + c] = residual == nullptr ? value : residual[n * C + c] + value;
        }
    });
}

void route(Exec& exec, float* prob, float* lse, std::int32_t* expert, const float* logits, const RoutedRows& rows,
           const RouteSpec& spec) {
    const std::int64_t E = spec.E, k = spec.k;
    parallel_row_blocks(exec.threads, rows.N, kGateRows, [&](std::int64_t n) {
        const RoutedRows::Place at = rows.place(n);
        std::int32_t* const chosen = expert + n * k;
        if (!at.is_real) {
            std::fill_n(prob + n * E, E, 0.0f);
            std::fill_n(chosen, k, -1);
            lse[n] = 0;
            return;
        }
        const float* const row = logits + n * E;
        lse[n] = softmax_row(prob + n * E, row, E);
        for (std::int64_t j = 0; j < k; ++j)
            chosen[j] = best_expert(chosen, j, E, [&](std::int64_t e) {
                return routing_score(rows, at, spec, j, e, static_cast<double>(row[e]));
            });
    });
}

void gate_weights(Exec& exec, float* weight, const float* prob, const std::int32_t* expert, const std::int32_t* slot,
                  std::int64_t N, std::int64_t E, std::int64_t k) {
    parallel_row_blocks(exec.threads, N, kGateRows, [&](std::int64_t n) {
        float* const own = weight + n * k;
        float sum = 0;
        for (std::int64_t j = 0; j < k; ++j) {
            own[j] = slot[n * k + j] < 0 ? 0.0f : prob[n * E + expert[n * k + j]];
            sum += own[j];
        }
        if (k == 1) return;
        for (std::int64_t j = 0; j < k; ++j) own[j] /= std::max(sum, static_cast<float>(kLeastWeightSum));
    });
}

// For each chunk of rows: the sums of the experts' probabilities, the counts of their choices, and three more.
void gate_losses(Exec& exec, float* losses, std::int32_t* chosen, const float* prob, const float* lse,
                 const float* logits, const std::int32_t* expert, std::int64_t N, std::int64_t E, std::int64_t k) {
    require_workspace(exec, gate_losses_workspace(N, E), "gate_losses");
    const std::int64_t chunks = ceil_div(N, kLossRows), width = 2 * E + 3;
    auto* const partial = scratch<double>(exec, 0);  // (chunks, width)
    parallel_items(exec.threads, chunks, [&](std::int64_t chunk, int) {
        double* const probability = partial + chunk * width;             // (E)
        double *const count = probability + E, *const more = count + E;  // (E); rows, squares, entropy
        std::fill_n(probability, width, 0.0);
        widest_vectors([&] {
            for (std::int64_t n = chunk * kLossRows; n < std::min(N, (chunk + 1) * kLossRows); ++n) {
                if (expert[n * k] < 0) continue;
                const float *p = prob + n * E, *z = logits + n * E;
                const float of_row = lse[n];
#pragma omp simd
                for (std::int64_t e = 0; e < E; ++e) probability[e] += static_cast<double>(p[e]);
                for (std::int64_t j = 0; j < balanced_choices(k); ++j) count[expert[n * k + j]] += 1;
                more[0] += 1;
                more[1] += static_cast<double>(of_row) * static_cast<double>(of_row);
                more[2] += static_cast<double>(sum_of(E, [&](std::int64_t e) { return p[e] * (of_row - z[e]); }));
            }
        });
    });
    const auto total = [&](std::int64_t column) {
        double sum = 0;
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += partial[chunk * width + column];
        return sum;
    };
    const double found = total(2 * E), rows = std::max(1.0, found);
    double balance = 0;
    for (std::int64_t e = 0; e < E; ++e) {
        const double count = total(E + e);
        chosen[e] = static_cast<std::int32_t>(count);
        balance += total(e) / rows * (count / rows);
    }
    chosen[E] = static_cast<std::int32_t>(found);
    losses[kBalanceLoss] =
        static_cast<float>(balance * static_cast<double>(E) / static_cast<double>(balanced_choices(k)));
    losses[kZLoss] = static_cast<float>(total(2 * E + 1) / rows);
    losses[kGateEntropy] = static_cast<float>(total(2 * E + 2) / rows);
}

std::size_t gate_losses_workspace(std::int64_t N, std::int64_t E) {
    return scratch_bytes<double>(ceil_div(N, kLossRows) * (2 * E + 3));
}

void sum_routing(Exec&, double* totals, const float* losses, const std::int32_t* chosen, const std::int32_t* start,
                 std::int64_t E, double weight, Accumulate accumulate) {
    const RoutingTotals at{E};
    if (accumulate == Accumulate::no) std::fill_n(totals, at.size(), 0.0);
    for (std::int64_t e = 0; e < E; ++e) {
        totals[at.chosen(e)] += chosen[e];
        totals[at.kept(e)] += start[e + 1] - start[e];
    }
    totals[at.rows()] += chosen[E];
    for (std::int64_t i = 0; i < kGateLosses; ++i) totals[at.loss(i)] += weight * static_cast<double>(losses[i]);
}

void gate_backward(Exec& exec, float* dlogits, const float* dweight, const float* logits, const std::int32_t* expert,
                   const std::int32_t* slot, const std::int32_t* chosen, std::int64_t N, std::int64_t E, std::int64_t k,
                   double balance_scale, double z_scale) {
    const double rows = std::max(1.0, static_cast<double>(chosen[E]));
    const auto of_count = static_cast<float>(balance_scale * static_cast<double>(E) /
                                             (rows * rows * static_cast<double>(balanced_choices(k))));
    parallel_row_blocks(exec.threads, N, kGateRows, [&](std::int64_t n) {
        float* const d = dlogits + n * E;  // first the probabilities
        if (expert[n * k] < 0) {
            std::fill_n(d, E, 0.0f);
            return;
        }
        const float lse = softmax_row(d, logits + n * E, E);
        const std::int32_t *const own = expert + n * k, *const where = slot + n * k;
        const float* const dw = dweight + n * k;
        float kept = 0, mean = 0;  // the kept probabilities; the mean of dweight over them
        for (std::int64_t j = 0; j < k; ++j) {
            if (where[j] < 0) continue;
            kept += d[own[j]];
            mean += dw[j] * d[own[j]];
        }
        const auto least = static_cast<float>(kLeastWeightSum);
        const float sum = std::max(kept, least);
        // The derivative by the probability of a choice.
        const auto of_choice = [&](std::int64_t j) {
            if (where[j] < 0) return 0.0f;
            if (k == 1) return dw[j];
            return kept < least ? dw[j] / sum : (dw[j] - mean / sum) / sum;
        };
        float along = of_count * sum_of(E, [&](std::int64_t e) { return d[e] * static_cast<float>(chosen[e]); });
        for (std::int64_t j = 0; j < k; ++j) along += d[own[j]] * of_choice(j);
        const float of_all = static_cast<float>(2 * z_scale / rows) * lse - along;
#pragma omp simd
        for (std::int64_t e = 0; e < E; ++e) d[e] *= of_all + of_count * static_cast<float>(chosen[e]);
        for (std::int64_t j = 0; j < k; ++j) d[own[j]] += vector_exp(logits[n * E + own[j]] - lse) * of_choice(j);
    });
}

}  // namespace deft::kernels::cpu
