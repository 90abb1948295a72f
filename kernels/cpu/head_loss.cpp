#include "kernels/cpu/cpu.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/wide_vectors.h"
#include "kernels/cpu/workspace.h"

namespace deft::kernels::cpu {

namespace {

// Rows whose logits exist at once: enough that the passes over w and dw are paid for.
constexpr std::int64_t kChunkRows = 256;

std::int64_t chunk_rows(std::int64_t rows) {
    return std::min(rows, kChunkRows);
}

// Rows of logits start on cache lines, whatever V is, and do not collide.
std::int64_t padded_vocabulary(std::int64_t V) {
    const std::int64_t lines = ceil_div(V, kLinePadding) * kLinePadding;
    return rows_collide(lines) ? lines + kLinePadding : lines;
}

void check_targets(const std::int32_t* target, std::int64_t rows, std::int64_t V) {
    for (std::int64_t i = 0; i < rows; ++i)
        if (target[i] != kIgnoreTarget && (target[i] < 0 || target[i] >= V))
            throw Error(ErrorKind::config, "target " + std::to_string(target[i]) + " at row " + std::to_string(i) +
                                               " lies outside the vocabulary of " + std::to_string(V));
}

// -log softmax(logits)[target]; the logits become exp(logits - max), whose sum is returned through `total`.
float cross_entropy_row(float* logits, std::int64_t V, std::int32_t target, float highest, float& total) {
    const float target_logit = logits[target];
    total = sum_of(V, [&](std::int64_t i) { return logits[i] = vector_exp(logits[i] - highest); });
    return std::log(total) - (target_logit - highest);
}

// The loss of one row, and its logits replaced by scale (softmax - one-hot).
float train_row(float* logits, std::int64_t V, std::int32_t target, float scale) {
    if (target == kIgnoreTarget) {
        std::fill_n(logits, V, 0.0f);
        return 0;
    }
    float total = 0;
    const float loss = cross_entropy_row(logits, V, target, largest(logits, V), total);
    const float factor = scale / total;
#pragma omp simd
    for (std::int64_t i = 0; i < V; ++i) logits[i] *= factor;
    logits[target] -= scale;
    return loss;
}

// Whether the target has the largest logit and no lower id shares it.
bool is_greedy(const float* logits, std::int32_t target, float highest) {
    if (!(logits[target] == highest)) return false;
    for (std::int32_t i = 0; i < target; ++i)
        if (logits[i] == highest) return false;
    return true;
}

// body(row of the chunk) for all rows of a chunk.
template <class Body>
void parallel_rows(int threads, std::int64_t rows, const Body& body) {
    constexpr std::int64_t kRowBlock = 8;
    parallel_items(threads, ceil_div(rows, kRowBlock), [&](std::int64_t block, int) {
        const std::int64_t end = std::min(rows, (block + 1) * kRowBlock);
        widest_vectors([&] {
            for (std::int64_t row = block * kRowBlock; row < end; ++row) body(row);
        });
    });
}

}  // namespace

void head_loss_train(Exec& exec, float* loss, float* dx, float* dw, const float* x, const float* w,
                     const std::int32_t* target, std::int64_t rows, std::int64_t C, std::int64_t V, double scale,
                     Accumulate accumulate) {
    require_workspace(exec, head_loss_workspace(rows, C, V), "head_loss_train");
    check_targets(target, rows, V);
    if (rows == 0 && accumulate == Accumulate::no) std::fill_n(dw, V * C, 0.0f);
    const std::int64_t leading = padded_vocabulary(V);
    float* logits = scratch<float>(exec, 0);  // (chunk, leading)
    const Operand w_operand{w, C};            // (V, C)
    const Operand w_transposed{w, C, true};   // (C, V)
    const Operand logits_operand{logits, leading}, logits_transposed{logits, leading, true};
    float dw_beta = accumulate == Accumulate::yes ? 1.0f : 0.0f;
    for (std::int64_t first = 0; first < rows; first += chunk_rows(rows)) {
        const std::int64_t chunk = std::min(chunk_rows(rows), rows - first);
        const Operand x_chunk{x + first * C, C};  // (chunk, C)
        gemm(exec, logits, leading, x_chunk, w_transposed, chunk, V, C, 0.0f);
        parallel_rows(exec.threads, chunk, [&](std::int64_t row) {
            loss[first + row] = train_row(logits + row * leading, V, target[first + row], static_cast<float>(scale));
        });
        gemm(exec, dx + first * C, C, logits_operand, w_operand, chunk, C, V, 0.0f);
        gemm(exec, dw, C, logits_transposed, x_chunk, V, C, chunk, dw_beta);
        dw_beta = 1.0f;  // later chunks add
    }
}

void head_loss(Exec& exec, float* loss, std::int32_t* greedy, const float* x, const float* w,
               const std::int32_t* target, std::int64_t rows, std::int64_t C, std::int64_t V) {
    require_workspace(exec, head_loss_workspace(rows, C, V), "head_loss");
    check_targets(target, rows, V);
    const std::int64_t leading = padded_vocabulary(V);
    float* logits = scratch<float>(exec, 0);                                                   // (chunk, leading)
    float* scored_x = scratch<float>(exec, scratch_bytes<float>(chunk_rows(rows) * leading));  // (chunk, C)
    const Operand w_transposed{w, C, true};                                                    // (C, V)
    std::int64_t scored[kChunkRows];  // of a task's documents only a few rows have a target: the others cost nothing
    for (std::int64_t next = 0; next < rows;) {
        std::int64_t count = 0;
        for (; next < rows && count < kChunkRows; ++next) {
            loss[next] = 0;
            if (greedy != nullptr) greedy[next] = 0;
            if (target[next] == kIgnoreTarget) continue;
            std::copy_n(x + next * C, C, scored_x + count * C);
            scored[count++] = next;
        }
        gemm(exec, logits, leading, {scored_x, C}, w_transposed, count, V, C, 0.0f);
        parallel_rows(exec.threads, count, [&](std::int64_t i) {
            float* row_logits = logits + i * leading;
            const std::int64_t row = scored[i];
            const float highest = largest(row_logits, V);
            if (greedy != nullptr) greedy[row] = is_greedy(row_logits, target[row], highest);
            float total = 0;
            loss[row] = cross_entropy_row(row_logits, V, target[row], highest, total);
        });
    }
}

std::size_t head_loss_workspace(std::int64_t rows, std::int64_t C, std::int64_t V) {
    return scratch_bytes<float>(chunk_rows(rows) * padded_vocabulary(V)) + scratch_bytes<float>(chunk_rows(rows) * C);
}

}  // namespace deft::kernels::cpu
