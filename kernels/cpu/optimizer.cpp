#include "kernels/cpu/cpu.h"

#include <cmath>

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/wide_vectors.h"
#include "kernels/cpu/workspace.h"
#include "kernels/stochastic_rounding.h"

namespace deft::kernels::cpu {

namespace {

constexpr std::int64_t kChunk = 1 << 15;  // elements an item; part of the summation order

// Factor that bounds the norm of gradients by `most`; most 0: no bound.
float clip_of(double norm, double most) {
    return static_cast<float>(most > 0 && norm > most ? most / norm : 1.0);
}

}  // namespace

void sum_of_squares(Exec& exec, double* total, const float* x, std::int64_t n, Accumulate accumulate) {
    require_workspace(exec, sum_of_squares_workspace(n), "sum_of_squares");
    const std::int64_t chunks = ceil_div(n, kChunk);
    double* partial = scratch<double>(exec, 0);  // (chunks)
    parallel_items(exec.threads, chunks, [&](std::int64_t chunk, int) {
        const float* first = x + chunk * kChunk;
        widest_vectors([&] {
            partial[chunk] = sum_of<double>(std::min(kChunk, n - chunk * kChunk), [&](std::int64_t i) {
                const auto value = static_cast<double>(first[i]);
                return value * value;
            });
        });
    });
    double squares = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) squares += partial[chunk];
    total[0] = accumulate == Accumulate::yes ? total[0] + squares : squares;
}

void square_root(Exec&, double* x) {
    x[0] = std::sqrt(x[0]);
}

std::size_t sum_of_squares_workspace(std::int64_t n) {
    return scratch_bytes<double>(ceil_div(n, kChunk));
}

template <class Moment>
void adamw_update(Exec& exec, float* param, bf16* rounded, Moment* m, Moment* v, const float* grad, const double* norm,
                  const double* loss, std::int64_t n, const AdamW& adamw) {
    if (!std::isfinite(norm[0]) || !std::isfinite(loss[0])) return;
    const AdamWRates rates = adamw.rates.get();
    const float clip = clip_of(norm[0], adamw.max_grad_norm);
    const auto beta1 = static_cast<float>(adamw.beta1), beta2 = static_cast<float>(adamw.beta2);
    const auto one_minus_beta1 = static_cast<float>(1 - adamw.beta1);
    const auto one_minus_beta2 = static_cast<float>(1 - adamw.beta2);
    const auto m_scale = static_cast<float>(rates.mean_scale), v_scale = static_cast<float>(rates.square_scale);
    const auto eps = static_cast<float>(adamw.eps);
    const auto decay = static_cast<float>(rates.lr * adamw.weight_decay);
    parallel_items(exec.threads, ceil_div(n, kChunk), [&](std::int64_t chunk, int) {
        const std::int64_t start = chunk * kChunk, end = std::min(n, start + kChunk);
#pragma omp simd
        for (std::int64_t i = start; i < end; ++i) {
            const std::uint32_t random = moment_bits(rates.step, param[i], grad[i]);
            const float g = clip * grad[i];
            const float m_new = beta1 * to_float(m[i]) + one_minus_beta1 * g;
            const float v_new = beta2 * to_float(v[i]) + one_minus_beta2 * g * g;
            m[i] = stored_moment<Moment>(m_new, random);
            v[i] = stored_moment<Moment>(v_new, random >> 16);
            param[i] -= m_scale * m_new / (std::sqrt(v_scale * v_new) + eps) + decay * param[i];
        }
        if (rounded == nullptr) return;
        for (std::int64_t i = start; i < end; ++i) rounded[i] = to_bf16(param[i]);
    });
}

template <class Moment>
void sgd_update(Exec& exec, float* param, bf16* rounded, Moment* m, const float* grad, const double* norm,
                const double* loss, std::int64_t n, const Sgd& sgd) {
    if (!std::isfinite(norm[0]) || !std::isfinite(loss[0])) return;
    const float clip = clip_of(norm[0], sgd.max_grad_norm);
    const SgdRates rates = sgd.rates.get();
    const auto lr = static_cast<float>(rates.lr), momentum = static_cast<float>(sgd.momentum);
    const auto decay = static_cast<float>(sgd.weight_decay);
    parallel_items(exec.threads, ceil_div(n, kChunk), [&](std::int64_t chunk, int) {
        const std::int64_t start = chunk * kChunk, end = std::min(n, start + kChunk);
#pragma omp simd
        for (std::int64_t i = start; i < end; ++i) {
            const std::uint32_t random = moment_bits(rates.step, param[i], grad[i]);
            const float m_new = momentum * to_float(m[i]) + (clip * grad[i] + decay * param[i]);
            m[i] = stored_moment<Moment>(m_new, random);
            param[i] -= lr * m_new;
        }
        if (rounded == nullptr) return;
        for (std::int64_t i = start; i < end; ++i) rounded[i] = to_bf16(param[i]);
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

void sum(Exec&, double* total, const float* x, std::int64_t n, Accumulate accumulate) {
    double all = 0;
    for (std::int64_t start = 0; start < n; start += kChunk)
        all += sum_of<double>(std::min(kChunk, n - start),
                              [&](std::int64_t i) { return static_cast<double>(x[start + i]); });
    total[0] = accumulate == Accumulate::yes ? total[0] + all : all;
}

}  // namespace deft::kernels::cpu
