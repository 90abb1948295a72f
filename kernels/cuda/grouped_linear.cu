#include <type_traits>

#include "kernels/cuda/activation.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/expert_tiles.h"
#include "kernels/cuda/gemm_tiles.h"
#include "kernels/cuda/grouped_tensor.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/products.h"

namespace deft::kernels::cuda {

namespace {

template <class Real>
__global__ void __launch_bounds__(kGemmThreads)
    grouped_forward(Real* y, Real* pre, const Real* x, const Real* w, const Real* bias, const std::int32_t* start,
                    std::int64_t E, std::int64_t in, std::int64_t out, Activation act) {
    const ExpertTile tile = tile_of_block(start, E, out, kGemmTile);
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
    const ExpertTile tile = tile_of_block(start, E, in, kGemmTile);
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

constexpr int kBiasColumns = 32, kBiasRowLanes = 8;

// A block an expert and 32 outputs: each of its 8 warps adds every eighth row, and the first adds those sums in order.
template <class Real>
__global__ void __launch_bounds__(kBiasColumns* kBiasRowLanes)
    grouped_backward_bias(float* dbias, const Real* dy, const std::int32_t* start, std::int64_t out, bool adds) {
    const std::int64_t across = ceil_div(out, kBiasColumns), e = blockIdx.x / across;
    const int lane = static_cast<int>(threadIdx.x) % kBiasColumns,
              row_lane = static_cast<int>(threadIdx.x) / kBiasColumns;
    const std::int64_t col = blockIdx.x % across * kBiasColumns + lane;
    float sum = 0;
    for (std::int64_t slot = start[e] + row_lane; col < out && slot < start[e + 1]; slot += kBiasRowLanes)
        sum += to_float(dy[slot * out + col]);
    DEFT_SHARED(float, sums, kBiasColumns* kBiasRowLanes);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (row_lane != 0 || col >= out) return;
    for (int other = 1; other < kBiasRowLanes; ++other) sum += sums[other * kBiasColumns + lane];
    float& to = dbias[e * out + col];
    to = adds ? to + sum : sum;
}

}  // namespace

template <class Real>
void grouped_linear_forward(Exec& exec, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias,
                            const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                            std::int64_t out, Activation act) {
    const ProductShape shape{
        false, true, slots, out, in, product_type<Real>, product_type<Real>, product_type<Real>, Epilogue::none, true};
    if constexpr (std::is_same_v<Real, bf16>)
        if (grouped_forward_on_tensor_cores(exec, y, pre, x, w, bias, start, slots, E, in, out, act))
            return record_product(exec, shape, ProductPath::tensor_cores);
    record_product(exec, shape, ProductPath::tiles);
    launch(exec, {"grouped_forward", most_tiles(slots, E, out, kGemmTile), kGemmThreads}, grouped_forward<Real>, y, pre,
           x, w, bias, start, E, in, out, act);
}

template <class Real>
void grouped_linear_backward_input(Exec& exec, Real* dx, const Real* dy, const Real* w, const Real* pre,
                                   const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                   std::int64_t out, Activation act) {
    const ProductShape shape{
        false, false, slots, in, out, product_type<Real>, product_type<Real>, product_type<Real>, Epilogue::none, true};
    if constexpr (std::is_same_v<Real, bf16>)
        if (grouped_backward_input_on_tensor_cores(exec, dx, dy, w, pre, start, slots, E, in, out, act))
            return record_product(exec, shape, ProductPath::tensor_cores);
    record_product(exec, shape, ProductPath::tiles);
    launch(exec, {"grouped_backward_input", most_tiles(slots, E, in, kGemmTile), kGemmThreads},
           grouped_backward_input<Real>, dx, dy, w, pre, start, E, in, out, act);
}

template <class Real>
void grouped_linear_backward_weight(Exec& exec, float* dw, float* dbias, const Real* dy, const Real* x,
                                    const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                    std::int64_t out, Accumulate accumulate) {
    const ProductShape shape{
        true, false, out, in, slots, product_type<Real>, product_type<Real>, ProductType::f32, Epilogue::none, true};
    const bool adds = accumulate == Accumulate::yes;
    if (dbias != nullptr)
        launch(exec, {"grouped_backward_bias", E * ceil_div(out, kBiasColumns), kBiasColumns * kBiasRowLanes},
               grouped_backward_bias<Real>, dbias, dy, start, out, adds);
    if constexpr (std::is_same_v<Real, bf16>)
        if (grouped_backward_weight_on_tensor_cores(exec, dw, dy, x, start, E, in, out, accumulate))
            return record_product(exec, shape, ProductPath::tensor_cores);
    record_product(exec, shape, ProductPath::tiles);
    launch(exec, {"grouped_backward_weight", E * ceil_div(out, kGemmTile) * ceil_div(in, kGemmTile), kGemmThreads},
           grouped_backward_weight<Real>, dw, dy, x, start, in, out, adds);
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
