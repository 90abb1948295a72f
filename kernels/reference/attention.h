#pragma once
// Scaled dot-product attention (Vaswani et al. 2017, equation 1), one row at a time.

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/reference/dot.h"
#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

// Where vector `which` (0 q, 1 k, 2 v) of position t begins in qkv (B, T, 3, H, d).
inline std::int64_t packed_at(std::int64_t b, std::int64_t t, std::int64_t which, std::int64_t h, std::int64_t T,
                              std::int64_t H, std::int64_t d) {
    return (((b * T + t) * 3 + which) * H + h) * d;
}

// The real tokens of sample b; length (B) or null.
inline std::int64_t real_tokens(const std::int32_t* length, std::int64_t b, std::int64_t T) {
    return length == nullptr ? T : std::min<std::int64_t>(length[b], T);
}

// out = softmax(Q K^T / sqrt(d)) V over the real tokens; of padding, out and lse are 0. qkv (B, T, 3, H, d),
// out (B, T, H, d), lse (B, H, T), length (B) or null.
template <class Real>
void attention_forward(Exec&, Real* out, Real* lse, const Real* qkv, std::int64_t B, std::int64_t T, std::int64_t H,
                       std::int64_t d, bool causal, const std::int32_t* length = nullptr) {
    const Real scale = 1 / std::sqrt(Real(d));
    std::vector<Real> score(static_cast<std::size_t>(T));
    for (std::int64_t b = 0; b < B; ++b)
        for (std::int64_t h = 0; h < H; ++h)
            for (std::int64_t t = 0; t < T; ++t) {
                const std::int64_t real = real_tokens(length, b, T);
                Real* o = out + ((b * T + t) * H + h) * d;
                for (std::int64_t i = 0; i < d; ++i) o[i] = 0;
                lse[(b * H + h) * T + t] = 0;
                if (t >= real) continue;
                const auto seen = static_cast<std::size_t>(causal ? t + 1 : real);
                const Real* q = qkv + packed_at(b, t, 0, h, T, H, d);
                for (std::size_t s = 0; s < seen; ++s)
                    score[s] = scale * dot(q, qkv + packed_at(b, static_cast<std::int64_t>(s), 1, h, T, H, d), d);
                const Real highest =
                    *std::max_element(score.begin(), score.begin() + static_cast<std::ptrdiff_t>(seen));
                Real sum = 0;
                for (std::size_t s = 0; s < seen; ++s) sum += std::exp(score[s] - highest);
                const Real log_sum = highest + std::log(sum);
                lse[(b * H + h) * T + t] = log_sum;
                for (std::size_t s = 0; s < seen; ++s) {
                    const Real* v = qkv + packed_at(b, static_cast<std::int64_t>(s), 2, h, T, H, d);
                    const Real p = std::exp(score[s] - log_sum);
                    for (std::int64_t i = 0; i < d; ++i) o[i] += p * v[i];
                }
            }
}

inline std::size_t attention_forward_workspace(int, std::int64_t, std::int64_t) {
    return 0;
}

// Dao 2023, FlashAttention-2, section 2.2: with p = exp(s - lse) and delta = dout . out,
// dv += p dout, dp = dout . v, ds = p (dp - delta), dq += scale ds k, dk += scale ds q.
template <class Real>
void attention_backward(Exec&, Real* dqkv, const Real* dout, const Real* out, const Real* qkv, const Real* lse,
                        std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t d, bool causal,
                        const std::int32_t* length = nullptr) {
    const Real scale = 1 / std::sqrt(Real(d));
    for (std::int64_t i = 0; i < B * T * 3 * H * d; ++i) dqkv[i] = 0;
    for (std::int64_t b = 0; b < B; ++b)
        for (std::int64_t h = 0; h < H; ++h)
            for (std::int64_t real = real_tokens(length, b, T), t = 0; t < real; ++t) {
                const Real* dout_row = dout + ((b * T + t) * H + h) * d;
                const Real delta = dot(dout_row, out + ((b * T + t) * H + h) * d, d);
                const std::int64_t q_at = packed_at(b, t, 0, h, T, H, d);
                for (std::int64_t s = 0; s < (causal ? t + 1 : real); ++s) {
                    const std::int64_t k_at = packed_at(b, s, 1, h, T, H, d), v_at = packed_at(b, s, 2, h, T, H, d);
                    const Real p = std::exp(scale * dot(qkv + q_at, qkv + k_at, d) - lse[(b * H + h) * T + t]);
                    const Real ds = p * (dot(dout_row, qkv + v_at, d) - delta);
                    for (std::int64_t i = 0; i < d; ++i) {
                        dqkv[v_at + i] += p * dout_row[i];
                        dqkv[q_at + i] += scale * ds * qkv[k_at + i];
                        dqkv[k_at + i] += scale * ds * qkv[q_at + i];
                    }
                }
            }
}

inline std::size_t attention_backward_workspace(int, std::int64_t, std::int64_t) {
    return 0;
}

}  // namespace deft::kernels::reference
