#include "kernels/cuda/grouped_tensor.h"

#include "kernels/cuda/activation.h"
#include "kernels/cuda/expert_tiles.h"
#include "kernels/cuda/gemm_tensor_tiles.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

__device__ inline std::int32_t narrow(std::int64_t count) {
    return static_cast<std::int32_t>(count);
}

__global__ void __launch_bounds__(kTensorThreads, kTensorBlocks)
    grouped_products_on_tensor_cores(bf16* y, bf16* pre, const bf16* x, const bf16* w, const bf16* bias,
                                     const std::int32_t* start, std::int64_t E, std::int64_t in, std::int64_t out,
                                     Activation act) {
    const ExpertTile tile = tile_of_block(start, E, out, kTensorTile);
    if (tile.e < 0) return;
    const TensorOperand rows{x + tile.first * in, narrow(in), narrow(tile.rows), narrow(in)};
    const TensorOperand weight{w + tile.e * out * in, narrow(in), narrow(out), narrow(in)};
    multiply_tile_on_tensor_cores<Along::k, Along::k>(
        rows, weight, narrow(tile.first_row), narrow(tile.first_col),
        [=](std::int32_t row, std::int32_t column, float sum, float next) {
            const std::int64_t at = (tile.first + row) * out + column;
            float value[2] = {sum, next};
            if (bias != nullptr) {
                float of_bias[2];
                load(of_bias, bias + tile.e * out + column);
                for (int i = 0; i < 2; ++i) value[i] += of_bias[i];
            }
            // Rounded as it is stored, so that the backward pass sees the value that was activated.
            for (float& one : value) one = to_float(to_bf16(one));
            if (pre != nullptr) store(pre + at, value);
            for (float& one : value) one = activate(act, one);
            store(y + at, value);
        });
}

__global__ void __launch_bounds__(kTensorThreads, kTensorBlocks)
    grouped_input_gradients_on_tensor_cores(bf16* dx, const bf16* dy, const bf16* w, const bf16* pre,
                                            const std::int32_t* start, std::int64_t E, std::int64_t in,
                                            std::int64_t out, Activation act) {
    const ExpertTile tile = tile_of_block(start, E, in, kTensorTile);
    if (tile.e < 0) return;
    const TensorOperand gradient{dy + tile.first * out, narrow(out), narrow(tile.rows), narrow(out)};
    const TensorOperand weight{w + tile.e * out * in, narrow(in), narrow(in), narrow(out)};
    multiply_tile_on_tensor_cores<Along::k, Along::result>(
        gradient, weight, narrow(tile.first_row), narrow(tile.first_col),
        [=](std::int32_t row, std::int32_t column, float sum, float next) {
            const std::int64_t at = (tile.first + row) * in + column;
            float value[2] = {sum, next};
            if (act != Activation::none) {
                float before[2];
                load(before, pre + at);
                for (int i = 0; i < 2; ++i) value[i] *= activation_derivative(act, before[i]);
            }
            store(dx + at, value);
        });
}

// A block a tile of the weight of one expert, whose rows are k.
__global__ void __launch_bounds__(kTensorThreads, kTensorBlocks)
    grouped_weight_gradients_on_tensor_cores(float* dw, const bf16* dy, const bf16* x, const std::int32_t* start,
                                             std::int64_t in, std::int64_t out, bool adds) {
    const std::int64_t across = ceil_div(in, kTensorTile), tiles = ceil_div(out, kTensorTile) * across;
    const std::int64_t e = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    const std::int64_t first = start[e], rows = start[e + 1] - first;
    const TensorOperand gradient{dy + first * out, narrow(out), narrow(out), narrow(rows)};
    const TensorOperand input{x + first * in, narrow(in), narrow(in), narrow(rows)};
    multiply_tile_on_tensor_cores<Along::result, Along::result>(
        gradient, input, narrow(tile / across * kTensorTile), narrow(tile % across * kTensorTile),
        [=](std::int32_t row, std::int32_t column, float sum, float next) {
            float* const to = dw + (e * out + row) * in + column;
            float value[2] = {sum, next}, before[2];
            if (adds) {
                load(before, to);
                for (int i = 0; i < 2; ++i) value[i] += before[i];
            }
            store(to, value);
        });
}

template <class... Buffers>
bool fits(std::int64_t in, std::int64_t out, const Buffers*... buffers) {
    return in % kPiece == 0 && out % kPiece == 0 && ((reinterpret_cast<std::uintptr_t>(buffers) % 16 == 0) && ...);
}

Launch over_tensor_tiles(const char* kernel, std::int64_t tiles) {
    return {kernel, tiles, kTensorThreads, kTensorShared};
}

}  // namespace

bool grouped_forward_on_tensor_cores(Exec& exec, bf16* y, bf16* pre, const bf16* x, const bf16* w, const bf16* bias,
                                     const std::int32_t* start, std::int64_t slots, std::int64_t E, std::int64_t in,
                                     std::int64_t out, Activation act) {
    if (!fits(in, out, y, pre, x, w, bias)) return false;
    launch(exec, over_tensor_tiles("grouped_products_on_tensor_cores", most_tiles(slots, E, out, kTensorTile)),
           grouped_products_on_tensor_cores, y, pre, x, w, bias, start, E, in, out, act);
    return true;
}

bool grouped_backward_input_on_tensor_cores(Exec& exec, bf16* dx, const bf16* dy, const bf16* w, const bf16* pre,
                                            const std::int32_t* start, std::int64_t slots, std::int64_t E,
                                            std::int64_t in, std::int64_t out, Activation act) {
    if (!fits(in, out, dx, dy, w, pre)) return false;
    launch(exec, over_tensor_tiles("grouped_input_gradients_on_tensor_cores", most_tiles(slots, E, in, kTensorTile)),
           grouped_input_gradients_on_tensor_cores, dx, dy, w, pre, start, E, in, out, act);
    return true;
}

bool grouped_backward_weight_on_tensor_cores(Exec& exec, float* dw, const bf16* dy, const bf16* x,
                                             const std::int32_t* start, std::int64_t E, std::int64_t in,
                                             std::int64_t out, Accumulate accumulate) {
    if (!fits(in, out, dw, dy, x)) return false;
    launch(exec,
           over_tensor_tiles("grouped_weight_gradients_on_tensor_cores",
                             E * ceil_div(out, kTensorTile) * ceil_div(in, kTensorTile)),
           grouped_weight_gradients_on_tensor_cores, dw, dy, x, start, in, out, accumulate == Accumulate::yes);
    return true;
}

}  // namespace deft::kernels::cuda
