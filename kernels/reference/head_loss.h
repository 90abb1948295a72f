#pragma once
// The language-model head and its cross-entropy (Goodfellow et al. 2016, section 6.2.2.3), one row at a time.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/reference/dot.h"
#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

// logits (V) of one row x (C) under w (V, C). Errors: config, for a target that is no token and not ignored.
template <class Real>
void row_logits(std::vector<Real>& logits, const Real* x, const Real* w, std::int32_t target, std::int64_t C,
                std::int64_t V) {
    if (target != kIgnoreTarget && (target < 0 || target >= V))
        throw Error(ErrorKind::config, "target " + std::to_string(target) + " lies outside the vocabulary");
    logits.resize(static_cast<std::size_t>(V));
    for (std::int64_t v = 0; v < V; ++v) logits[static_cast<std::size_t>(v)] = dot(x, w + v * C, C);
}

template <class Real>
Real log_sum_exp(const std::vector<Real>& logits) {
    const Real highest = *std::max_element(logits.begin(), logits.end());
    Real sum = 0;
    for (const Real logit : logits) sum += std::exp(logit - highest);
    return highest + std::log(sum);
}

// loss (rows) = lse(logits) - logits[target]; d loss / d logits = softmax(logits) - one-hot(target), so
// dx (rows, C) = scale dlogits W and dw (V, C) = or += scale dlogits^T x.
template <class Real>
void head_loss_train(Exec&, Real* loss, Real* dx, Real* dw, const Real* x, const Real* w, const std::int32_t* target,
                     std::int64_t rows, std::int64_t C, std::int64_t V, double scale, Accumulate accumulate) {
    std::vector<Real> logits;
    for (std::int64_t i = 0; accumulate == Accumulate::no && i < V * C; ++i) dw[i] = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
        row_logits(logits, x + r * C, w, target[r], C, V);
        loss[r] = 0;
        for (std::int64_t c = 0; c < C; ++c) dx[r * C + c] = 0;
        if (target[r] == kIgnoreTarget) continue;
        const Real lse = log_sum_exp(logits);
        loss[r] = lse - logits[static_cast<std::size_t>(target[r])];
        for (std::int64_t v = 0; v < V; ++v) {
            const Real p = std::exp(logits[static_cast<std::size_t>(v)] - lse);
            const Real dlogit = Real(scale) * (p - (v == target[r] ? Real(1) : Real(0)));
            for (std::int64_t c = 0; c < C; ++c) {
                dx[r * C + c] += dlogit * w[v * C + c];
                dw[v * C + c] += dlogit * x[r * C + c];
            }
        }
    }
}

// The loss alone; greedy (rows) or null receives 1 where the target is the first of the largest logits.
template <class Real>
void head_loss(Exec&, Real* loss, std::int32_t* greedy, const Real* x, const Real* w, const std::int32_t* target,
               std::int64_t rows, std::int64_t C, std::int64_t V) {
    std::vector<Real> logits;
    for (std::int64_t r = 0; r < rows; ++r) {
        row_logits(logits, x + r * C, w, target[r], C, V);
        const bool ignored = target[r] == kIgnoreTarget;
        loss[r] = ignored ? Real(0) : log_sum_exp(logits) - logits[static_cast<std::size_t>(target[r])];
        if (greedy != nullptr)
            greedy[r] = !ignored && std::max_element(logits.begin(), logits.end()) - logits.begin() == target[r];
    }
}

inline std::size_t head_loss_workspace(std::int64_t, std::int64_t, std::int64_t) {
    return 0;
}

}  // namespace deft::kernels::reference
