// Where the rows of a layer of experts go, and how what comes back is summed.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/parallel_rows.h"
#include "kernels/cpu/workspace.h"

namespace deft::kernels::cpu {

namespace {

constexpr std::int64_t kCombinedRows = 16;  // of a block

// Where place_choices keeps what: bytes from the start of the workspace.
struct Places {
    std::size_t listed, ranked, first, end;

    Places(std::int64_t N, std::int64_t E, std::int64_t k)
        : listed(0),
          ranked(scratch_bytes<std::int32_t>(N * k)),
          first(ranked + scratch_bytes<std::uint64_t>(N * k)),
          end(first + scratch_bytes<std::int32_t>(2 * (E + 1))) {}
};

// Sets the slots of dropped choices to -1, among the choices (count) of an expert in the order in which they are
// listed. ranked (count).
void drop_choices(std::int32_t* slot, const std::int32_t* listed, std::int64_t count, std::int64_t capacity,
                  std::uint64_t* ranked, const RoutedRows& rows, std::int64_t k, bool at_random) {
    if (!at_random) {
        for (std::int64_t i = capacity; i < count; ++i) slot[listed[i]] = -1;
        return;
    }
    // Key and row in one word: ordered by key, then by row, all different.
    const auto word = [&](std::int64_t i) {
        const std::int64_t n = listed[i] / k, j = listed[i] % k;
        return std::uint64_t{capacity_key(rows, n, k, j)} << 32 | static_cast<std::uint32_t>(n);
    };
    for (std::int64_t i = 0; i < count; ++i) ranked[i] = word(i);
    if (capacity > 0) std::nth_element(ranked, ranked + capacity - 1, ranked + count);
    const std::uint64_t last = capacity > 0 ? ranked[capacity - 1] : 0;
    for (std::int64_t i = 0; i < count; ++i)
        if (capacity == 0 || word(i) > last) slot[listed[i]] = -1;
}

}  // namespace

void place_choices(Exec& exec, std::int32_t* start, std::int32_t* row, std::int32_t* slot, const std::int32_t* expert,
                   const RoutedRows& rows, std::int64_t E, std::int64_t k, const CapacitySpec& capacity) {
    require_workspace(exec, place_choices_workspace(rows.N, E, k), "place_choices");
    const Places places(rows.N, E, k);
    auto* const listed = scratch<std::int32_t>(exec, places.listed);  // (N k): n k + j, by experts
    auto* const first = scratch<std::int32_t>(exec, places.first);    // (E + 1): where those of each expert begin
    std::int32_t* const next = first + E + 1;                         // (E)
    const std::int64_t N = rows.N;

    std::fill_n(first, E + 1, 0);
    for (std::int64_t i = 0; i < N * k; ++i) {
        slot[i] = expert[i] < 0 ? -1 : 0;
        if (expert[i] >= 0) ++first[expert[i] + 1];
    }
    std::partial_sum(first, first + E + 1, first);

    if (capacity.factor > 0) {
        const std::int64_t most = expert_capacity(capacity, rows.real_rows(), E, k);
        std::copy_n(first, E, next);
        for (std::int64_t j = 0; j < k; ++j)
            for (std::int64_t i = j; i < N * k; i += k)
                if (expert[i] >= 0) listed[next[expert[i]]++] = static_cast<std::int32_t>(i);
        parallel_items(exec.threads, E, [&](std::int64_t e, int) {
            const std::int64_t count = first[e + 1] - first[e];
            if (count > most)
                drop_choices(slot, listed + first[e], count, most,
                             scratch<std::uint64_t>(exec, places.ranked) + first[e], rows, k,
                             capacity.selects_at_random);
        });
    }

    std::fill_n(start, E + 1, 0);
    for (std::int64_t i = 0; i < N * k; ++i)
        if (slot[i] >= 0) ++start[expert[i] + 1];
    std::partial_sum(start, start + E + 1, start);
    std::copy_n(start, E, next);
    for (std::int64_t i = 0; i < N * k; ++i) {
        if (slot[i] < 0) continue;
        slot[i] = next[expert[i]]++;
        row[slot[i]] = static_cast<std::int32_t>(i / k);
    }
    std::fill(row + start[E], row + N * k, 0);
}

std::size_t place_choices_workspace(std::int64_t N, std::int64_t E, std::int64_t k) {
    return Places(N, E, k).end;
}

template <>
void combine_rows(Exec& exec, float* out, const float* y, const float* weight, const std::int32_t* slot, std::int64_t N,
                  std::int64_t k, std::int64_t C) {
    parallel_row_blocks(exec.threads, N, kCombinedRows, [&](std::int64_t n) {
        float* const sum = out + n * C;
        bool is_first = true;
        for (std::int64_t i = n * k; i < (n + 1) * k; ++i) {
            if (slot[i] < 0) continue;
            const float w = weight == nullptr ? 1.0f : weight[i];
            const float* const from = y + slot[i] * C;
            if (is_first)
#pragma omp simd
                for (std::int64_t c = 0; c < C; ++c) sum[c] = w * from[c];
            else
#pragma omp simd
                for (std::int64_t c = 0; c < C; ++c) sum[c] += w * from[c];
            is_first = false;
        }
        if (is_first) std::fill_n(sum, C, 0.0f);
    });
}

template <>
void combine_backward(Exec& exec, float* dy, float* dweight, const float* dout, const float* y, const float* weight,
                      const std::int32_t* slot, std::int64_t N, std::int64_t k, std::int64_t C) {
    parallel_row_blocks(exec.threads, N, kCombinedRows, [&](std::int64_t n) {
        const float* const d = dout + n * C;
        for (std::int64_t i = n * k; i < (n + 1) * k; ++i) {
            dweight[i] = 0;
            if (slot[i] < 0) continue;
            const float* const of_slot = y + slot[i] * C;
            dweight[i] = sum_of(C, [&](std::int64_t c) { return d[c] * of_slot[c]; });
            float* const to = dy + slot[i] * C;
            const float w = weight[i];
#pragma omp simd
            for (std::int64_t c = 0; c < C; ++c) to[c] = w * d[c];
        }
    });
}

namespace {

// softmax(logits (2))[0].
inline float first_share(const float* logits) {
    return 1 / (1 + std::exp(logits[1] - logits[0]));
}

}  // namespace

template <>
void mix_rows(Exec& exec, float* out, const float* a, const float* b, const float* logits, std::int64_t N,
              std::int64_t C) {
    parallel_row_blocks(exec.threads, N, kCombinedRows, [&](std::int64_t n) {
        const float p = first_share(logits + 2 * n);
#pragma omp simd
        for (std::int64_t i = n * C; i < (n + 1) * C; ++i) out[i] = p * a[i] + (1 - p) * b[i];
    });
}

template <>
void mix_backward(Exec& exec, float* da, float* db, float* dlogits, const float* dout, const float* a, const float* b,
                  const float* logits, std::int64_t N, std::int64_t C) {
    parallel_row_blocks(exec.threads, N, kCombinedRows, [&](std::int64_t n) {
        const float p = first_share(logits + 2 * n);
        const std::int64_t first = n * C;
        const float of_share =
            sum_of(C, [&](std::int64_t c) { return dout[first + c] * (a[first + c] - b[first + c]); });
        dlogits[2 * n] = p * (1 - p) * of_share;
        dlogits[2 * n + 1] = -dlogits[2 * n];
#pragma omp simd
        for (std::int64_t i = first; i < first + C; ++i) {
            const float g = dout[i];
            da[i] = p * g;
            db[i] = (1 - p) * g;
        }
    });
}

}  // namespace deft::kernels::cpu
