#include "kernels/cuda/cuda.h"
#include "kernels/cuda/float_rows.h"
#include "kernels/cuda/sorted_ids.h"
#include "kernels/cuda/vector.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

constexpr int kAhead = 8;  // rows that a warp loads before it adds them

// The gradient of a table without atomic sums. Positions are sorted by id; a run is all positions of one id. A warp
// adds the rows of a chunk of kRunChunk positions, for the columns of 32 vectors. A run that lies in one chunk goes to
// the gradient. One that crosses chunks leaves a partial sum in each, which finish_runs adds in order.
struct Runs {
    SortedIds sorted;  // (n)
    float* partial;  // (chunks, 2, C): of the run that an earlier chunk begins, and of the one that a later chunk ends
    std::int64_t n, C;

    __device__ std::int64_t chunks() const { return ceil_div(n, kRunChunk); }
    __device__ std::int64_t first(std::int64_t chunk) const { return chunk * kRunChunk; }
    __device__ std::int64_t end(std::int64_t chunk) const {
        return first(chunk) + kRunChunk < n ? first(chunk) + kRunChunk : n;
    }
    // Whether the positions before and at i have the same id.
    __device__ bool crosses(std::int64_t i) const { return i > 0 && i < n && sorted.id[i - 1] == sorted.id[i]; }
    __device__ float* before(std::int64_t chunk) const { return partial + 2 * chunk * C; }
    __device__ float* after(std::int64_t chunk) const { return before(chunk) + C; }
};

template <class Real, int kWidth>
__global__ void add_runs(float* gradient, const Real* dout, Runs runs, bool adds) {
    const std::int64_t C = runs.C, across = ceil_div(C, kWarpSize * kWidth), chunk = warp_row() / across;
    if (chunk >= runs.chunks()) return;
    const int lane = warp_lane();
    const std::int64_t c = (warp_row() % across * kWarpSize + lane) * kWidth, end = runs.end(chunk);
    bool from_earlier = runs.crosses(runs.first(chunk));
    const bool goes_on = runs.crosses(end);
    std::int32_t run = runs.sorted.id[runs.first(chunk)];
    float sum[kWidth] = {};
    for (std::int64_t first = runs.first(chunk); first < end; first += kWarpSize) {
        const bool is_there = first + lane < end;
        const std::int32_t my_id = is_there ? runs.sorted.id[first + lane] : 0;
        const std::int32_t my_position = is_there ? runs.sorted.position[first + lane] : 0;
        for (int k = 0; k < kWarpSize; k += kAhead) {
            Vector<Real, kWidth> row[kAhead] = {};
            for (int i = 0; i < kAhead; ++i) {
                const std::int64_t position = __shfl_sync(kWholeWarp, my_position, k + i);
                if (first + k + i < end && c < C) row[i] = load_vector<kWidth>(dout + position * C + c);
            }
            for (int i = 0; i < kAhead; ++i) {
                const std::int32_t id = __shfl_sync(kWholeWarp, my_id, k + i);
                if (first + k + i >= end) continue;
                if (id != run) {
                    write_row(from_earlier ? runs.before(chunk) : gradient + run * C, sum, c, C, adds && !from_earlier);
                    for (float& value : sum) value = 0;
                    from_earlier = false;
                    run = id;
                }
                for (int j = 0; j < kWidth; ++j) sum[j] += to_float(row[i].item[j]);
            }
        }
    }
    const bool crosses = from_earlier || goes_on;
    float* const partial = from_earlier ? runs.before(chunk) : runs.after(chunk);
    write_row(crosses ? partial : gradient + run * C, sum, c, C, adds && !crosses);
}

// The first place after `from` with another id.
__device__ inline std::int64_t end_of_run(const Runs& runs, std::int64_t from) {
    std::int64_t same = from, other = runs.n;  // of the same id, and of another or the end
    while (other - same > 1) {
        const std::int64_t middle = same + (other - same) / 2;
        (runs.sorted.id[middle] == runs.sorted.id[from] ? same : other) = middle;
    }
    return other;
}

