#include "kernels/cuda/cuda.h"

#include <cmath>

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

constexpr int kThreads = 256;

// partial (chunks): sums of squares of x (n).
__global__ void sum_squares_of_chunks(double* partial, const float* x, std::int64_t n) {
    const std::int64_t first = blockIdx.x * kSquaresChunk, end = first + kSquaresChunk < n ? first + kSquaresChunk : n;
    double squares = 0;
    for (std::int64_t i = first + threadIdx.x; i < end; i += kThreads) squares += static_cast<double>(x[i]) * x[i];
    squares = block_sum(squares);
    if (threadIdx.x == 0) partial[blockIdx.x] = squares;
}

// One thread.
__global__ void replace_by_root(double* x) {
    x[0] = sqrt(x[0]);
}

// One block.
template <class Real>
__global__ void sum_values(double* total, const Real* x, std::int64_t n, bool adds) {
    double sum = 0;
    for (std::int64_t i = threadIdx.x; i < n; i += kThreads) sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) total[0] = adds ? total[0] + sum : sum;
}

// Settings of a step, with the bias corrections folded in: lr m^ / (sqrt(v^) + eps) = m_scale m / (sqrt(v_scale v) +
// eps).
struct AdamWStep {
    float beta1, one_minus_beta1, beta2, one_minus_beta2, m_scale, v_scale, eps, decay;
    double max_grad_norm;

    explicit AdamWStep(const AdamW& adamw)
        : beta1(static_cast<float>(adamw.beta1)),
          one_minus_beta1(static_cast<float>(1 - adamw.beta1)),
          beta2(static_cast<float>(adamw.beta2)),
          one_minus_beta2(static_cast<float>(1 - adamw.beta2)),
          m_scale(static_cast<float>(adamw.lr / (1 - std::pow(adamw.beta1, static_cast<double>(adamw.step))))),
          v_scale(static_cast<float>(1 / (1 - std::pow(adamw.beta2, static_cast<double>(adamw.step))))),
          eps(static_cast<float>(adamw.eps)),
          decay(static_cast<float>(adamw.lr * adamw.weight_decay)),
          max_grad_norm(adamw.max_grad_norm) {}
};

// By what gradients are multiplied, so that their norm is at most that; most 0: no bound.
__device__ float clip_of(double norm, double most) {
    return static_cast<float>(most > 0 && norm > most ? most / norm : 1.0);
}

__global__ void adamw_step(float* param, bf16* rounded, float* m, float* v, const float* grad, const double* norm,
                           const double* loss, std::int64_t n, AdamWStep step) {
    if (!isfinite(norm[0]) || !isfinite(loss[0])) return;
    const float clip = clip_of(norm[0], step.max_grad_norm);
    for (std::int64_t i = first_item(); i < n; i += item_stride()) {
        const float g = clip * grad[i], value = param[i];
        const float m_new = step.beta1 * m[i] + step.one_minus_beta1 * g;
        const float v_new = step.beta2 * v[i] + step.one_minus_beta2 * g * g;
        const float updated =
            value - (step.m_scale * m_new / (sqrtf(step.v_scale * v_new) + step.eps) + step.decay * value);
        m[i] = m_new;
        v[i] = v_new;
        param[i] = updated;
        if (rounded != nullptr) rounded[i] = to_bf16(updated);
    }
}

struct SgdStep {
    float lr, momentum, decay;
    double max_grad_norm;

    explicit SgdStep(const Sgd& sgd)
        : lr(static_cast<float>(sgd.lr)),
          momentum(static_cast<float>(sgd.momentum)),
          decay(static_cast<float>(sgd.weight_decay)),
          max_grad_norm(sgd.max_grad_norm) {}
};

__global__ void sgd_step(float* param, bf16* rounded, float* m, const float* grad, const double* norm,
                         const double* loss, std::int64_t n, SgdStep step) {
    if (!isfinite(norm[0]) || !isfinite(loss[0])) return;
    const float clip = clip_of(norm[0], step.max_grad_norm);
    for (std::int64_t i = first_item(); i < n; i += item_stride()) {
        const float value = param[i];
        const float m_new = step.momentum * m[i] + (clip * grad[i] + step.decay * value);
        const float updated = value - step.lr * m_new;
        m[i] = m_new;
        param[i] = updated;
        if (rounded != nullptr) rounded[i] = to_bf16(updated);
    }
}

template <class Real>
__global__ void round_values(Real* to, const float* from, std::int64_t n) {
    for (std::int64_t i = first_item(); i < n; i += item_stride()) to[i] = from_float<Real>(from[i]);
}

}  // namespace

void sum_of_squares(Exec& exec, double* total, const float* x, std::int64_t n, Accumulate accumulate) {
    require_workspace(exec, sum_of_squares_workspace(n), "sum_of_squares");
    const std::int64_t chunks = ceil_div(n, kSquaresChunk);
    double* partial = scratch<double>(exec, 0);  // (chunks)
    launch(exec, {"sum_squares_of_chunks", chunks, kThreads}, sum_squares_of_chunks, partial, x, n);
    launch(exec, {"sum_values", 1, kThreads}, sum_values<double>, total, partial, chunks, accumulate == Accumulate::yes);
}

void square_root(Exec& exec, double* x) {
    launch(exec, {"replace_by_root", 1, 1}, replace_by_root, x);
}

void adamw_update(Exec& exec, float* param, bf16* rounded, float* m, float* v, const float* grad, const double* norm,
                  const double* loss, std::int64_t n, const AdamW& adamw) {
    launch(exec, over_items("adamw_step", n), adamw_step, param, rounded, m, v, grad, norm, loss, n, AdamWStep(adamw));
}

void sgd_update(Exec& exec, float* param, bf16* rounded, float* m, const float* grad, const double* norm,
                const double* loss, std::int64_t n, const Sgd& sgd) {
    launch(exec, over_items("sgd_step", n), sgd_step, param, rounded, m, grad, norm, loss, n, SgdStep(sgd));
}

void sum(Exec& exec, double* total, const float* x, std::int64_t n, Accumulate accumulate) {
    launch(exec, {"sum_values", 1, kThreads}, sum_values<float>, total, x, n, accumulate == Accumulate::yes);
}

template <class Real>
void round_to(Exec& exec, Real* to, const float* from, std::int64_t n) {
    launch(exec, over_items("round_values", n), round_values<Real>, to, from, n);
}

template void round_to<float>(Exec&, float*, const float*, std::int64_t);
template void round_to<bf16>(Exec&, bf16*, const float*, std::int64_t);

}  // namespace deft::kernels::cuda
