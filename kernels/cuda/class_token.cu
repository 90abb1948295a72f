#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

template <class Real>
__global__ void put_class_token(Real* out, const Real* token, const Real* x, const Real* position, std::int64_t B,
                                std::int64_t K, std::int64_t C) {
    const std::int64_t T = K + 1;
    for (std::int64_t item = first_item(); item < B * T * C; item += item_stride()) {
        const std::int64_t c = item % C, t = item / C % T, b = item / C / T;
        const float value = to_float(t == 0 ? token[c] : x[(b * K + t - 1) * C + c]);
        out[item] = from_float<Real>(position == nullptr ? value : value + to_float(position[t * C + c]));
    }
}

// Over (1 + K, C): a thread takes one column of one place through all samples, in their order.
template <class Real>
__global__ void part_class_token(float* dtoken, Real* dx, float* dposition, const Real* dout, std::int64_t B,
                                 std::int64_t K, std::int64_t C, bool adds) {
    const std::int64_t T = K + 1;
    for (std::int64_t item = first_item(); item < T * C; item += item_stride()) {
        const std::int64_t c = item % C, t = item / C;
        float of_token = adds && t == 0 ? dtoken[c] : 0.0f;
        float of_position = adds && dposition != nullptr ? dposition[item] : 0.0f;
        for (std::int64_t b = 0; b < B; ++b) {
            const Real gradient = dout[(b * T + t) * C + c];
            of_token += to_float(gradient);
            of_position += to_float(gradient);
            if (t > 0) dx[(b * K + t - 1) * C + c] = gradient;
        }
        if (t == 0) dtoken[c] = of_token;
        if (dposition != nullptr) dposition[item] = of_position;
    }
}

}  // namespace

template <class Real>
void class_token_forward(Exec& exec, Real* out, const Real* token, const Real* x, const Real* position, std::int64_t B,
                         std::int64_t K, std::int64_t C) {
    launch(exec, over_items("put_class_token", B * (K + 1) * C), put_class_token<Real>, out, token, x, position, B, K,
           C);
}

template <class Real>
void class_token_backward(Exec& exec, float* dtoken, Real* dx, float* dposition, const Real* dout, std::int64_t B,
                          std::int64_t K, std::int64_t C, Accumulate accumulate) {
    launch(exec, over_items("part_class_token", (K + 1) * C), part_class_token<Real>, dtoken, dx, dposition, dout, B, K,
           C, accumulate == Accumulate::yes);
}

template void class_token_forward<float>(Exec&, float*, const float*, const float*, const float*, std::int64_t,
                                         std::int64_t, std::int64_t);
template void class_token_forward<bf16>(Exec&, bf16*, const bf16*, const bf16*, const bf16*, std::int64_t, std::int64_t,
                                        std::int64_t);
template void class_token_backward<float>(Exec&, float*, float*, float*, const float*, std::int64_t, std::int64_t,
                                          std::int64_t, Accumulate);
template void class_token_backward<bf16>(Exec&, float*, bf16*, float*, const bf16*, std::int64_t, std::int64_t,
                                         std::int64_t, Accumulate);

}  // namespace deft::kernels::cuda
