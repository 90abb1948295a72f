#include <cmath>

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/select_cut.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

constexpr int kPlaceThreads = kCutThreads;  // of a block

// The keys of all choices (N, k), of which those of other experts come last.
struct ChoiceKeys {
    RoutedRows rows;
    const std::int32_t* expert;
    std::int64_t e, k;

    __device__ std::uint32_t operator[](std::int64_t i) const {
        return expert[i] == e ? capacity_key(rows, i / k, k, i % k) : kNoChoice;
    }
};

// f(i, is_own, before) of every item, where is_own(i) is asked and `before` items before it are own; by a block, in
// tiles.
template <class IsOwn, class F>
__device__ inline void for_ranked(std::int64_t items, const IsOwn& is_own, const F& f) {
    std::int64_t ranked = 0;
    for (std::int64_t first = 0; first < items; first += kPlaceThreads) {
        const std::int64_t i = first + threadIdx.x;
        const bool own = i < items && is_own(i);
        const Prefix<std::uint32_t> prefix = block_prefix(own ? 1u : 0u);
        if (own) f(i, ranked + prefix.before);
        ranked += prefix.total;
    }
}

// A block an expert: slot is 0 of the choices that it keeps and -1 of the others, start[e + 1] how many it keeps.
// Choices of no expert are the first block's.
__global__ void keep_choices(std::int32_t* start, std::int32_t* slot, const std::int32_t* expert, RoutedRows rows,
                             std::int64_t k, std::int64_t E, CapacitySpec spec) {
    const std::int64_t e = blockIdx.x, items = rows.N * k;
    std::int64_t own = 0;
    for (std::int64_t i = threadIdx.x; i < items; i += kPlaceThreads) {
        own += expert[i] == e ? 1 : 0;
        if (expert[i] == e) slot[i] = 0;
        if (e == 0 && expert[i] < 0) slot[i] = -1;
    }
    const std::int64_t count = block_sum(own);
    const std::int64_t capacity = expert_capacity(spec, rows.real_rows(), E, k);
    const bool is_limited = spec.factor > 0 && count > capacity;
    if (threadIdx.x == 0) {
        start[e + 1] = static_cast<std::int32_t>(is_limited ? capacity : count);
        if (e == 0) start[0] = 0;
    }
    if (!is_limited) return;
    // The whole block waits before ranking and cutting, so that slots written twice are written in order.
    if (!spec.selects_at_random) {
        const std::int64_t N = rows.N;  // all rows' first choices come first
        const auto choice = [=](std::int64_t i) { return i % N * k + i / N; };
        for_ranked(
            items, [=](std::int64_t i) { return expert[choice(i)] == e; },
            [=](std::int64_t i, std::int64_t before) {
                if (before >= capacity) slot[choice(i)] = -1;
            });
        return;
    }
    const ChoiceKeys keys{rows, expert, e, k};
    const Cut cut = capacity > 0 ? select_cut(keys, items, capacity) : Cut{0, 0};
    for_ranked(
        items, [=](std::int64_t i) { return keys[i] == cut.key; },
        [=](std::int64_t i, std::int64_t before) {
            if (before >= cut.ties && expert[i] == e) slot[i] = -1;
        });
    for (std::int64_t i = threadIdx.x; i < items; i += kPlaceThreads)
        if (expert[i] == e && keys[i] > cut.key) slot[i] = -1;
}

// start (E + 1): its values become their prefix sums. One block.
__global__ void start_experts(std::int32_t* start, std::int64_t E) {
    std::int32_t total = 0;
    for (std::int64_t first = 0; first < E; first += kPlaceThreads) {
        const std::int64_t e = first + threadIdx.x;
        const std::int32_t own = e < E ? start[e + 1] : 0;
        const Prefix<std::int32_t> prefix = block_prefix(own);
        if (e < E) start[e + 1] = total + prefix.before + own;
        total += prefix.total;
    }
}

// A block an expert.
__global__ void place_kept(std::int32_t* row, std::int32_t* slot, const std::int32_t* start, const std::int32_t* expert,
                           std::int64_t items, std::int64_t k, std::int64_t E) {
    const std::int64_t e = blockIdx.x;
    for_ranked(
        items, [=](std::int64_t i) { return expert[i] == e && slot[i] >= 0; },
        [=](std::int64_t i, std::int64_t before) {
            const std::int64_t place = start[e] + before;
            slot[i] = static_cast<std::int32_t>(place);
            row[place] = static_cast<std::int32_t>(i / k);
        });
    for (std::int64_t place = start[E] + first_item(); place < items; place += item_stride()) row[place] = 0;
}

}  // namespace

