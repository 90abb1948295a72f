#include "kernels/cuda/cuda.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <type_traits>

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

// Threads of a block, which takes one row: whole warps, with four logits a thread in a short row.
int threads_of_row(std::int64_t V) {
    constexpr std::int64_t kMostThreads = 256, kLogits = 4;
    return static_cast<int>(std::min(kMostThreads, ceil_div(V, kLogits * kWarpSize) * kWarpSize));
}

// The chunk's logits (chunk, leading), and their gradients of type Real: in place of the logits if of the same type.
template <class Real>
struct ChunkScratch {
    std::int64_t leading;
    float* logits;
    Real* dlogits;

    ChunkScratch(const Exec& exec, std::int64_t rows, std::int64_t V)
        : leading(padded_vocabulary(V)), logits(scratch<float>(exec, 0)) {
        if constexpr (std::is_same_v<Real, float>)
            dlogits = logits;
        else
            dlogits = scratch<Real>(exec, scratch_bytes<float>(head_chunk_rows(rows, V) * leading));
    }
};

struct LogSumExp {
    float highest;
    float sum;  // of exp(logit - highest)
};

// Over one row of V logits by one block. One pass: each thread keeps its own running maximum (Milakov & Gimelshein
// 2018, "Online normalizer calculation for softmax", algorithm 3).
__device__ LogSumExp row_log_sum_exp(const float* logits, std::int64_t V) {
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

// One block a row: loss (rows) and dlogits = scale (softmax - one-hot).
template <class Real>
__global__ void cross_entropy_gradient(float* loss, Real* dlogits, const float* logits, const std::int32_t* target,
                                       std::int64_t V, std::int64_t leading, float scale) {
    const std::int64_t row = blockIdx.x, wanted = target[row];
    const float* row_logits = logits + row * leading;
    Real* row_dlogits = dlogits + row * leading;
    if (wanted < 0 || wanted >= V) {
        for (std::int64_t v = threadIdx.x; v < V; v += blockDim.x) row_dlogits[v] = from_float<Real>(0.0f);
        if (threadIdx.x == 0) loss[row] = wanted == kIgnoreTarget ? 0.0f : NAN;
        return;
    }
    const float own = row_logits[wanted];  // read before a gradient may take its place
    const LogSumExp total = row_log_sum_exp(row_logits, V);
    const float factor = scale / total.sum;
    for (std::int64_t v = threadIdx.x; v < V; v += blockDim.x) {
        const float probability = expf(row_logits[v] - total.highest) * factor;
        row_dlogits[v] = from_float<Real>(v == wanted ? probability - scale : probability);
    }
    if (threadIdx.x == 0) loss[row] = logf(total.sum) - (own - total.highest);
}

// One block a row: loss (rows), and greedy (rows) unless null.
__global__ void cross_entropy(float* loss, std::int32_t* greedy, const float* logits, const std::int32_t* target,
                              std::int64_t V, std::int64_t leading) {
    const std::int64_t row = blockIdx.x, wanted = target[row];
    if (wanted < 0 || wanted >= V) {
        if (threadIdx.x != 0) return;
        loss[row] = wanted == kIgnoreTarget ? 0.0f : NAN;
        if (greedy != nullptr) greedy[row] = 0;
        return;
    }
    const float* row_logits = logits + row * leading;
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

}  // namespace

template <class Real>
void head_loss_train(Exec& exec, float* loss, Real* dx, float* dw, const Real* x, const Real* w,
                     const std::int32_t* target, std::int64_t rows, std::int64_t C, std::int64_t V, double scale,
                     Accumulate accumulate) {
    require_workspace(exec, head_loss_workspace(rows, C, V), "head_loss_train");
    const ChunkScratch<Real> chunk_of(exec, rows, V);
    const std::int64_t leading = chunk_of.leading, most = head_chunk_rows(rows, V);
    float dw_beta = accumulate == Accumulate::yes ? 1.0f : 0.0f;
    if (rows == 0) gemm<Real, float>(exec, dw, {chunk_of.dlogits, true, leading}, {x}, V, C, 0, dw_beta);
    for (std::int64_t first = 0; first < rows; first += most) {
        const std::int64_t chunk = std::min(most, rows - first);
        const Real* x_chunk = x + first * C;  // (chunk, C)
        gemm<Real, float>(exec, chunk_of.logits, {x_chunk}, {w, true}, chunk, V, C, 0.0f, leading);
        launch(exec, {"cross_entropy_gradient", chunk, threads_of_row(V)}, cross_entropy_gradient<Real>, loss + first,
               chunk_of.dlogits, chunk_of.logits, target + first, V, leading, scale);
        gemm<Real, Real>(exec, dx + first * C, {chunk_of.dlogits, false, leading}, {w}, chunk, C, V, 0.0f);
        gemm<Real, float>(exec, dw, {chunk_of.dlogits, true, leading}, {x_chunk}, V, C, chunk, dw_beta);
        dw_beta = 1.0f;  // later chunks add
    }
}

template <class Real>
void head_loss(Exec& exec, float* loss, std::int32_t* greedy, const Real* x, const Real* w, const std::int32_t* target,
               std::int64_t rows, std::int64_t C, std::int64_t V) {
    require_workspace(exec, head_loss_workspace(rows, C, V), "head_loss");
    const std::int64_t leading = padded_vocabulary(V), most = head_chunk_rows(rows, V);
    float* logits = scratch<float>(exec, 0);  // (chunk, leading)
    for (std::int64_t first = 0; first < rows; first += most) {
        const std::int64_t chunk = std::min(most, rows - first);
        gemm<Real, float>(exec, logits, {x + first * C}, {w, true}, chunk, V, C, 0.0f, leading);
        launch(exec, {"cross_entropy", chunk, threads_of_row(V)}, cross_entropy, loss + first,
               greedy == nullptr ? nullptr : greedy + first, logits, target + first, V, leading);
    }
}

template void head_loss_train<float>(Exec&, float*, float*, float*, const float*, const float*, const std::int32_t*,
                                     std::int64_t, std::int64_t, std::int64_t, double, Accumulate);
template void head_loss_train<bf16>(Exec&, float*, bf16*, float*, const bf16*, const bf16*, const std::int32_t*,
                                    std::int64_t, std::int64_t, std::int64_t, double, Accumulate);
template void head_loss<float>(Exec&, float*, std::int32_t*, const float*, const float*, const std::int32_t*,
                               std::int64_t, std::int64_t, std::int64_t);
template void head_loss<bf16>(Exec&, float*, std::int32_t*, const bf16*, const bf16*, const std::int32_t*, std::int64_t,
                              std::int64_t, std::int64_t);

}  // namespace deft::kernels::cuda
