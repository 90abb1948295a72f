#include "kernels/cuda/cuda.h"

#include <array>
#include <cmath>
#include <string>

#include "base/error.h"
#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

// Which row of a table the position `row` of (B, T) takes.
__device__ inline std::int64_t table_row(const std::int32_t* id, std::int64_t row, std::int64_t T) {
    return id == nullptr ? row % T : id[row];
}

template <class Real, int kWidth>
__global__ void embed_rows(Real* out, EmbeddingTables<Real> tables, std::int64_t rows, std::int64_t T, std::int64_t C) {
    const std::int64_t row = warp_row();
    if (row >= rows) return;
    const Real* from[kMostEmbeddingTables];
    bool known = true;
    for (int i = 0; i < kMostEmbeddingTables; ++i) {
        if (i >= tables.count) continue;
        const std::int64_t id = table_row(tables[i].id, row, T);
        known = known && id >= 0 && id < tables[i].V;
        from[i] = tables[i].weight + id * C;
    }
    for (std::int64_t c = warp_lane() * kWidth; c < C; c += kWarpSize * kWidth) {
        float sum[kWidth];
        for (float& value : sum) value = NAN;
        if (known) load(sum, from[0] + c);
        for (int i = 1; i < kMostEmbeddingTables; ++i) {
            if (!known || i >= tables.count) continue;
            float more[kWidth];
            load(more, from[i] + c);
            for (int j = 0; j < kWidth; ++j) sum[j] += more[j];
        }
        store(out + row * C + c, sum);
    }
}

// The gradient of a table without atomic sums: positions are grouped by id, in order, and each group is summed by one
// block. What is known of each of n positions:
struct Groups {
    std::int32_t* leader;  // (n) the first position of the same id
    std::int32_t* rank;    // (n) how many earlier positions have it
    std::int32_t* count;   // (n) how many positions have it
    std::int32_t* start;   // (n) of leaders: where the group begins in `order`
    std::int32_t* order;   // (n) positions, group after group

    Groups(const Exec& exec, std::int64_t n) {
        std::size_t offset = 0;
        for (std::int32_t** part : std::array<std::int32_t**, kFactsOfPosition>{&leader, &rank, &count, &start, &order}) {
            *part = scratch<std::int32_t>(exec, offset);
            offset += scratch_bytes<std::int32_t>(n);
        }
    }
};

constexpr int kRankThreads = 128;

// leader, rank and count, by comparing every id with every other: n^2 integer comparisons. All threads read the same
// id at a time, from the cache.
__global__ void rank_ids(Groups groups, const std::int32_t* ids, std::int64_t n) {
    const std::int64_t position = static_cast<std::int64_t>(blockIdx.x) * kRankThreads + threadIdx.x;
    if (position >= n) return;
    const std::int32_t id = ids[position];
    std::int32_t leader = -1, rank = 0, count = 0;
    for (std::int64_t other = 0; other < n; ++other) {
        if (ids[other] != id) continue;
        if (count == 0) leader = static_cast<std::int32_t>(other);
        if (other < position) ++rank;
        ++count;
    }
    groups.leader[position] = leader;
    groups.rank[position] = rank;
    groups.count[position] = count;
}

// start: the sum of the counts of earlier leaders. One block, whose threads take neighbouring segments.
__global__ void start_groups(Groups groups, std::int64_t n) {
    const std::int64_t segment = ceil_div(n, blockDim.x), first = threadIdx.x * segment;
    const std::int64_t end = first + segment < n ? first + segment : n;
    std::int32_t total = 0;
    for (std::int64_t i = first; i < end; ++i)
        if (groups.rank[i] == 0) total += groups.count[i];
    std::int32_t start = block_prefix(total).before;
    for (std::int64_t i = first; i < end; ++i) {
        if (groups.rank[i] != 0) continue;
        groups.start[i] = start;
        start += groups.count[i];
    }
}

__global__ void order_positions(Groups groups, std::int64_t n) {
    for (std::int64_t i = first_item(); i < n; i += item_stride())
        groups.order[groups.start[groups.leader[i]] + groups.rank[i]] = static_cast<std::int32_t>(i);
}

__global__ void clear_table(float* weight, std::int64_t items) {
    for (std::int64_t i = first_item(); i < items; i += item_stride()) weight[i] = 0;
}

