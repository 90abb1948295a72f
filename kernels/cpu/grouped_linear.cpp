// Linear layers of experts: each a grid of tiles of its own rows, all of them shared over the threads at once.

#include <algorithm>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/few_rows.h"
#include "kernels/cpu/linear_tiles.h"
#include "kernels/cpu/wide_vectors.h"
#include "kernels/cpu/workspace.h"

namespace deft::kernels::cpu {

namespace {

// The packing of an expert's weight costs about as much as this many rows.
constexpr std::int64_t kRowsOfPacking = 16;

// Shares of a thread: a thread that is done takes some of another's.
constexpr std::int64_t kSharesPerThread = 4;

// body(e, item, thread) for every item of every expert. Items of an expert cost about the same; a share takes those
// that begin in its part of the whole cost. items(e) may be 0.
template <class Items, class Body>
void parallel_experts(int threads, const std::int32_t* start, std::int64_t E, const Items& items, const Body& body) {
    const auto cost = [&](std::int64_t e) {  // of all its items
        const std::int64_t count = items(e), rows = start[e + 1] - start[e] + kRowsOfPacking;
        return count * std::max<std::int64_t>(1, (rows << 16) / std::max<std::int64_t>(1, count));
    };
    std::int64_t whole = 0;
    for (std::int64_t e = 0; e < E; ++e) whole += cost(e);
    const std::int64_t shares = threads == 1 ? 1 : kSharesPerThread * threads;
    parallel_items(threads, shares, [&](std::int64_t share, int thread) {
        const std::int64_t from = whole * share / shares, to = whole * (share + 1) / shares;
        std::int64_t before = 0;
        for (std::int64_t e = 0; e < E; ++e) {
            const std::int64_t count = items(e);
            if (count == 0) continue;
            const std::int64_t of_item = cost(e) / count;
            const auto first_at = [&](std::int64_t at) {  // the first item that begins there or later
                return std::clamp<std::int64_t>(ceil_div(at - before, of_item), 0, count);
            };
            for (std::int64_t item = first_at(from); item < first_at(to); ++item) body(e, item, thread);
            before += cost(e);
        }
    });
}

// One expert alone is cut as the dense layer is, whose bits it gives.
TileGrid grid_of_expert(std::int64_t rows, std::int64_t cols, std::int64_t E) {
    return E == 1 ? TileGrid(rows, cols) : TileGrid::of_group(rows, cols);
}

}  // namespace

template <>
void grouped_linear_forward(Exec& exec, float* y, float* pre, const float* x, const float* w, const float* bias,
                            const std::int32_t* start, std::int64_t, std::int64_t E, std::int64_t in, std::int64_t out,
                            Activation act) {
    const auto layer_of = [&](std::int64_t e) {
        const std::int64_t s = start[e];
        return FewRows{y + s * out,
                       pre == nullptr ? nullptr : pre + s * out,
                       x + s * in,
                       w + e * out * in,
                       bias == nullptr ? nullptr : bias + e * out,
                       start[e + 1] - s,
                       in,
                       out,
                       act};
    };
    const auto items = [&](std::int64_t e) {
        const FewRows layer = layer_of(e);
        if (layer.rows == 0) return std::int64_t{0};
        return layer.rows <= kFewRows ? layer.items() : grid_of_expert(layer.rows, out, E).size();
    };
    parallel_experts(exec.threads, start, E, items, [&](std::int64_t e, std::int64_t item, int) {
        const FewRows layer = layer_of(e);
        if (layer.rows <= kFewRows) return linear_of_few_rows(layer, item);
        float* z = layer.pre == nullptr ? layer.y : layer.pre;
        const Tile tile = grid_of_expert(layer.rows, out, E)[item];
        gemm_tile(tile, z, out, {layer.x, in}, {layer.w, in, true}, in, 0.0f);
        widest_vectors([&] { finish_forward(tile, layer.y, z, layer.bias, out, act); });
    });
}

template <>
void grouped_linear_backward_input(Exec& exec, float* dx, const float* dy, const float* w, const float* pre,
                                   const std::int32_t* start, std::int64_t, std::int64_t E, std::int64_t in,
                                   std::int64_t out, Activation act) {
    const auto grid = [&](std::int64_t e) { return grid_of_expert(start[e + 1] - start[e], in, E); };
    parallel_experts(
        exec.threads, start, E, [&](std::int64_t e) { return grid(e).size(); },
        [&](std::int64_t e, std::int64_t item, int) {
            const std::int64_t s = start[e];
            const Tile tile = grid(e)[item];
            gemm_tile(tile, dx + s * in, in, {dy + s * out, out}, {w + e * out * in, in}, out, 0.0f);
            if (act != Activation::none)
                widest_vectors([&] { multiply_derivative(tile, dx + s * in, pre + s * in, in, act); });
        });
}

template <>
void grouped_linear_backward_weight(Exec& exec, float* dw, float* dbias, const float* dy, const float* x,
                                    const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                    std::int64_t out, Accumulate accumulate) {
    require_workspace(exec, grouped_linear_workspace(exec.threads, slots, E, in, out),
                      "grouped_linear_backward_weight");
    const auto gradient = [&](std::int64_t e) {
        const std::int64_t s = start[e];
        return WeightGradient{dw + e * out * in,
                              dbias == nullptr ? nullptr : dbias + e * out,
                              dy + s * out,
                              x + s * in,
                              start[e + 1] - s,
                              in,
                              out,
                              accumulate};
    };
    const auto items = [&](std::int64_t e) {  // nothing is added of no rows
        return start[e + 1] == start[e] && accumulate == Accumulate::yes ? 0 : gradient(e).grid().size();
    };
    const std::size_t thread_bytes = grouped_linear_workspace(1, slots, E, in, out);
    parallel_experts(exec.threads, start, E, items, [&](std::int64_t e, std::int64_t item, int thread) {
        gradient(e).write_tile(item, scratch<float>(exec, static_cast<std::size_t>(thread) * thread_bytes));
    });
}

std::size_t grouped_linear_workspace(int threads, std::int64_t slots, std::int64_t, std::int64_t in, std::int64_t out) {
    return static_cast<std::size_t>(threads) * scratch_bytes<float>(WeightGradient::packed_values(slots, in, out));
}

}  // namespace deft::kernels::cpu
