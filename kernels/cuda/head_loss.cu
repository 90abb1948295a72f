#include "kernels/cuda/cuda.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <type_traits>

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

// Threads of a block, which takes one row: whole warps, each thread with four accesses or more. Two blocks fill a
// multiprocessor, so that the rows that are worked on stay in the cache.
constexpr int kMostRowThreads = 512;
int threads_of_row(std::int64_t V, int width) {
    return static_cast<int>(std::min<std::int64_t>(kMostRowThreads, ceil_div(V, 4 * width * kWarpSize) * kWarpSize));
}

// The rows that have a target, in order.
struct TargetRows {
    static constexpr std::int32_t kNoRow = -1;

    const std::int32_t* list;  // null: all rows

    __device__ std::int64_t operator[](std::int64_t i) const { return list == nullptr ? i : list[i]; }
};

constexpr int kListThreads = 256;

// list (expected): the rows with a target, then kNoRow where they are fewer. loss and greedy (rows) of others are 0;
// where they are more, the loss of rows beyond the list is NaN. One block, whose threads take neighbouring segments.
__global__ void list_target_rows(std::int32_t* list, float* loss, std::int32_t* greedy, const std::int32_t* target,
                                 std::int64_t rows, std::int64_t expected) {
    const std::int64_t segment = ceil_div(rows, blockDim.x), first = threadIdx.x * segment;
    const std::int64_t end = first + segment < rows ? first + segment : rows;
    std::int32_t found = 0;
    for (std::int64_t row = first; row < end; ++row)
        if (target[row] != kIgnoreTarget) ++found;
    const Prefix<std::int32_t> prefix = block_prefix(found);
    std::int64_t place = prefix.before;
    for (std::int64_t row = first; row < end; ++row) {
        const bool is_listed = target[row] != kIgnoreTarget && place < expected;
        if (target[row] != kIgnoreTarget && !is_listed) loss[row] = NAN;
        if (target[row] == kIgnoreTarget) loss[row] = 0;
        if (!is_listed && greedy != nullptr) greedy[row] = 0;
        if (is_listed) list[place] = static_cast<std::int32_t>(row);
        if (target[row] != kIgnoreTarget) ++place;
    }
    for (std::int64_t i = prefix.total + threadIdx.x; i < expected; i += blockDim.x) list[i] = TargetRows::kNoRow;
}

// copied (chunk, C) = rows of x, zeros for none.
template <class Real>
__global__ void copy_target_rows(Real* copied, const Real* x, TargetRows rows, std::int64_t chunk, std::int64_t C) {
    for (std::int64_t i = first_item(); i < chunk * C; i += item_stride()) {
        const std::int64_t row = rows[i / C];
        copied[i] = row < 0 ? from_float<Real>(0.0f) : x[row * C + i % C];
    }
}

// Rows of dx = copied (chunk, C).
template <class Real>
__global__ void put_target_rows(Real* dx, const Real* copied, TargetRows rows, std::int64_t chunk, std::int64_t C) {
    for (std::int64_t i = first_item(); i < chunk * C; i += item_stride()) {
        const std::int64_t row = rows[i / C];
        if (row >= 0) dx[row * C + i % C] = copied[i];
    }
}

template <class Real>
__global__ void clear_rows(Real* dx, std::int64_t items) {
    for (std::int64_t i = first_item(); i < items; i += item_stride()) dx[i] = from_float<Real>(0.0f);
}

// Scratch of a chunk: logits (chunk, leading), and rows of x or dx.
template <class Real>
struct HeadLossScratch {
    std::int64_t leading;
    std::byte* logits;
    Real* copied;        // (chunk, C)
    std::int32_t* list;  // (rows)

    HeadLossScratch(const Exec& exec, std::int64_t rows, std::int64_t C, std::int64_t V)
        : leading(padded_vocabulary(V)), logits(scratch<std::byte>(exec, 0)) {
        const HeadLossPlaces at(rows, C, V);
        copied = scratch<Real>(exec, at.copied);
        list = scratch<std::int32_t>(exec, at.list);
    }
    // Nothing is listed or copied where all rows have a target.
    TargetRows find_rows(Exec& exec, float* loss, std::int32_t* greedy, const std::int32_t* target, std::int64_t rows,
                         std::int64_t target_rows) const {
        if (target_rows == rows) return {nullptr};
        launch(exec, {"list_target_rows", 1, kListThreads}, list_target_rows, list, loss, greedy, target, rows,
               target_rows);
        return {list};
    }
    const Real* rows_of(Exec& exec, const Real* x, TargetRows rows, std::int64_t first, std::int64_t chunk,
                        std::int64_t C) const {
        if (rows.list == nullptr) return x + first * C;
        launch(exec, over_items("copy_target_rows", chunk * C), copy_target_rows<Real>, copied, x,
               TargetRows{rows.list + first}, chunk, C);
        return copied;
    }
};

