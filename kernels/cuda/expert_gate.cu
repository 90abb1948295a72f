#include <cmath>
#include <type_traits>

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/last_block.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

__global__ void add_gate_bias(float* logits, const float* bias, std::int64_t items, std::int64_t E) {
    for (std::int64_t i = first_item(); i < items; i += item_stride()) logits[i] += bias[i % E];
}

// Products of float are the library's; those of activations in bf16 with weights and logits in float our own.
template <class A, class B, class Out>
void gate_product(Exec& exec, Out* c, Operand<A> a, Operand<B> b, std::int64_t m, std::int64_t n, std::int64_t k,
                  bool adds) {
    if constexpr (std::is_same_v<A, B> && std::is_same_v<B, Out>)
        gemm<A, Out>(exec, c, a, b, m, n, k, adds ? 1.0f : 0.0f);
    else if (m > 0 && n > 0)
        mixed_gemm<A, B, Out>(exec, c, a, b, m, n, k, adds ? 1.0f : 0.0f);
}

}  // namespace

template <class Real>
void gate_logits(Exec& exec, float* logits, const Real* x, const float* w, const float* bias, std::int64_t N,
                 std::int64_t C, std::int64_t E) {
    gate_product<Real, float, float>(exec, logits, {x}, {w, true}, N, E, C, false);
    if (bias != nullptr) launch(exec, over_items("add_gate_bias", N * E), add_gate_bias, logits, bias, N * E, E);
}

template <class Real>
void gate_backward_input(Exec& exec, Real* dx, const float* dlogits, const float* w, std::int64_t N, std::int64_t C,
                         std::int64_t E, Accumulate accumulate) {
    gate_product<float, float, Real>(exec, dx, {dlogits}, {w}, N, C, E, accumulate == Accumulate::yes);
}

template <class Real>
void gate_backward_weight(Exec& exec, float* dw, float* dbias, const float* dlogits, const Real* x, std::int64_t N,
                          std::int64_t C, std::int64_t E, Accumulate accumulate) {
    gate_product<float, Real, float>(exec, dw, {dlogits, true}, {x}, E, C, N, accumulate == Accumulate::yes);
    if (dbias != nullptr) column_sums(exec, dbias, dlogits, N, E, accumulate);
}

template void gate_logits<float>(Exec&, float*, const float*, const float*, const float*, std::int64_t, std::int64_t,
                                 std::int64_t);
template void gate_logits<bf16>(Exec&, float*, const bf16*, const float*, const float*, std::int64_t, std::int64_t,
                                std::int64_t);
template void gate_backward_input<float>(Exec&, float*, const float*, const float*, std::int64_t, std::int64_t,
                                         std::int64_t, Accumulate);
template void gate_backward_input<bf16>(Exec&, bf16*, const float*, const float*, std::int64_t, std::int64_t,
                                        std::int64_t, Accumulate);
template void gate_backward_weight<float>(Exec&, float*, float*, const float*, const float*, std::int64_t, std::int64_t,
                                          std::int64_t, Accumulate);
template void gate_backward_weight<bf16>(Exec&, float*, float*, const float*, const bf16*, std::int64_t, std::int64_t,
                                         std::int64_t, Accumulate);

namespace {

// The log-sum-exp of logits (E), by a warp.
__device__ inline float log_sum_exp_of_row(const float* logits, std::int64_t E) {
    float highest = -INFINITY, sum = 0;
    for (std::int64_t e = warp_lane(); e < E; e += kWarpSize) highest = fmaxf(highest, logits[e]);
    highest = warp_reduce(highest, [](float a, float b) { return fmaxf(a, b); });
    for (std::int64_t e = warp_lane(); e < E; e += kWarpSize) sum += expf(logits[e] - highest);
    return highest + logf(warp_sum(sum));
}

// A warp a row.
__global__ void route_rows(float* prob, float* lse, std::int32_t* expert, const float* logits, RoutedRows rows,
                           RouteSpec spec) {
    const std::int64_t n = warp_row(), E = spec.E, k = spec.k;
    if (n >= rows.N) return;
    const RoutedRows::Place at = rows.place(n);
    const float* const row = logits + n * E;
    const float of_row = at.is_real ? log_sum_exp_of_row(row, E) : 0.0f;
    for (std::int64_t e = warp_lane(); e < E; e += kWarpSize)
        prob[n * E + e] = at.is_real ? expf(row[e] - of_row) : 0.0f;
    if (warp_lane() == 0) lse[n] = of_row;
    for (std::int64_t j = 0; j < k; ++j) {
        std::int32_t best = -1;
        double highest = 0;
        for (std::int64_t e = warp_lane(); at.is_real && e < E; e += kWarpSize) {
            bool is_chosen = false;
            for (std::int64_t before = 0; before < j; ++before) is_chosen = is_chosen || expert[n * k + before] == e;
            if (is_chosen) continue;
            const double score = routing_score(rows, at, spec, j, e, static_cast<double>(row[e]));
            if (best >= 0 && !(score > highest)) continue;
            best = static_cast<std::int32_t>(e);
            highest = score;
        }
        for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
            const std::int32_t other = __shfl_xor_sync(kWholeWarp, best, distance);
            const double of_other = __shfl_xor_sync(kWholeWarp, highest, distance);
            if (other < 0) continue;
            if (best >= 0 && !(of_other > highest || (of_other == highest && other < best))) continue;
            best = other;
            highest = of_other;
        }
        if (warp_lane() == 0) expert[n * k + j] = best;
        __syncwarp();  // the choice can be read
    }
}

