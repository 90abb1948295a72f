#include "kernels/cuda/activation.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gemm_tiles.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

// A tile of the rows of one expert.
struct ExpertTile {
    std::int64_t e;                // or -1: there are fewer tiles than blocks
    std::int64_t first, rows;      // its slots
    std::int64_t first_row, first_col;
};

// That of this block, of results with so many columns. The device alone knows how many rows an expert has.
__device__ inline ExpertTile tile_of_block(const std::int32_t* start, std::int64_t E, std::int64_t cols) {
    const std::int64_t across = ceil_div(cols, kGemmTile);
    std::int64_t down = blockIdx.x / across;
    for (std::int64_t e = 0; e < E; ++e) {
        const std::int64_t rows = start[e + 1] - start[e], tiles = ceil_div(rows, kGemmTile);
        if (down < tiles) return {e, start[e], rows, down * kGemmTile, blockIdx.x % across * kGemmTile};
        down -= tiles;
    }
    return {-1, 0, 0, 0, 0};
}

// As many blocks as there may be tiles: each expert with rows may have one that is not full.
std::int64_t most_tiles(std::int64_t slots, std::int64_t E, std::int64_t cols) {
    return (slots / kGemmTile + (E < slots ? E : slots)) * ceil_div(cols, kGemmTile);
}

template <class Real>
__global__ void __launch_bounds__(kGemmThreads)
    grouped_forward(Real* y, Real* pre, const Real* x, const Real* w, const Real* bias, const std::int32_t* start,
                    std::int64_t E, std::int64_t in, std::int64_t out, Activation act) {
    const ExpertTile tile = tile_of_block(start, E, out);
    if (tile.e < 0) return;
    const Strided<Real> rows{x + tile.first * in, tile.rows, in, in, 1};
    const Strided<Real> weight{w + tile.e * out * in, in, out, 1, in};
    multiply_tile(rows, weight, tile.first_row, tile.first_col, [=](std::int64_t row, std::int64_t col, float sum) {
        const std::int64_t at = (tile.first + row) * out + col;
        if (bias != nullptr) sum += to_float(bias[tile.e * out + col]);
        // Rounded as it is stored, so that the backward pass sees the value that was activated.
        const Real z = from_float<Real>(sum);
        if (pre != nullptr) pre[at] = z;
        y[at] = from_float<Real>(activate(act, to_float(z)));
    });
}

template <class Real>
__global__ void __launch_bounds__(kGemmThreads)
    grouped_backward_input(Real* dx, const Real* dy, const Real* w, const Real* pre, const std::int32_t* start,
                           std::int64_t E, std::int64_t in, std::int64_t out, Activation act) {
    const ExpertTile tile = tile_of_block(start, E, in);
    if (tile.e < 0) return;
    const Strided<Real> gradient{dy + tile.first * out, tile.rows, out, out, 1};
    const Strided<Real> weight{w + tile.e * out * in, out, in, in, 1};
    multiply_tile(gradient, weight, tile.first_row, tile.first_col, [=](std::int64_t row, std::int64_t col, float sum) {
        const std::int64_t at = (tile.first + row) * in + col;
        if (act != Activation::none) sum *= activation_derivative(act, to_float(pre[at]));
        dx[at] = from_float<Real>(sum);
    });
}

// A block a tile of the weight of one expert.
template <class Real>
__global__ void __launch_bounds__(kGemmThreads)
    grouped_backward_weight(float* dw, const Real* dy, const Real* x, const std::int32_t* start, std::int64_t in,
                            std::int64_t out, bool adds) {
    const std::int64_t across = ceil_div(in, kGemmTile), tiles = ceil_div(out, kGemmTile) * across;
    const std::int64_t e = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    const std::int64_t first = start[e], rows = start[e + 1] - first;
    const Strided<Real> gradient{dy + first * out, out, rows, 1, out};
    const Strided<Real> input{x + first * in, rows, in, in, 1};
    multiply_tile(gradient, input, tile / across * kGemmTile, tile % across * kGemmTile,
                  [=](std::int64_t row, std::int64_t col, float sum) {
                      float& to = dw[(e * out + row) * in + col];
                      to = adds ? to + sum : sum;
                  });
}

// A thread an expert's output, which adds its rows in order.
template <class Real>
__global__ void grouped_backward_bias(float* dbias, const Real* dy, const std::int32_t* start, std::int64_t E,
                                      std::int64_t out, bool adds) {
    for (std::int64_t i = first_item(); i < E * out; i += item_stride()) {
        float sum = 0;
        for (std::int64_t slot = start[i / out]; slot < start[i / out + 1]; ++slot)
            sum += to_float(dy[slot * out + i % out]);
        dbias[i] = adds ? dbias[i] + sum : sum;
    }
}

}  // namespace

template <class Real>
void grouped_linear_forward(Exec& exec, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias,
                            const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                            std::int64_t out, Activation act) {
    launch(exec, {"grouped_forward", most_tiles(slots, E, out), kGemmThreads}, grouped_forward<Real>, y, pre, x, w, bias,
           start, E, in, out, act);
}

template <class Real>
void grouped_linear_backward_input(Exec& exec, Real* dx, const Real* dy, const Real* w, const Real* pre,
                                   const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                   std::int64_t out, Activation act) {
    launch(exec, {"grouped_backward_input", most_tiles(slots, E, in), kGemmThreads}, grouped_backward_input<Real>, dx, dy,
           w, pre, start, E, in, out, act);
}

template <class Real>
void grouped_linear_backward_weight(Exec& exec, float* dw, float* dbias, const Real* dy, const Real* x,
                                    const std::int32_t* start, std::int64_t, std::int64_t E, std::int64_t in,
                                    std::int64_t out, Accumulate accumulate) {
    const bool adds = accumulate == Accumulate::yes;
    launch(exec, {"grouped_backward_weight", E * ceil_div(out, kGemmTile) * ceil_div(in, kGemmTile), kGemmThreads},
           grouped_backward_weight<Real>, dw, dy, x, start, in, out, adds);
    if (dbias != nullptr)
        launch(exec, over_items("grouped_backward_bias", E * out), grouped_backward_bias<Real>, dbias, dy, start, E, out,
               adds);
}

template void grouped_linear_forward<float>(Exec&, float*, float*, const float*, const float*, const float*,
                                            const std::int32_t*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                            Activation);
template void grouped_linear_forward<bf16>(Exec&, bf16*, bf16*, const bf16*, const bf16*, const bf16*,
                                           const std::int32_t*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                           Activation);
template void grouped_linear_backward_input<float>(Exec&, float*, const float*, const float*, const float*,
                                                   const std::int32_t*, std::int64_t, std::int64_t, std::int64_t,
                                                   std::int64_t, Activation);
template void grouped_linear_backward_input<bf16>(Exec&, bf16*, const bf16*, const bf16*, const bf16*,
                                                  const std::int32_t*, std::int64_t, std::int64_t, std::int64_t,
                                                  std::int64_t, Activation);
template void grouped_linear_backward_weight<float>(Exec&, float*, float*, const float*, const float*,
                                                    const std::int32_t*, std::int64_t, std::int64_t, std::int64_t,
                                                    std::int64_t, Accumulate);
template void grouped_linear_backward_weight<bf16>(Exec&, float*, float*, const bf16*, const bf16*, const std::int32_t*,
                                                   std::int64_t, std::int64_t, std::int64_t, std::int64_t, Accumulate);

}  // namespace deft::kernels::cuda
