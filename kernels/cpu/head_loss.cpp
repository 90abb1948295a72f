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

// The next rows that have a target: those without cost no product.
struct TargetRows {
    std::int64_t row[kChunkRows], count = 0;

    // Looks on from row `next`. Whether there are any.
    bool find(const std::int32_t* target, std::int64_t rows, std::int64_t& next) {
        for (count = 0; next < rows && count < kChunkRows; ++next)
            if (target[next] != kIgnoreTarget) row[count++] = next;
        return count > 0;
    }
    bool are_adjacent() const { return row[count - 1] - row[0] + 1 == count; }
    // These rows of x (rows, C), one after the other: where they are, or copied.
    const float* of(const float* x, float* copied, std::int64_t C) const {
        if (are_adjacent()) return x + row[0] * C;
        for (std::int64_t i = 0; i < count; ++i) std::copy_n(x + row[i] * C, C, copied + i * C);
        return copied;
    }
};

// Rows of logits start on cache lines, whatever V is, and do not collide.
std::int64_t padded_vocabulary(std::int64_t V) {
    const std::int64_t lines = ceil_div(V, kLinePadding) * kLinePadding;
    return rows_collide(lines) ? lines + kLinePadding : lines;
}

void check_targets(const std::int32_t* target, std::int64_t rows, std::int64_t target_rows, std::int64_t V) {
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        if (target[i] == kIgnoreTarget) continue;
        ++found;
        if (target[i] < 0 || target[i] >= V)
            throw Error(ErrorKind::config, "target " + std::to_string(target[i]) + " at row " + std::to_string(i) +
                                               " lies outside the vocabulary of " + std::to_string(V));
    }
    if (found != target_rows)
        throw Error(ErrorKind::config, "the head expects " + std::to_string(target_rows) + " rows with a target, but " +
                                           std::to_string(found) + " have one");
}

// bias (V) or null
void add_bias(float* logits, const float* bias, std::int64_t V) {
    if (bias == nullptr) return;
#pragma omp simd
    for (std::int64_t i = 0; i < V; ++i) logits[i] += bias[i];
}

// -log softmax(logits)[target]; the logits become exp(logits - max), whose sum is returned through `total`.
float cross_entropy_row(float* logits, std::int64_t V, std::int32_t target, float highest, float& total) {
    const float target_logit = logits[target];
    total = sum_of(V, [&](std::int64_t i) { return logits[i] = vector_exp(logits[i] - highest); });
    return std::log(total) - (target_logit - highest);
}

// The loss of one row, and its logits replaced by scale (softmax - one-hot).
float train_row(float* logits, std::int64_t V, std::int32_t target, float scale) {
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

// dbias (V) = or += column sums of the chunk's gradients (rows, leading), row after row.
void sum_bias_gradient(int threads, float* dbias, const float* dlogits, std::int64_t leading, std::int64_t rows,
                       std::int64_t V, bool adds) {
    constexpr std::int64_t kCols = 256;
    parallel_items(threads, ceil_div(V, kCols), [&](std::int64_t block, int) {
        const std::int64_t first = block * kCols, cols = std::min(kCols, V - first);
        float* sums = dbias + first;
        if (!adds) std::fill_n(sums, cols, 0.0f);
        for (std::int64_t row = 0; row < rows; ++row) {
            const float* from = dlogits + row * leading + first;
#pragma omp simd
            for (std::int64_t i = 0; i < cols; ++i) sums[i] += from[i];
        }
    });
}

}  // namespace

template <>
void head_loss_train(Exec& exec, float* loss, float* dx, float* dw, float* dbias, const float* x, const float* w,
                     const float* bias, const std::int32_t* target, std::int64_t rows, std::int64_t target_rows,
                     std::int64_t C, std::int64_t V, StepValue<double> scale, Accumulate accumulate) {
    require_workspace(exec, head_loss_workspace(rows, C, V), "head_loss_train");
    check_targets(target, rows, target_rows, V);
    bool adds = accumulate == Accumulate::yes;
    if (target_rows == 0 && !adds) {
        std::fill_n(dw, V * C, 0.0f);
        if (dbias != nullptr) std::fill_n(dbias, V, 0.0f);
    }
    for (std::int64_t row = 0; row < rows; ++row) {
        if (target[row] != kIgnoreTarget) continue;
        loss[row] = 0;
        std::fill_n(dx + row * C, C, 0.0f);
    }
    const std::int64_t leading = padded_vocabulary(V);
    float* logits = scratch<float>(exec, 0);                                                 // (chunk, leading)
    float* copied = scratch<float>(exec, scratch_bytes<float>(chunk_rows(rows) * leading));  // (chunk, C)
    const Operand w_operand{w, C};                                                           // (V, C)
    const Operand w_transposed{w, C, true};                                                  // (C, V)
    const Operand logits_operand{logits, leading}, logits_transposed{logits, leading, true};
    TargetRows chunk;
    for (std::int64_t next = 0; chunk.find(target, rows, next);) {
        const Operand x_chunk{chunk.of(x, copied, C), C};  // (chunk, C)
        gemm(exec, logits, leading, x_chunk, w_transposed, chunk.count, V, C, 0.0f);
        parallel_rows(exec.threads, chunk.count, [&](std::int64_t i) {
            const std::int64_t row = chunk.row[i];
            add_bias(logits + i * leading, bias, V);
            loss[row] = train_row(logits + i * leading, V, target[row], static_cast<float>(scale.get()));
        });
        gemm(exec, dw, C, logits_transposed, x_chunk, V, C, chunk.count, adds ? 1.0f : 0.0f);
        if (dbias != nullptr) sum_bias_gradient(exec.threads, dbias, logits, leading, chunk.count, V, adds);
        // The copied rows of x have been read.
        float* dx_chunk = chunk.are_adjacent() ? dx + chunk.row[0] * C : copied;
        gemm(exec, dx_chunk, C, logits_operand, w_operand, chunk.count, C, V, 0.0f);
        for (std::int64_t i = 0; !chunk.are_adjacent() && i < chunk.count; ++i)
            std::copy_n(copied + i * C, C, dx + chunk.row[i] * C);
        adds = true;  // later chunks add
    }
}

template <>
void head_loss(Exec& exec, float* loss, std::int32_t* greedy, const float* x, const float* w, const float* bias,
               const std::int32_t* target, std::int64_t rows, std::int64_t target_rows, std::int64_t C,
               std::int64_t V) {
    require_workspace(exec, head_loss_workspace(rows, C, V), "head_loss");
    check_targets(target, rows, target_rows, V);
    std::fill_n(loss, rows, 0.0f);
    if (greedy != nullptr) std::fill_n(greedy, rows, 0);
    const std::int64_t leading = padded_vocabulary(V);
    float* logits = scratch<float>(exec, 0);                                                 // (chunk, leading)
    float* copied = scratch<float>(exec, scratch_bytes<float>(chunk_rows(rows) * leading));  // (chunk, C)
    const Operand w_transposed{w, C, true};                                                  // (C, V)
    TargetRows chunk;
    for (std::int64_t next = 0; chunk.find(target, rows, next);) {
        gemm(exec, logits, leading, {chunk.of(x, copied, C), C}, w_transposed, chunk.count, V, C, 0.0f);
        parallel_rows(exec.threads, chunk.count, [&](std::int64_t i) {
            float* row_logits = logits + i * leading;
            add_bias(row_logits, bias, V);
            const std::int64_t row = chunk.row[i];
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