// A thread a row.
__global__ void weigh_choices(float* weight, const float* prob, const std::int32_t* expert, const std::int32_t* slot,
                              std::int64_t N, std::int64_t E, std::int64_t k) {
    for (std::int64_t n = first_item(); n < N; n += item_stride()) {
        float sum = 0;
        for (std::int64_t i = n * k; i < (n + 1) * k; ++i) {
            weight[i] = slot[i] < 0 ? 0.0f : prob[n * E + expert[i]];
            sum += weight[i];
        }
        const float divisor = k == 1 ? 1.0f : fmaxf(sum, static_cast<float>(kLeastWeightSum));
        for (std::int64_t i = n * k; i < (n + 1) * k; ++i) weight[i] /= divisor;
    }
}

constexpr int kLossThreads = 256;

// Losses of a gate by partial (chunks, 2 E + 3): of a chunk of rows the sums of the experts' probabilities, the counts
// of their choices, the rows, their squares and their entropies.
struct GateLosses {
    float* losses;
    std::int32_t* chosen;
    double* partial;
    std::uint32_t* counter;
    std::int64_t chunks, E, k;

    __device__ double* chunk(std::int64_t number) const { return partial + number * (2 * E + 3); }
    __device__ double sum(std::int64_t column) const {
        double sum = 0;
        for (std::int64_t i = 0; i < chunks; ++i) sum += chunk(i)[column];
        return sum;
    }
};

// A thread a column.
__device__ inline void finish_gate_losses(const GateLosses& of) {
    const std::int64_t E = of.E;
    const double found = of.sum(2 * E), rows = found > 1 ? found : 1;
    double balance = 0;
    for (std::int64_t e = threadIdx.x; e < E; e += kLossThreads) {
        const double count = of.sum(E + e);
        of.chosen[e] = static_cast<std::int32_t>(count);
        balance += of.sum(e) / rows * (count / rows);
    }
    balance = block_sum(balance);
    if (threadIdx.x != 0) return;
    of.chosen[E] = static_cast<std::int32_t>(found);
    of.losses[kBalanceLoss] =
        static_cast<float>(balance * static_cast<double>(E) / static_cast<double>(balanced_choices(of.k)));
    of.losses[kZLoss] = static_cast<float>(of.sum(2 * E + 1) / rows);
    of.losses[kGateEntropy] = static_cast<float>(of.sum(2 * E + 2) / rows);
}

// A block a chunk; a thread a column. The last block finishes the losses.
__global__ void sum_gate_losses(GateLosses of, const float* prob, const float* lse, const float* logits,
                                const std::int32_t* expert, std::int64_t N) {
    const std::int64_t E = of.E, k = of.k;
    const std::int64_t first = blockIdx.x * kGateLossRows, end = first + kGateLossRows < N ? first + kGateLossRows : N;
    double* const own = of.chunk(blockIdx.x);
    double entropy = 0;
    for (std::int64_t e = threadIdx.x; e < E; e += kLossThreads) {
        double probability = 0;
        std::int64_t count = 0;
        for (std::int64_t n = first; n < end; ++n) {
            if (expert[n * k] < 0) continue;
            const float p = prob[n * E + e];
            probability += static_cast<double>(p);
            entropy += static_cast<double>(p * (lse[n] - logits[n * E + e]));
            for (std::int64_t j = 0; j < balanced_choices(k); ++j) count += expert[n * k + j] == e ? 1 : 0;
        }
        own[e] = probability;
        own[E + e] = static_cast<double>(count);
    }
    entropy = block_sum(entropy);
    if (threadIdx.x == 0) {
        double rows = 0, squares = 0;
        for (std::int64_t n = first; n < end; ++n) {
            if (expert[n * k] < 0) continue;
            rows += 1;
            squares += static_cast<double>(lse[n]) * static_cast<double>(lse[n]);
        }
        own[2 * E] = rows;
        own[2 * E + 1] = squares;
        own[2 * E + 2] = entropy;
    }
    if (is_last_block(of.counter, of.chunks)) finish_gate_losses(of);
}

