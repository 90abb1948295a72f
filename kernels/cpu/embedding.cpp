#include "kernels/cpu/cpu.h"

#include <string>

#include "base/error.h"
#include "kernels/cpu/parallel.h"

namespace deft::kernels::cpu {

namespace {

std::string rows_of_table(std::int64_t V, int number) {
    return ", but embedding table " + std::to_string(number) + " has " + std::to_string(V) + " rows";
}

void check_ids(const EmbeddingTable<float>& table, int number, std::int64_t B, std::int64_t T) {
    if (table.id == nullptr && T > table.V)
        throw Error(ErrorKind::config,
                    "samples have " + std::to_string(T) + " positions" + rows_of_table(table.V, number),
                    "use shorter samples, or a table with more rows");
    for (std::int64_t i = 0; table.id != nullptr && i < B * T; ++i)
        if (table.id[i] < 0 || table.id[i] >= table.V)
            throw Error(ErrorKind::config, "id " + std::to_string(table.id[i]) + " is at position " +
                                               std::to_string(i) + rows_of_table(table.V, number));
}

// Which row of a table the i-th position of (B, T) takes.
std::int64_t table_row(const std::int32_t* id, std::int64_t i, std::int64_t T) {
    return id == nullptr ? i % T : id[i];
}

}  // namespace

template <>
void embedding_forward(Exec& exec, float* out, const EmbeddingTables<float>& tables, std::int64_t B, std::int64_t T,
                       std::int64_t C) {
    for (int i = 0; i < tables.count; ++i) check_ids(tables[i], i, B, T);
    constexpr std::int64_t kRowBlock = 16;
    parallel_items(exec.threads, ceil_div(B * T, kRowBlock), [&](std::int64_t block, int) {
        for (std::int64_t row = block * kRowBlock; row < std::min(B * T, (block + 1) * kRowBlock); ++row) {
            const auto taken = [&](int i) { return tables[i].weight + table_row(tables[i].id, row, T) * C; };
            float* out_row = out + row * C;
            if (tables.count == 1) {
                std::copy_n(taken(0), C, out_row);
                continue;
            }
            const float *first = taken(0), *second = taken(1);
#pragma omp simd
            for (std::int64_t c = 0; c < C; ++c) out_row[c] = first[c] + second[c];
            for (int i = 2; i < tables.count; ++i) {
                const float* more = taken(i);
#pragma omp simd
                for (std::int64_t c = 0; c < C; ++c) out_row[c] += more[c];
            }
        }
    });
}

template <>
void embedding_backward(Exec& exec, const EmbeddingGradients<float>& gradients, const float* dout, std::int64_t B,
                        std::int64_t T, std::int64_t C) {
    // Rows of a table repeat in any pattern, so an item owns columns, and adds rows in their order.
    constexpr std::int64_t kCols = 64;
    parallel_items(exec.threads, ceil_div(C, kCols), [&](std::int64_t block, int) {
        const std::int64_t first = block * kCols, cols = std::min(kCols, C - first);
        for (int i = 0; i < gradients.count; ++i)
            for (std::int64_t v = 0; gradients[i].accumulate == Accumulate::no && v < gradients[i].V; ++v)
                std::fill_n(gradients[i].weight + v * C + first, cols, 0.0f);
        for (std::int64_t row = 0; row < B * T; ++row) {
            const float* from = dout + row * C + first;
            const auto named = [&](int i) {
                return gradients[i].weight + table_row(gradients[i].id, row, T) * C + first;
            };
            int i = 0;
            for (; i + 1 < gradients.count; i += 2) {  // two at a time: what they read stays in registers
                float *one = named(i), *other = named(i + 1);
#pragma omp simd
                for (std::int64_t c = 0; c < cols; ++c) {
                    one[c] += from[c];
                    other[c] += from[c];
                }
            }
            if (i == gradients.count) continue;
            float* last = named(i);
#pragma omp simd
            for (std::int64_t c = 0; c < cols; ++c) last[c] += from[c];
        }
    });
}

}  // namespace deft::kernels::cpu