// A warp finishes the run that begins in its chunk and ends in a later one.
template <int kWidth>
__global__ void finish_runs(float* gradient, Runs runs, bool adds) {
    const std::int64_t C = runs.C, across = ceil_div(C, kWarpSize * kWidth), chunk = warp_row() / across;
    if (chunk >= runs.chunks()) return;
    const std::int64_t c = (warp_row() % across * kWarpSize + warp_lane()) * kWidth, end = runs.end(chunk);
    if (c >= C || !runs.crosses(end)) return;
    const std::int64_t first = runs.first(chunk);
    if (runs.crosses(first) && runs.sorted.id[first] == runs.sorted.id[end]) return;  // an earlier chunk begins it
    float sum[kWidth];
    load(sum, runs.after(chunk) + c);
    const std::int64_t last = (end_of_run(runs, end) - 1) / kRunChunk;
    for (std::int64_t next = chunk + 1; next <= last; next += kAhead) {
        float part[kAhead][kWidth] = {};
        for (int i = 0; i < kAhead; ++i)
            if (next + i <= last) load(part[i], runs.before(next + i) + c);
        for (int i = 0; i < kAhead; ++i)
            for (int j = 0; j < kWidth; ++j) sum[j] += part[i][j];
    }
    write_sums(gradient + runs.sorted.id[end] * C + c, sum, adds);
}

template <int kWidth>
__global__ void clear_table(float* weight, std::int64_t vectors) {
    const float zeros[kWidth] = {};
    for (std::int64_t i = first_item(); i < vectors; i += item_stride()) store(weight + i * kWidth, zeros);
}

// gradient (V, C) = or += sums over the B samples of dout (B, T, C). All lanes of a warp stay together.
template <class Real, int kWidth>
__global__ void sum_positions(float* gradient, const Real* dout, std::int64_t B, std::int64_t T, std::int64_t C,
                              std::int64_t V, bool adds) {
    const std::int64_t lane = warp_lane() * kWidth;
    for (std::int64_t i = first_item() * kWidth; i - lane < V * C; i += item_stride() * kWidth) {
        float sum[kWidth] = {};
        for (std::int64_t b = 0; i < T * C && b < B; b += kAhead) {
            Vector<Real, kWidth> row[kAhead] = {};
            for (int k = 0; k < kAhead; ++k)
                if (b + k < B) row[k] = load_vector<kWidth>(dout + (b + k) * T * C + i);
            for (int k = 0; k < kAhead; ++k)
                for (int j = 0; j < kWidth; ++j) sum[j] += to_float(row[k].item[j]);
        }
        write_row(gradient, sum, i, V * C, adds);
    }
}

template <class Real>
void add_by_ids(Exec& exec, const EmbeddingGradient<float>& gradient, const Real* dout, std::int64_t n,
                std::int64_t C) {
    const bool adds = gradient.accumulate == Accumulate::yes;
    const SortedIds sorted = sort_ids(exec, gradient.id, n, gradient.V);
    const Runs runs{sorted, scratch<float>(exec, sorted_ids_bytes(n)), n, C};
    const std::int64_t chunks = ceil_div(n, kRunChunk);
    const bool wide = rows_are_wide<Real>(C, dout, gradient.weight);
    with_width<float>(wide, [&](auto width) {
        const std::int64_t vectors = gradient.V * (C / width);
        if (!adds) launch(exec, over_items("clear_table", vectors), clear_table<width>, gradient.weight, vectors);
    });
    with_width<Real>(wide, [&](auto width) {
        launch(exec, over_rows("add_runs", chunks * ceil_div(C, kWarpSize * width)), add_runs<Real, width>,
               gradient.weight, dout, runs, adds);
    });
    with_width<float>(wide, [&](auto width) {
        launch(exec, over_rows("finish_runs", chunks * ceil_div(C, kWarpSize * width)), finish_runs<width>,
               gradient.weight, runs, adds);
    });
}

}  // namespace

template <class Real>
void embedding_backward(Exec& exec, const EmbeddingGradients<float>& gradients, const Real* dout, std::int64_t B,
                        std::int64_t T, std::int64_t C) {
    require_workspace(exec, embedding_backward_workspace(B, T, C), "embedding_backward");
    for (int i = 0; i < gradients.count; ++i) {
        const EmbeddingGradient<float>& gradient = gradients[i];
        if (gradient.id != nullptr) {
            add_by_ids(exec, gradient, dout, B * T, C);
            continue;
        }
        with_width<Real>(rows_are_wide<Real>(C, dout, gradient.weight), [&](auto width) {
            launch(exec, over_items("sum_positions", gradient.V * (C / width)), sum_positions<Real, width>,
                   gradient.weight, dout, B, T, C, gradient.V, gradient.accumulate == Accumulate::yes);
        });
    }
}

template void embedding_backward<float>(Exec&, const EmbeddingGradients<float>&, const float*, std::int64_t,
                                        std::int64_t, std::int64_t);
template void embedding_backward<bf16>(Exec&, const EmbeddingGradients<float>&, const bf16*, std::int64_t, std::int64_t,
                                       std::int64_t);

}  // namespace deft::kernels::cuda