// A row's logits: products, and the bias (V) or null.
template <class Real>
struct RowLogits {
    const float* product;
    const Real* bias;

    __device__ float operator[](std::int64_t v) const {
        return bias == nullptr ? product[v] : product[v] + to_float(bias[v]);
    }
};

struct LogSumExp {
    float highest;
    float sum;  // of exp(logit - highest)
};

// Over one row of V logits by one block. One pass: each thread keeps its own running maximum (Milakov & Gimelshein
// 2018, "Online normalizer calculation for softmax", algorithm 3).
template <class Real>
__device__ LogSumExp row_log_sum_exp(const RowLogits<Real>& logits, std::int64_t V) {
    float highest = -FLT_MAX, sum = 0;
    for (std::int64_t v = threadIdx.x; v < V; v += blockDim.x) {
        const float logit = logits[v];
        if (logit > highest) {
            sum = sum * expf(highest - logit) + 1.0f;
            highest = logit;
        } else {
            sum += expf(logit - highest);
        }
    }
    const float block_highest = block_max(highest);
    return {block_highest, block_sum(sum * expf(highest - block_highest))};
}

// Neighbouring logits of a row, moved at once, with the bias; -infinity past V.
template <class Real>
__device__ inline void load_logits(float (&to)[kWide<Real>], const Real* row, const Real* bias, std::int64_t first,
                                   std::int64_t V) {
    load(to, row + first);
    for (int i = 0; i < kWide<Real>; ++i) {
        const std::int64_t v = first + i;
        if (v >= V)
            to[i] = -INFINITY;
        else if (bias != nullptr)
            to[i] += to_float(bias[v]);
    }
}

// Fast where the result is rounded to bf16.
template <class Real>
__device__ inline float exponential(float x) {
    constexpr float kLog2OfE = 1.4426950408889634f;
    if constexpr (std::is_same_v<Real, float>)
        return expf(x);
    else
        return exp2_approximate(x * kLog2OfE);
}

// One block a row of the chunk, which begins at the `first` of the rows that have a target: loss (rows), and in place
// of the logits (chunk, leading) their gradients scale (softmax - one-hot), zeros from V on. The row is read twice, 16
// bytes at a time; as blocks are large, the second time from the cache.
template <class Real>
__global__ void __launch_bounds__(kMostRowThreads, 2)
    cross_entropy_gradient(float* loss, Real* logits, const Real* bias, const std::int32_t* target, TargetRows rows,
                           std::int64_t first, std::int64_t V, std::int64_t leading, StepValue<double> step_scale) {
    constexpr int kWidth = kWide<Real>;
    const std::int64_t i = blockIdx.x, row = rows[first + i], wanted = row < 0 ? kIgnoreTarget : target[row];
    Real* const own_row = logits + i * leading;
    const std::int64_t begin = static_cast<std::int64_t>(threadIdx.x) * kWidth,
                       step = std::int64_t{blockDim.x} * kWidth;
    float value[kWidth];
    if (wanted < 0 || wanted >= V) {
        for (float& one : value) one = 0;
        for (std::int64_t v = begin; v < leading; v += step) store(own_row + v, value);
        if (threadIdx.x == 0 && row >= 0) loss[row] = wanted == kIgnoreTarget ? 0.0f : NAN;
        return;
    }
    // Read before the reductions, after which a gradient may take its place.
    const float own = to_float(own_row[wanted]) + (bias == nullptr ? 0.0f : to_float(bias[wanted]));
    float highest = -FLT_MAX, sum = 0;  // of this thread: Milakov & Gimelshein 2018, algorithm 3
    for (std::int64_t v = begin; v < V; v += step) {
        load_logits(value, own_row, bias, v, V);
        float most = highest;
        for (const float one : value) most = fmaxf(most, one);
        if (most > highest) {
            sum *= exponential<Real>(highest - most);
            highest = most;
        }
        for (const float one : value) sum += exponential<Real>(one - highest);
    }
    const float block_highest = block_max(highest);
    const float total = block_sum(sum * exponential<Real>(highest - block_highest));
    const auto scale = static_cast<float>(step_scale.get());
    const float factor = scale / total;
    for (std::int64_t v = begin; v < leading; v += step) {
        load_logits(value, own_row, bias, v, V);
        for (int k = 0; k < kWidth; ++k) {
            const float probability = v + k < V ? exponential<Real>(value[k] - block_highest) * factor : 0.0f;
            value[k] = v + k == wanted ? probability - scale : probability;
        }
        store(own_row + v, value);
    }
    if (threadIdx.x == 0) loss[row] = logf(total) - (own - block_highest);
}

