// Stochastic rounding: its mean, what it leaves alone, its random bits, and a moment that it lets decay.

#include "kernels/stochastic_rounding.h"

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/cpu.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::kernels;

namespace {

std::uint32_t bits_of(float value) {
    return __builtin_bit_cast(std::uint32_t, value);
}
float with_low_bits(float value, std::uint32_t low) {
    return __builtin_bit_cast(float, (bits_of(value) & 0xFFFF0000u) | low);
}

}  // namespace

TEST_CASE("a value goes to its two neighbours in bf16 with itself as the mean") {
    for (const float base : {1.0f, -3.0f, 1e-30f, 255.0f})
        for (const std::uint32_t low : {0u, 1u, 0x4000u, 0x8000u, 0xFFFFu}) {
            const float value = with_low_bits(base, low);
            const bf16 below{static_cast<std::uint16_t>(bits_of(value) >> 16)};
            std::uint32_t up = 0;
            for (std::uint32_t random = 0; random < 0x10000u; ++random) {
                const bf16 rounded = to_bf16_at_random(value, random | 0xABCD0000u);
                REQUIRE((rounded.bits == below.bits || rounded.bits == below.bits + 1));
                up += rounded.bits != below.bits;
            }
            CHECK(up == low);  // of 65,536
        }
}

TEST_CASE("rounding at random keeps infinities, NaN and zeros") {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (const std::uint32_t random : {0u, 0xFFFFu}) {
        CHECK(to_float(to_bf16_at_random(kInfinity, random)) == kInfinity);
        CHECK(to_float(to_bf16_at_random(-kInfinity, random)) == -kInfinity);
        CHECK(std::isnan(to_float(to_bf16_at_random(std::numeric_limits<float>::quiet_NaN(), random))));
        CHECK(std::isnan(to_float(to_bf16_at_random(__builtin_bit_cast(float, 0x7F800001u), random))));
        CHECK(to_bf16_at_random(0.0f, random).bits == 0);
        CHECK(to_bf16_at_random(-0.0f, random).bits == 0x8000u);
    }
    CHECK(stored_moment<float>(0.1f, 0xFFFFu) == 0.1f);
    CHECK(stored_moment<double>(0.1, 0xFFFFu) == 0.1);
}

TEST_CASE("random bits of moments are uniform over steps, weights and gradients, and their halves independent") {
    constexpr int kDraws = 1 << 16;
    const auto check_uniform = [](const auto& draw) {
        double low = 0, high = 0, product = 0;
        std::vector<int> of_bit(32);
        for (int i = 0; i < kDraws; ++i) {
            const std::uint32_t bits = draw(i);
            const double a = (bits & 0xFFFFu) / 65536.0 - 0.5, b = (bits >> 16) / 65536.0 - 0.5;
            low += a;
            high += b;
            product += a * b;
            for (std::size_t bit = 0; bit < 32; ++bit) of_bit[bit] += (bits >> bit) & 1u;
        }
        // Standard errors of a mean: sqrt(1/12 / n), 1/12 / sqrt(n) of the product, sqrt(1/4 / n) of a bit.
        const double root = std::sqrt(kDraws);
        CHECK(std::abs(low / kDraws) < 5 * std::sqrt(1.0 / 12) / root);
        CHECK(std::abs(high / kDraws) < 5 * std::sqrt(1.0 / 12) / root);
        CHECK(std::abs(product / kDraws) < 5.0 / 12 / root);
        for (const int ones : of_bit) CHECK(std::abs(ones / double{kDraws} - 0.5) < 5 * 0.5 / root);
    };
    check_uniform([](int i) { return moment_bits(static_cast<std::uint32_t>(i + 1), 0.02f, 0.0f); });
    check_uniform([](int i) { return moment_bits(7, 0.02f + 1e-6f * static_cast<float>(i), 0.0f); });
    check_uniform([](int i) { return moment_bits(7, 1.0f, 1e-5f * static_cast<float>(i - kDraws / 2)); });
}

TEST_CASE("second moments in bf16 decay without gradients as in f32, though a step is below half of a bf16 step") {
    constexpr int kWeights = 512, kSteps = 1000;
    std::vector<float> param(kWeights), grad(kWeights, 0.0f);
    for (int i = 0; i < kWeights; ++i) param[static_cast<std::size_t>(i)] = 0.02f * std::sin(static_cast<float>(i + 1));
    std::vector<bf16> m(kWeights, to_bf16(0.0f)), v(kWeights, to_bf16(0.5f));
    const double norm = 1, loss = 1;
    cpu::Exec exec;
    for (int step = 1; step <= kSteps; ++step) {
        const AdamW adamw{.rates = adamw_rates(1e-3, 0.9, 0.999, step), .beta2 = 0.999};
        cpu::adamw_update(exec, param.data(), static_cast<bf16*>(nullptr), m.data(), v.data(), grad.data(), &norm,
                          &loss, kWeights, adamw);
    }
    CHECK(to_bf16(0.999f * 0.5f).bits == to_bf16(0.5f).bits);  // to the nearest, it would stay
    double mean = 0;
    for (const bf16 value : v) mean += to_float(value) / kWeights;
    // The variance that one rounding adds is below (2^-8 v)^2 / 4 relative; the mean of 512 is near the exact decay.
    CHECK(mean == Approx(0.5 * std::pow(0.999, kSteps)).epsilon(0.02));
}

TEST_CASE("one step of AdamW and SGD with moments in bf16 by hand") {
    // As "one AdamW step by hand", with moments that bf16 holds between two neighbours: 0.2 is 0.19921875 or 0.2001953.
    const AdamW adamw{.rates = adamw_rates(0.1, 0.9, 0.95, 1), .eps = 0, .weight_decay = 0.5, .max_grad_norm = 5};
    float param = 1;
    bf16 m = to_bf16(0.0f), v = to_bf16(0.0f);
    const float grad = 4;
    const double norm = 10, loss = 3;
    cpu::Exec exec;
    cpu::adamw_update(exec, &param, static_cast<bf16*>(nullptr), &m, &v, &grad, &norm, &loss, 1, adamw);
    CHECK(param == Approx(0.85).epsilon(1e-6));  // by the moments before they are rounded
    const std::uint32_t random = moment_bits(1, 1.0f, 4.0f);
    CHECK(m.bits == to_bf16_at_random(0.1f * 2, random).bits);
    CHECK(std::abs(to_float(v) - 0.2f) < 0.001f);
    const Sgd sgd{.rates = SgdRates{0.1, 3}, .momentum = 0.9, .weight_decay = 0, .max_grad_norm = 5};
    bf16 momentum = to_bf16(0.3f);
    float moved = 1;
    cpu::sgd_update(exec, &moved, static_cast<bf16*>(nullptr), &momentum, &grad, &norm, &loss, 1, sgd);
    const float sum = 0.9f * to_float(to_bf16(0.3f)) + 2;
    CHECK(moved == Approx(1 - 0.1 * sum).epsilon(1e-6));
    CHECK(std::abs(to_float(momentum) - sum) < sum / 128);
}
