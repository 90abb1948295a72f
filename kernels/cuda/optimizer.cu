#include "kernels/cuda/cuda.h"

#include <cmath>
#include <type_traits>

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/flat_vectors.h"
#include "kernels/cuda/last_block.h"
#include "kernels/cuda/workspace.h"
#include "kernels/stochastic_rounding.h"

namespace deft::kernels::cuda {

namespace {

constexpr int kThreads = 256;

// Products and sums are fused by hand in this file: a compiler may fuse others in a loop over wide accesses than in its
// tail, and a rank's share of the weights begins anywhere.

// add(sum, value) over the values from `first` to end - 1, kWide at a time, in an order that does not depend on how
// they are loaded.
template <class Value, bool kIsWide, class F>
__device__ inline double sum_groups(const Value* x, std::int64_t first, std::int64_t end, const F& add) {
    constexpr int kGroup = kWide<Value>;
    double sum = 0;
    for (std::int64_t i = first + threadIdx.x * kGroup; i < end; i += kThreads * kGroup) {
        Vector<Value, kGroup> group = {};
        if (kIsWide && i + kGroup <= end)
            group = load_vector<kGroup>(x + i);
        else
            for (int j = 0; j < kGroup && i + j < end; ++j) group.item[j] = x[i + j];
        for (int j = 0; j < kGroup; ++j) sum = add(sum, static_cast<double>(group.item[j]));
    }
    return block_sum(sum);
}

struct Plus {
    __device__ double operator()(double so_far, double value) const { return so_far + value; }
};

// total = or += the sum of squares of x (n), by partial (chunks), a block a chunk.
template <bool kIsWide>
__global__ void sum_squares(double* total, double* partial, std::uint32_t* counter, const float* x, std::int64_t n,
                            std::int64_t chunks, bool adds) {
    const std::int64_t first = blockIdx.x * kSquaresChunk, end = first + kSquaresChunk < n ? first + kSquaresChunk : n;
    const double squares = sum_groups<float, kIsWide>(
        x, first, end, [](double so_far, double value) { return fma(value, value, so_far); });
    if (threadIdx.x == 0) partial[blockIdx.x] = squares;
    if (!is_last_block(counter, chunks)) return;
    const double sum = sum_groups<double, true>(partial, 0, chunks, Plus{});
    if (threadIdx.x == 0) total[0] = adds ? total[0] + sum : sum;
}

// One thread.
__global__ void replace_by_root(double* x) {
    x[0] = sqrt(x[0]);
}

// One block.
template <class Value, bool kIsWide>
__global__ void sum_values(double* total, const Value* x, std::int64_t n, bool adds) {
    const double sum = sum_groups<Value, kIsWide>(x, 0, n, Plus{});
    if (threadIdx.x == 0) total[0] = adds ? total[0] + sum : sum;
}

// Settings in the kernel's types.
struct AdamWStep {
    float beta1, one_minus_beta1, beta2, one_minus_beta2, eps;
    double weight_decay, max_grad_norm;
    StepValue<AdamWRates> rates;

    explicit AdamWStep(const AdamW& adamw)
        : beta1(static_cast<float>(adamw.beta1)),
          one_minus_beta1(static_cast<float>(1 - adamw.beta1)),
          beta2(static_cast<float>(adamw.beta2)),
          one_minus_beta2(static_cast<float>(1 - adamw.beta2)),
          eps(static_cast<float>(adamw.eps)),
          weight_decay(adamw.weight_decay),
          max_grad_norm(adamw.max_grad_norm),
          rates(adamw.rates) {}
};

// Factor that bounds the norm of gradients by `most`; most 0: no bound.
__device__ float clip_of(double norm, double most) {
    return static_cast<float>(most > 0 && norm > most ? most / norm : 1.0);
}

// Moments of neighbouring weights, rounded by the 16 bits of `random` from `shift` on.
template <int kWidth, class Moment>
__device__ inline void store_moments(Moment* to, const float (&from)[kWidth], const std::uint32_t (&random)[kWidth],
                                     int shift) {
    Vector<Moment, kWidth> stored;
    for (int j = 0; j < kWidth; ++j) stored.item[j] = stored_moment<Moment>(from[j], random[j] >> shift);
    store_vector(to, stored);
}

template <class Moment, int kWidth>
__global__ void adamw_step(float* param, bf16* rounded, Moment* m, Moment* v, const float* grad, const double* norm,
                           const double* loss, std::int64_t n, AdamWStep step) {
    if (!isfinite(norm[0]) || !isfinite(loss[0])) return;
    const float clip = clip_of(norm[0], step.max_grad_norm);
    const AdamWRates rates = step.rates.get();
    const auto m_scale = static_cast<float>(rates.mean_scale), v_scale = static_cast<float>(rates.square_scale);
    const auto decay = static_cast<float>(rates.lr * step.weight_decay);
    for_vectors<kWidth>(n, [&]<int kAtOnce>(std::int64_t i) {
        float g[kAtOnce], value[kAtOnce], mean[kAtOnce], square[kAtOnce];
        std::uint32_t random[kAtOnce];
        load(g, grad + i);
        load(value, param + i);
        load(mean, m + i);
        load(square, v + i);
        for (int j = 0; j < kAtOnce; ++j) {
            random[j] = moment_bits(rates.step, value[j], g[j]);
            g[j] *= clip;
            mean[j] = fmaf(step.beta1, mean[j], step.one_minus_beta1 * g[j]);
            square[j] = fmaf(step.beta2, square[j], step.one_minus_beta2 * g[j] * g[j]);
            const float change = m_scale * mean[j] / (sqrtf(v_scale * square[j]) + step.eps);
            value[j] -= fmaf(decay, value[j], change);
        }
        store_moments(m + i, mean, random, 0);
        store_moments(v + i, square, random, 16);
        store(param + i, value);
        if (rounded != nullptr) store(rounded + i, value);
    });
}

struct SgdStep {
    float momentum, decay;
    double max_grad_norm;
    StepValue<SgdRates> rates;