// Cross-entropy of each row: loss (rows), and greedy (rows) unless null.
template <class Real>
__global__ void cross_entropy(float* loss, std::int32_t* greedy, const float* logits, const Real* bias,
                              const std::int32_t* target, TargetRows rows, std::int64_t first, std::int64_t V,
                              std::int64_t leading) {
    const std::int64_t i = blockIdx.x, row = rows[first + i], wanted = row < 0 ? kIgnoreTarget : target[row];
    if (wanted < 0 || wanted >= V) {
        if (threadIdx.x != 0 || row < 0) return;
        loss[row] = wanted == kIgnoreTarget ? 0.0f : NAN;
        if (greedy != nullptr) greedy[row] = 0;
        return;
    }
    const RowLogits<Real> row_logits{logits + i * leading, bias};
    const float own = row_logits[wanted];
    const LogSumExp total = row_log_sum_exp(row_logits, V);
    float beaten = own == total.highest ? 0.0f : 1.0f;  // by a larger logit, or by an equal one of a lower id
    for (std::int64_t v = threadIdx.x; v < wanted; v += blockDim.x)
        if (row_logits[v] == total.highest) beaten = 1.0f;
    beaten = block_max(beaten);
    if (threadIdx.x != 0) return;
    loss[row] = logf(total.sum) - (own - total.highest);
    if (greedy != nullptr) greedy[row] = beaten == 0.0f;
}

// dbias (V) = or += column sums of dlogits (chunk, leading), row after row.
template <class Real>
__global__ void sum_bias_gradient(float* dbias, const Real* dlogits, std::int64_t chunk, std::int64_t V,
                                  std::int64_t leading, bool adds) {
    for (std::int64_t v = first_item(); v < V; v += item_stride()) {
        float sum = adds ? dbias[v] : 0.0f;
        for (std::int64_t i = 0; i < chunk; ++i) sum += to_float(dlogits[i * leading + v]);
        dbias[v] = sum;
    }
}

std::int64_t chunk_of(std::int64_t rows, std::int64_t V, std::size_t bytes_of_logit, const HeadLayout& layout) {
    const std::int64_t most = head_chunk_rows(rows, V, bytes_of_logit);
    return layout.most_rows == 0 ? most : std::min(most, layout.most_rows);
}

}  // namespace

template <class Real>
void head_loss_train(Exec& exec, float* loss, Real* dx, float* dw, float* dbias, const Real* x, const Real* w,
                     const Real* bias, const std::int32_t* target, std::int64_t rows, std::int64_t target_rows,
                     std::int64_t C, std::int64_t V, StepValue<double> scale, Accumulate accumulate,
                     const HeadLayout& layout) {
    require_workspace(exec, head_loss_workspace(rows, C, V), "head_loss_train");
    const std::int64_t weight_rows = std::max(layout.weight_rows, V);
    const std::int64_t most = chunk_of(target_rows, V, sizeof(Real), layout);
    const HeadLossScratch<Real> at(exec, rows, C, V);
    auto* const logits = reinterpret_cast<Real*>(at.logits);  // (most, leading), then their gradients
    const TargetRows found = at.find_rows(exec, loss, nullptr, target, rows, target_rows);
    if (found.list != nullptr) launch(exec, over_items("clear_rows", rows * C), clear_rows<Real>, dx, rows * C);
    bool adds = accumulate == Accumulate::yes;
    const auto add_weight_gradients = [&](const Real* x_chunk, std::int64_t chunk) {
        gemm<Real, float>(exec, dw, {logits, true, at.leading}, {x_chunk}, weight_rows, C, chunk, adds ? 1.0f : 0.0f);
        if (dbias != nullptr)
            launch(exec, over_items("sum_bias_gradient", V), sum_bias_gradient<Real>, dbias, logits, chunk, V,
                   at.leading, adds);
        adds = true;  // later chunks add
    };
    if (target_rows == 0) add_weight_gradients(x, 0);
    for (std::int64_t first = 0; first < target_rows; first += most) {
        const std::int64_t chunk = std::min(most, target_rows - first);
        const Real* x_chunk = at.rows_of(exec, x, found, first, chunk, C);  // (chunk, C)
        gemm<Real, Real>(exec, logits, {x_chunk}, {w, true}, chunk, weight_rows, C, 0.0f, at.leading);
        launch(exec, {"cross_entropy_gradient", chunk, threads_of_row(V, kWide<Real>)}, cross_entropy_gradient<Real>,
               loss, logits, bias, target, found, first, V, at.leading, scale);
        add_weight_gradients(x_chunk, chunk);
        // The copied rows of x have been read.
        Real* dx_chunk = found.list == nullptr ? dx + first * C : at.copied;
        gemm<Real, Real>(exec, dx_chunk, {logits, false, at.leading}, {w}, chunk, C, weight_rows, 0.0f);
        if (found.list != nullptr)
            launch(exec, over_items("put_target_rows", chunk * C), put_target_rows<Real>, dx, at.copied,
                   TargetRows{found.list + first}, chunk, C);
    }
}