// An item a thread.
__global__ void add_routing(double* totals, const float* losses, const std::int32_t* chosen, const std::int32_t* start,
                            std::int64_t E, double weight, bool accumulates) {
    const RoutingTotals at{E};
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= at.size()) return;
    double own = 0;
    if (i < E)
        own = chosen[i];
    else if (i < at.rows())
        own = start[i - E + 1] - start[i - E];
    else if (i == at.rows())
        own = chosen[E];
    else
        own = weight * static_cast<double>(losses[i - at.loss(0)]);
    totals[i] = accumulates ? totals[i] + own : own;
}

// A warp a row.
__global__ void gate_gradients(float* dlogits, const float* dweight, const float* logits, const std::int32_t* expert,
                               const std::int32_t* slot, const std::int32_t* chosen, std::int64_t N, std::int64_t E,
                               std::int64_t k, double balance_scale, double z_scale) {
    const std::int64_t n = warp_row();
    if (n >= N) return;
    const std::int32_t *const own = expert + n * k, *const where = slot + n * k;
    const float *const dw = dweight + n * k, *const row = logits + n * E;
    float* const d = dlogits + n * E;
    if (own[0] < 0) {
        for (std::int64_t e = warp_lane(); e < E; e += kWarpSize) d[e] = 0;
        return;
    }
    const double rows = chosen[E] > 1 ? chosen[E] : 1;
    const auto of_count = static_cast<float>(balance_scale * static_cast<double>(E) /
                                             (rows * rows * static_cast<double>(balanced_choices(k))));
    const float lse = log_sum_exp_of_row(row, E);
    float kept = 0, mean = 0;  // the kept probabilities; the mean of dweight over them
    for (std::int64_t j = 0; j < k; ++j) {
        if (where[j] < 0) continue;
        const float p = expf(row[own[j]] - lse);
        kept += p;
        mean += dw[j] * p;
    }
    const auto least = static_cast<float>(kLeastWeightSum);
    const float sum = fmaxf(kept, least);
    // The derivative by the probability of a choice.
    const auto of_choice = [&](std::int64_t j) {
        if (where[j] < 0) return 0.0f;
        if (k == 1) return dw[j];
        return kept < least ? dw[j] / sum : (dw[j] - mean / sum) / sum;
    };
    float along = 0;
    for (std::int64_t e = warp_lane(); e < E; e += kWarpSize)
        along += expf(row[e] - lse) * static_cast<float>(chosen[e]);
    along = of_count * warp_sum(along);
    for (std::int64_t j = 0; j < k; ++j) along += expf(row[own[j]] - lse) * of_choice(j);
    const float of_all = static_cast<float>(2 * z_scale / rows) * lse - along;
    for (std::int64_t e = warp_lane(); e < E; e += kWarpSize) {
        float slope = of_all + of_count * static_cast<float>(chosen[e]);
        for (std::int64_t j = 0; j < k; ++j)
            if (own[j] == e) slope += of_choice(j);
        d[e] = expf(row[e] - lse) * slope;
    }
}

}  // namespace

void route(Exec& exec, float* prob, float* lse, std::int32_t* expert, const float* logits, const RoutedRows& rows,
           const RouteSpec& spec) {
    launch(exec, over_rows("route_rows", rows.N), route_rows, prob, lse, expert, logits, rows, spec);
}

void gate_weights(Exec& exec, float* weight, const float* prob, const std::int32_t* expert, const std::int32_t* slot,
                  std::int64_t N, std::int64_t E, std::int64_t k) {
    launch(exec, over_items("weigh_choices", N), weigh_choices, weight, prob, expert, slot, N, E, k);
}

void gate_losses(Exec& exec, float* losses, std::int32_t* chosen, const float* prob, const float* lse,
                 const float* logits, const std::int32_t* expert, std::int64_t N, std::int64_t E, std::int64_t k) {
    require_workspace(exec, gate_losses_workspace(N, E), "gate_losses");
    require_counters(exec, 1, "gate_losses");
    const std::int64_t chunks = std::max<std::int64_t>(1, ceil_div(N, kGateLossRows));
    const GateLosses of{losses, chosen, scratch<double>(exec, 0), exec.counters.data(), chunks, E, k};
    launch(exec, {"sum_gate_losses", chunks, kLossThreads}, sum_gate_losses, of, prob, lse, logits, expert, N);
}

void sum_routing(Exec& exec, double* totals, const float* losses, const std::int32_t* chosen, const std::int32_t* start,
                 std::int64_t E, double weight, Accumulate accumulate) {
    launch(exec, over_items("add_routing", RoutingTotals{E}.size()), add_routing, totals, losses, chosen, start, E,
           weight, accumulate == Accumulate::yes);
}

void gate_backward(Exec& exec, float* dlogits, const float* dweight, const float* logits, const std::int32_t* expert,
                   const std::int32_t* slot, const std::int32_t* chosen, std::int64_t N, std::int64_t E, std::int64_t k,
                   double balance_scale, double z_scale) {
    launch(exec, over_rows("gate_gradients", N), gate_gradients, dlogits, dweight, logits, expert, slot, chosen, N, E,
           k, balance_scale, z_scale);
}

}  // namespace deft::kernels::cuda