void place_choices(Exec& exec, std::int32_t* start, std::int32_t* row, std::int32_t* slot, const std::int32_t* expert,
                   const RoutedRows& rows, std::int64_t E, std::int64_t k, const CapacitySpec& capacity) {
    launch(exec, {"keep_choices", E, kPlaceThreads}, keep_choices, start, slot, expert, rows, k, E, capacity);
    launch(exec, {"start_experts", 1, kPlaceThreads}, start_experts, start, E);
    launch(exec, {"place_kept", E, kPlaceThreads}, place_kept, row, slot, start, expert, rows.N * k, k, E);
}

namespace {

// Kernels that give each row to a warp.

template <class Real>
__global__ void jitter_of_rows(Real* y, const Real* x, const Real* residual, RoutedRows rows, std::int64_t C,
                               double epsilon) {
    const std::int64_t n = warp_row();
    if (n >= rows.N) return;
    const RoutedRows::Place at = rows.place(n);
    for (std::int64_t c = warp_lane(); c < C; c += kWarpSize) {
        const std::int64_t i = n * C + c;
        const float value = to_float(x[i]) * static_cast<float>(jitter_factor(rows, at, C, c, epsilon));
        y[i] = from_float<Real>(residual == nullptr ? value : to_float(residual[i]) + value);
    }
}

template <class Real, int kWidth>
__global__ void sum_choices(Real* out, const Real* y, const float* weight, const std::int32_t* slot, std::int64_t N,
                            std::int64_t k, std::int64_t C) {
    const std::int64_t n = warp_row();
    if (n >= N) return;
    for (std::int64_t c = warp_lane() * kWidth; c < C; c += kWarpSize * kWidth) {
        float sum[kWidth] = {};
        for (std::int64_t i = n * k; i < (n + 1) * k; ++i) {
            if (slot[i] < 0) continue;
            float value[kWidth];
            load(value, y + slot[i] * C + c);
            const float w = weight == nullptr ? 1.0f : weight[i];
            for (int j = 0; j < kWidth; ++j) sum[j] += w * value[j];
        }
        store(out + n * C + c, sum);
    }
}

template <class Real, int kWidth>
__global__ void spread_choices(Real* dy, float* dweight, const Real* dout, const Real* y, const float* weight,
                               const std::int32_t* slot, std::int64_t N, std::int64_t k, std::int64_t C) {
    const std::int64_t n = warp_row();
    if (n >= N) return;
    for (std::int64_t i = n * k; i < (n + 1) * k; ++i) {
        float product = 0;
        for (std::int64_t c = warp_lane() * kWidth; slot[i] >= 0 && c < C; c += kWarpSize * kWidth) {
            float d[kWidth], value[kWidth];
            load(d, dout + n * C + c);
            load(value, y + slot[i] * C + c);
            for (int j = 0; j < kWidth; ++j) product += d[j] * value[j];
            for (float& gradient : d) gradient *= weight[i];
            store(dy + slot[i] * C + c, d);
        }
        product = warp_sum(product);
        if (warp_lane() == 0) dweight[i] = product;
    }
}

// softmax(logits (2))[0].
__device__ inline float first_share(const float* logits) {
    return 1.0f / (1.0f + expf(logits[1] - logits[0]));
}

template <class Real, int kWidth>
__global__ void mix_of_rows(Real* out, const Real* a, const Real* b, const float* logits, std::int64_t N,
                            std::int64_t C) {
    const std::int64_t n = warp_row();
    if (n >= N) return;
    const float p = first_share(logits + 2 * n);
    for (std::int64_t c = warp_lane() * kWidth; c < C; c += kWarpSize * kWidth) {
        float first[kWidth], second[kWidth];
        load(first, a + n * C + c);
        load(second, b + n * C + c);
        for (int j = 0; j < kWidth; ++j) first[j] = p * first[j] + (1 - p) * second[j];
        store(out + n * C + c, first);
    }
}

template <class Real, int kWidth>
__global__ void mix_gradients(Real* da, Real* db, float* dlogits, const Real* dout, const Real* a, const Real* b,
                              const float* logits, std::int64_t N, std::int64_t C) {
    const std::int64_t n = warp_row();
    if (n >= N) return;
    const float p = first_share(logits + 2 * n);
    float of_share = 0;
    for (std::int64_t c = warp_lane() * kWidth; c < C; c += kWarpSize * kWidth) {
        float d[kWidth], first[kWidth], second[kWidth];
        load(d, dout + n * C + c);
        load(first, a + n * C + c);
        load(second, b + n * C + c);
        for (int j = 0; j < kWidth; ++j) {
            of_share += d[j] * (first[j] - second[j]);
            first[j] = p * d[j];
            second[j] = (1 - p) * d[j];
        }
        store(da + n * C + c, first);
        store(db + n * C + c, second);
    }
    of_share = warp_sum(of_share);
    if (warp_lane() != 0) return;
    dlogits[2 * n] = p * (1 - p) * of_share;
    dlogits[2 * n + 1] = -p * (1 - p) * of_share;
}

}  // namespace