// A block adds the group of one leader to its row of the gradient (V, C): 32 columns at a time, its 8 warps taking every
// eighth row.
template <class Real>
__global__ void add_rows_of_ids(float* gradient, const Real* dout, const std::int32_t* ids, Groups groups,
                                std::int64_t C) {
    const std::int64_t position = blockIdx.x;
    if (groups.rank[position] != 0) return;
    const std::int32_t* rows = groups.order + groups.start[position];  // (count)
    const std::int32_t count = groups.count[position];
    float* out = gradient + ids[position] * C;
    const int lane = warp_lane(), warp = static_cast<int>(threadIdx.x) / kWarpSize;
    DEFT_SHARED(float, sums, kRowsOfBlock* kWarpSize);  // (warp, lane)
    for (std::int64_t first = 0; first < C; first += kWarpSize) {
        const std::int64_t c = first + lane;
        float sum = 0;
        for (std::int32_t i = warp; c < C && i < count; i += kRowsOfBlock) sum += to_float(dout[rows[i] * C + c]);
        sums[threadIdx.x] = sum;
        __syncthreads();
        for (int other = 1; warp == 0 && other < kRowsOfBlock; ++other) sum += sums[other * kWarpSize + lane];
        if (warp == 0 && c < C) out[c] += sum;
        __syncthreads();  // the sums have been read
    }
}

// gradient (V, C) = or += sums over the B samples of dout (B, T, C).
template <class Real>
__global__ void sum_positions(float* gradient, const Real* dout, std::int64_t B, std::int64_t T, std::int64_t C,
                              std::int64_t V, bool adds) {
    for (std::int64_t i = first_item(); i < V * C; i += item_stride()) {
        float sum = adds ? gradient[i] : 0.0f;
        for (std::int64_t b = 0; i < T * C && b < B; ++b) sum += to_float(dout[b * T * C + i]);
        gradient[i] = sum;
    }
}

template <class Real>
void add_by_ids(Exec& exec, const EmbeddingGradient<float>& gradient, const Real* dout, std::int64_t n,
                std::int64_t C) {
    if (gradient.accumulate == Accumulate::no)
        launch(exec, over_items("clear_table", gradient.V * C), clear_table, gradient.weight, gradient.V * C);
    const Groups groups(exec, n);
    launch(exec, {"rank_ids", ceil_div(n, kRankThreads), kRankThreads}, rank_ids, groups, gradient.id, n);
    launch(exec, {"start_groups", n == 0 ? 0 : 1, 256}, start_groups, groups, n);
    launch(exec, over_items("order_positions", n), order_positions, groups, n);
    launch(exec, {"add_rows_of_ids", n, kRowsOfBlock * kWarpSize}, add_rows_of_ids<Real>, gradient.weight, dout,
           gradient.id, groups, C);
}

}  // namespace

template <class Real>
void embedding_forward(Exec& exec, Real* out, const EmbeddingTables<Real>& tables, std::int64_t B, std::int64_t T,
                       std::int64_t C) {
    bool wide = rows_are_wide<Real>(C, out);
    for (int i = 0; i < tables.count; ++i) {
        wide = wide && rows_are_wide<Real>(C, tables[i].weight);
        if (tables[i].id == nullptr && T > tables[i].V)
            throw Error(ErrorKind::config,
                        "samples have " + std::to_string(T) + " positions, but embedding table " + std::to_string(i) +
                            " has " + std::to_string(tables[i].V) + " rows",
                        "use shorter samples, or a table with more rows");
    }
    with_width<Real>(wide, [&](auto width) {
        launch(exec, over_rows("embed_rows", B * T), embed_rows<Real, width>, out, tables, B * T, T, C);
    });
}

template <class Real>
void embedding_backward(Exec& exec, const EmbeddingGradients<float>& gradients, const Real* dout, std::int64_t B,
                        std::int64_t T, std::int64_t C) {
    require_workspace(exec, embedding_backward_workspace(B, T), "embedding_backward");
    for (int i = 0; i < gradients.count; ++i) {
        const EmbeddingGradient<float>& gradient = gradients[i];
        if (gradient.id != nullptr)
            add_by_ids(exec, gradient, dout, B * T, C);
        else
            launch(exec, over_items("sum_positions", gradient.V * C), sum_positions<Real>, gradient.weight, dout, B, T,
                   C, gradient.V, gradient.accumulate == Accumulate::yes);
    }
}

template void embedding_forward<float>(Exec&, float*, const EmbeddingTables<float>&, std::int64_t, std::int64_t,
                                       std::int64_t);
template void embedding_forward<bf16>(Exec&, bf16*, const EmbeddingTables<bf16>&, std::int64_t, std::int64_t,
                                      std::int64_t);
template void embedding_backward<float>(Exec&, const EmbeddingGradients<float>&, const float*, std::int64_t,
                                        std::int64_t, std::int64_t);
template void embedding_backward<bf16>(Exec&, const EmbeddingGradients<float>&, const bf16*, std::int64_t, std::int64_t,
                                       std::int64_t);

}  // namespace deft::kernels::cuda