template <class Real>
void head_loss(Exec& exec, float* loss, std::int32_t* greedy, const Real* x, const Real* w, const Real* bias,
               const std::int32_t* target, std::int64_t rows, std::int64_t target_rows, std::int64_t C, std::int64_t V,
               const HeadLayout& layout) {
    require_workspace(exec, head_loss_workspace(rows, C, V), "head_loss");
    const std::int64_t weight_rows = std::max(layout.weight_rows, V);
    const std::int64_t most = chunk_of(target_rows, V, sizeof(float), layout);
    const HeadLossScratch<Real> at(exec, rows, C, V);
    auto* const logits = reinterpret_cast<float*>(at.logits);  // (most, leading)
    const TargetRows found = at.find_rows(exec, loss, greedy, target, rows, target_rows);
    for (std::int64_t first = 0; first < target_rows; first += most) {
        const std::int64_t chunk = std::min(most, target_rows - first);
        const Real* x_chunk = at.rows_of(exec, x, found, first, chunk, C);  // (chunk, C)
        gemm<Real, float>(exec, logits, {x_chunk}, {w, true}, chunk, weight_rows, C, 0.0f, at.leading);
        launch(exec, {"cross_entropy", chunk, threads_of_row(V, 1)}, cross_entropy<Real>, loss, greedy, logits, bias,
               target, found, first, V, at.leading);
    }
}

template <class Real>
void head_loss_train(Exec& exec, float* loss, Real* dx, float* dw, float* dbias, const Real* x, const Real* w,
                     const Real* bias, const std::int32_t* target, std::int64_t rows, std::int64_t target_rows,
                     std::int64_t C, std::int64_t V, StepValue<double> scale, Accumulate accumulate) {
    head_loss_train(exec, loss, dx, dw, dbias, x, w, bias, target, rows, target_rows, C, V, scale, accumulate,
                    HeadLayout{});
}

template <class Real>
void head_loss(Exec& exec, float* loss, std::int32_t* greedy, const Real* x, const Real* w, const Real* bias,
               const std::int32_t* target, std::int64_t rows, std::int64_t target_rows, std::int64_t C,
               std::int64_t V) {
    head_loss(exec, loss, greedy, x, w, bias, target, rows, target_rows, C, V, HeadLayout{});
}

template void head_loss_train<float>(Exec&, float*, float*, float*, float*, const float*, const float*, const float*,
                                     const std::int32_t*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                     StepValue<double>, Accumulate, const HeadLayout&);
template void head_loss_train<bf16>(Exec&, float*, bf16*, float*, float*, const bf16*, const bf16*, const bf16*,
                                    const std::int32_t*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                    StepValue<double>, Accumulate, const HeadLayout&);
template void head_loss<float>(Exec&, float*, std::int32_t*, const float*, const float*, const float*,
                               const std::int32_t*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                               const HeadLayout&);
template void head_loss<bf16>(Exec&, float*, std::int32_t*, const bf16*, const bf16*, const bf16*, const std::int32_t*,
                              std::int64_t, std::int64_t, std::int64_t, std::int64_t, const HeadLayout&);
template void head_loss_train<float>(Exec&, float*, float*, float*, float*, const float*, const float*, const float*,
                                     const std::int32_t*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                     StepValue<double>, Accumulate);
template void head_loss_train<bf16>(Exec&, float*, bf16*, float*, float*, const bf16*, const bf16*, const bf16*,
                                    const std::int32_t*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                    StepValue<double>, Accumulate);
template void head_loss<float>(Exec&, float*, std::int32_t*, const float*, const float*, const float*,
                               const std::int32_t*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
template void head_loss<bf16>(Exec&, float*, std::int32_t*, const bf16*, const bf16*, const bf16*, const std::int32_t*,
                              std::int64_t, std::int64_t, std::int64_t, std::int64_t);

}  // namespace deft::kernels::cuda