template <class Real>
void jitter_rows(Exec& exec, Real* y, const Real* x, const Real* residual, const RoutedRows& rows, std::int64_t C,
                 double epsilon) {
    launch(exec, over_rows("jitter_of_rows", rows.N), jitter_of_rows<Real>, y, x, residual, rows, C, epsilon);
}

template <class Real>
void combine_rows(Exec& exec, Real* out, const Real* y, const float* weight, const std::int32_t* slot, std::int64_t N,
                  std::int64_t k, std::int64_t C) {
    with_width<Real>(rows_are_wide<Real>(C, out, y), [&](auto width) {
        launch(exec, over_rows("sum_choices", N), sum_choices<Real, width>, out, y, weight, slot, N, k, C);
    });
}

template <class Real>
void combine_backward(Exec& exec, Real* dy, float* dweight, const Real* dout, const Real* y, const float* weight,
                      const std::int32_t* slot, std::int64_t N, std::int64_t k, std::int64_t C) {
    with_width<Real>(rows_are_wide<Real>(C, dy, dout, y), [&](auto width) {
        launch(exec, over_rows("spread_choices", N), spread_choices<Real, width>, dy, dweight, dout, y, weight, slot, N,
               k, C);
    });
}

template <class Real>
void mix_rows(Exec& exec, Real* out, const Real* a, const Real* b, const float* logits, std::int64_t N,
              std::int64_t C) {
    with_width<Real>(rows_are_wide<Real>(C, out, a, b), [&](auto width) {
        launch(exec, over_rows("mix_of_rows", N), mix_of_rows<Real, width>, out, a, b, logits, N, C);
    });
}

template <class Real>
void mix_backward(Exec& exec, Real* da, Real* db, float* dlogits, const Real* dout, const Real* a, const Real* b,
                  const float* logits, std::int64_t N, std::int64_t C) {
    with_width<Real>(rows_are_wide<Real>(C, da, db, dout, a, b), [&](auto width) {
        launch(exec, over_rows("mix_gradients", N), mix_gradients<Real, width>, da, db, dlogits, dout, a, b, logits, N,
               C);
    });
}

template void jitter_rows<float>(Exec&, float*, const float*, const float*, const RoutedRows&, std::int64_t, double);
template void jitter_rows<bf16>(Exec&, bf16*, const bf16*, const bf16*, const RoutedRows&, std::int64_t, double);
template void combine_rows<float>(Exec&, float*, const float*, const float*, const std::int32_t*, std::int64_t,
                                  std::int64_t, std::int64_t);
template void combine_rows<bf16>(Exec&, bf16*, const bf16*, const float*, const std::int32_t*, std::int64_t,
                                 std::int64_t, std::int64_t);
template void combine_backward<float>(Exec&, float*, float*, const float*, const float*, const float*,
                                      const std::int32_t*, std::int64_t, std::int64_t, std::int64_t);
template void combine_backward<bf16>(Exec&, bf16*, float*, const bf16*, const bf16*, const float*, const std::int32_t*,
                                     std::int64_t, std::int64_t, std::int64_t);
template void mix_rows<float>(Exec&, float*, const float*, const float*, const float*, std::int64_t, std::int64_t);
template void mix_rows<bf16>(Exec&, bf16*, const bf16*, const bf16*, const float*, std::int64_t, std::int64_t);
template void mix_backward<float>(Exec&, float*, float*, float*, const float*, const float*, const float*, const float*,
                                  std::int64_t, std::int64_t);
template void mix_backward<bf16>(Exec&, bf16*, bf16*, float*, const bf16*, const bf16*, const bf16*, const float*,
                                 std::int64_t, std::int64_t);

}  // namespace deft::kernels::cuda
