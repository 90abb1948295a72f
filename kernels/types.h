#pragma once
// Words that every backend shares.

#include <cmath>
#include <cstdint>

#include "kernels/device.h"
#include "kernels/step_value.h"

namespace deft::kernels {

enum class Activation {
    none,
    gelu_tanh,  // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): Hendrycks & Gimpel 2016, section 2
    gelu_erf,   // x Phi(x), of which the former is an approximation
    tanh,
    swiglu,  // silu(gate) up of two columns, silu(x) = x / (1 + e^-x): Shazeer 2020, equation 6
};

// Input columns of an activation with `columns` outputs: a gated one reads [gate | up].
inline std::int64_t columns_before(Activation act, std::int64_t columns) {
    return act == Activation::swiglu ? 2 * columns : columns;
}

// Factors of one AdamW step, with the bias corrections folded in: lr m^ / (sqrt(v^) + eps) = mean_scale m /
// (sqrt(square_scale v) + eps).
struct AdamWRates {
    double lr = 0, mean_scale = 0, square_scale = 0;
    std::uint32_t step = 0;  // low bits: a key of the rounding of moments in bf16
};
// step: counts from 1.
inline AdamWRates adamw_rates(double lr, double beta1, double beta2, std::int64_t step) {
    const auto t = static_cast<double>(step);
    return {lr, lr / (1 - std::pow(beta1, t)), 1 / (1 - std::pow(beta2, t)), static_cast<std::uint32_t>(step)};
}

// Parameters of one AdamW step (Loshchilov & Hutter 2019, algorithm 2).
struct AdamW {
    StepValue<AdamWRates> rates;
    double beta1 = 0.9;
    double beta2 = 0.95;
    double eps = 1e-8;
    double weight_decay = 0;   // 0 for biases, norms
    double max_grad_norm = 0;  // gradients are scaled by min(1, max_grad_norm / norm); 0: no clip
};

struct SgdRates {
    double lr = 0;
    std::uint32_t step = 0;  // as AdamWRates::step
};

// Parameters of one step of SGD with momentum (Polyak 1964, as torch.optim.SGD without dampening and Nesterov).
struct Sgd {
    StepValue<SgdRates> rates;
    double momentum = 0.9;
    double weight_decay = 0;   // of an L2 penalty, which enters the momentum; 0 for biases, norms
    double max_grad_norm = 0;  // as AdamW's
};

inline constexpr double kLayerNormEps = 1e-5;

// Normalisation of rows, before the weight of each column.
enum class NormKind {
    layer,  // (x - mean) / sqrt(var + eps), with a bias: Ba, Kiros & Hinton 2016, equations 3 and 4
    rms,    // x / sqrt(mean(x^2) + eps), without mean and bias: Zhang & Sennrich 2019, equation 4
};
struct NormSpec {
    NormKind kind = NormKind::layer;
    double eps = kLayerNormEps;

    bool operator==(const NormSpec&) const = default;
};

// Rotary position embedding (Su et al. 2021, section 3.4.2) of the heads (heads, d) of rows (B, K); d is even.
struct RopeShape {
    std::int64_t B, K, heads, d;
    double theta = 10000;                    // the base of the angles' frequencies
    const std::int32_t* position = nullptr;  // (B, K), or null: 0 to K - 1 in each sample
};
enum class RopeTurn : bool { forward, back };  // the gradient turns back

// K rows of each sample in the cache (samples, T, C) of keys or values, for a model that generates. A sample's rows
// begin at its position, at most T - K. They come from rows (B, K) that begin x_stride values apart; B is samples, or
// 1, whose rows all samples share.
struct CacheRows {
    std::int64_t samples, T, C, B, K, x_stride;
    const std::int32_t* position = nullptr;  // (samples); null: 0 of each

    DEFT_HOST_DEVICE std::int64_t first(std::int64_t sample) const {
        return position == nullptr ? 0 : position[sample];
    }
};

// How the rows of a sample become one.
enum class Pooling {
    first,  // that of a [CLS] token or class token
    mean,   // of all rows
};

// Images (B, H, W, channels) in square patches with P pixels a side, which divides H and W; every value times scale,
// plus shift.
struct PatchShape {
    std::int64_t B, H, W, channels, P;
    double scale = 1, shift = 0;

    DEFT_HOST_DEVICE std::int64_t patch_values() const { return P * P * channels; }
    std::int64_t values() const { return B * H * W * channels; }
};

// A gradient is written, or added to what an earlier micro-batch left.
enum class Accumulate : bool { no = false, yes = true };

inline constexpr std::int32_t kIgnoreTarget = -1;  // a position that has no loss

}  // namespace deft::kernels