    explicit SgdStep(const Sgd& sgd)
        : momentum(static_cast<float>(sgd.momentum)),
          decay(static_cast<float>(sgd.weight_decay)),
          max_grad_norm(sgd.max_grad_norm),
          rates(sgd.rates) {}
};

template <class Moment, int kWidth>
__global__ void sgd_step(float* param, bf16* rounded, Moment* m, const float* grad, const double* norm,
                         const double* loss, std::int64_t n, SgdStep step) {
    if (!isfinite(norm[0]) || !isfinite(loss[0])) return;
    const float clip = clip_of(norm[0], step.max_grad_norm);
    const SgdRates rates = step.rates.get();
    const auto lr = static_cast<float>(rates.lr);
    for_vectors<kWidth>(n, [&]<int kAtOnce>(std::int64_t i) {
        float g[kAtOnce], value[kAtOnce], momentum[kAtOnce];
        std::uint32_t random[kAtOnce];
        load(g, grad + i);
        load(value, param + i);
        load(momentum, m + i);
        for (int j = 0; j < kAtOnce; ++j) {
            random[j] = moment_bits(rates.step, value[j], g[j]);
            momentum[j] = fmaf(step.momentum, momentum[j], fmaf(step.decay, value[j], clip * g[j]));
            value[j] = fmaf(-lr, momentum[j], value[j]);
        }
        store_moments(m + i, momentum, random, 0);
        store(param + i, value);
        if (rounded != nullptr) store(rounded + i, value);
    });
}

template <class Real, int kWidth>
__global__ void round_values(Real* to, const float* from, std::int64_t n) {
    for_vectors<kWidth>(n, [&]<int kAtOnce>(std::int64_t i) {
        float value[kAtOnce];
        load(value, from + i);
        store(to + i, value);
    });
}

// f(whether x can be read 16 bytes at a time), a constant.
template <class F>
void with_wide(bool wide, const F& f) {
    if (wide)
        f(std::true_type{});
    else
        f(std::false_type{});
}

}  // namespace

void sum_of_squares(Exec& exec, double* total, const float* x, std::int64_t n, Accumulate accumulate) {
    require_workspace(exec, sum_of_squares_workspace(n), "sum_of_squares");
    require_counters(exec, 1, "sum_of_squares");
    const std::int64_t chunks = std::max<std::int64_t>(1, ceil_div(n, kSquaresChunk));
    with_wide(are_wide(x), [&](auto wide) {
        launch(exec, {"sum_squares", chunks, kThreads}, sum_squares<wide>, total, scratch<double>(exec, 0),
               exec.counters.data(), x, n, chunks, accumulate == Accumulate::yes);
    });
}

void square_root(Exec& exec, double* x) {
    launch(exec, {"replace_by_root", 1, 1}, replace_by_root, x);
}

template <class Moment>
void adamw_update(Exec& exec, float* param, bf16* rounded, Moment* m, Moment* v, const float* grad, const double* norm,
                  const double* loss, std::int64_t n, const AdamW& adamw) {
    with_width<float>(are_wide(param, rounded, m, v, grad), [&](auto width) {
        launch(exec, over_vectors("adamw_step", n, width), adamw_step<Moment, width>, param, rounded, m, v, grad, norm,
               loss, n, AdamWStep(adamw));
    });
}

template <class Moment>
void sgd_update(Exec& exec, float* param, bf16* rounded, Moment* m, const float* grad, const double* norm,
                const double* loss, std::int64_t n, const Sgd& sgd) {
    with_width<float>(are_wide(param, rounded, m, grad), [&](auto width) {
        launch(exec, over_vectors("sgd_step", n, width), sgd_step<Moment, width>, param, rounded, m, grad, norm, loss,
               n, SgdStep(sgd));
    });
}

void sum(Exec& exec, double* total, const float* x, std::int64_t n, Accumulate accumulate) {
    with_wide(are_wide(x), [&](auto wide) {
        launch(exec, {"sum_values", 1, kThreads}, sum_values<float, wide>, total, x, n, accumulate == Accumulate::yes);
    });
}

template <class Real>
void round_to(Exec& exec, Real* to, const float* from, std::int64_t n) {
    with_width<float>(are_wide(to, from), [&](auto width) {
        launch(exec, over_vectors("round_values", n, width), round_values<Real, width>, to, from, n);
    });
}

template void adamw_update(Exec&, float*, bf16*, float*, float*, const float*, const double*, const double*,
                           std::int64_t, const AdamW&);
template void adamw_update(Exec&, float*, bf16*, bf16*, bf16*, const float*, const double*, const double*, std::int64_t,
                           const AdamW&);
template void sgd_update(Exec&, float*, bf16*, float*, const float*, const double*, const double*, std::int64_t,
                         const Sgd&);
template void sgd_update(Exec&, float*, bf16*, bf16*, const float*, const double*, const double*, std::int64_t,
                         const Sgd&);
template void round_to<float>(Exec&, float*, const float*, std::int64_t);
template void round_to<bf16>(Exec&, bf16*, const float*, std::int64_t);

}  // namespace deft::kernels::cuda
