#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

// y (B, C): the first of the K rows of x (B, K, C), or their mean, summed in order.
template <class Real>
__global__ void pool_rows(Real* y, const Real* x, std::int64_t B, std::int64_t K, std::int64_t C, bool is_mean) {
    for (std::int64_t item = first_item(); item < B * C; item += item_stride()) {
        const Real* from = x + item / C * K * C + item % C;
        float sum = 0;
        for (std::int64_t k = 0; k < (is_mean ? K : 1); ++k) sum += to_float(from[k * C]);
        y[item] = from_float<Real>(is_mean ? sum / static_cast<float>(K) : sum);
    }
}

template <class Real>
__global__ void pool_rows_backward(Real* dx, const Real* dy, std::int64_t B, std::int64_t K, std::int64_t C,
                                   bool is_mean, bool adds) {
    for (std::int64_t item = first_item(); item < B * K * C; item += item_stride()) {
        const std::int64_t b = item / (K * C), k = item / C % K;
        if (adds && !is_mean && k != 0) continue;
        float gradient = is_mean || k == 0 ? to_float(dy[b * C + item % C]) : 0.0f;
        if (is_mean) gradient /= static_cast<float>(K);
        dx[item] = from_float<Real>(adds ? to_float(dx[item]) + gradient : gradient);
    }
}

__device__ inline float pixel_value(float pixel) {
    return pixel;
}
__device__ inline float pixel_value(std::uint8_t pixel) {
    return static_cast<float>(pixel);
}

// Over the values of out, patch after patch.
template <class Real, class Pixel>
__global__ void make_patches(Real* out, const Pixel* images, PatchShape s) {
    const std::int64_t values = s.patch_values(), across = s.W / s.P, down = s.H / s.P;
    const auto scale = static_cast<float>(s.scale), shift = static_cast<float>(s.shift);
    for (std::int64_t item = first_item(); item < s.B * down * across * values; item += item_stride()) {
        const std::int64_t patch = item / values, within = item % values, c = within % s.channels;
        const std::int64_t b = patch / (down * across);
        const std::int64_t row = patch / across % down * s.P + within / s.channels / s.P;
        const std::int64_t col = patch % across * s.P + within / s.channels % s.P;
        const float pixel = pixel_value(images[((b * s.H + row) * s.W + col) * s.channels + c]);
        out[item] = from_float<Real>(pixel * scale + shift);
    }
}

}  // namespace

template <class Real>
void pool_forward(Exec& exec, Real* y, const Real* x, std::int64_t B, std::int64_t K, std::int64_t C, Pooling pooling) {
    launch(exec, over_items("pool_rows", B * C), pool_rows<Real>, y, x, B, K, C, pooling == Pooling::mean);
}

template <class Real>
void pool_backward(Exec& exec, Real* dx, const Real* dy, std::int64_t B, std::int64_t K, std::int64_t C,
                   Pooling pooling, Accumulate accumulate) {
    launch(exec, over_items("pool_rows_backward", B * K * C), pool_rows_backward<Real>, dx, dy, B, K, C,
           pooling == Pooling::mean, accumulate == Accumulate::yes);
}

template <class Real, class Pixel>
void patchify(Exec& exec, Real* out, const Pixel* images, const PatchShape& s) {
    const std::int64_t items = s.B * (s.H / s.P) * (s.W / s.P) * s.patch_values();
    launch(exec, over_items("make_patches", items), make_patches<Real, Pixel>, out, images, s);
}

template void pool_forward<float>(Exec&, float*, const float*, std::int64_t, std::int64_t, std::int64_t, Pooling);
template void pool_forward<bf16>(Exec&, bf16*, const bf16*, std::int64_t, std::int64_t, std::int64_t, Pooling);
template void pool_backward<float>(Exec&, float*, const float*, std::int64_t, std::int64_t, std::int64_t, Pooling,
                                   Accumulate);
template void pool_backward<bf16>(Exec&, bf16*, const bf16*, std::int64_t, std::int64_t, std::int64_t, Pooling,
                                  Accumulate);
template void patchify<float, float>(Exec&, float*, const float*, const PatchShape&);
template void patchify<float, std::uint8_t>(Exec&, float*, const std::uint8_t*, const PatchShape&);
template void patchify<bf16, float>(Exec&, bf16*, const float*, const PatchShape&);
template void patchify<bf16, std::uint8_t>(Exec&, bf16*, const std::uint8_t*, const PatchShape&);

}  // namespace deft::kernels::cuda
