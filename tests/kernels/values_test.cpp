// Values known from elsewhere or worked out by hand.

#include <bit>
#include <limits>

#include "kernels/bf16.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/philox.h"
#include "kernels/reference/activation.h"
#include "kernels/reference/layers.h"
#include "kernels/reference/training.h"
#include "kernels/reference/value_loss.h"
#include "tests/catch.h"

namespace deft::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Known answers of the Random123 distribution (Salmon et al. 2011).
TEST_CASE("Philox 4x32-10 gives the published answers") {
    struct Answer {
        PhiloxBlock counter;
        std::uint32_t key0, key1;
        PhiloxBlock expected;
    };
    const std::uint32_t ones = 0xffffffffu;
    const Answer answers[] = {
        {{{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
        {{{ones, ones, ones, ones}}, ones, ones, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         0xa4093822,
         0x299f31d0,
         {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
    };
    for (const Answer& answer : answers) {
        const PhiloxBlock drawn = philox4x32_10(answer.counter, answer.key0, answer.key1);
        for (int i = 0; i < 4; ++i) CHECK(drawn.word[i] == answer.expected.word[i]);
    }
}

TEST_CASE("every argument of a Philox draw matters") {
    const auto draw = [](std::uint64_t seed, RandomPurpose purpose, std::uint64_t step, std::uint32_t layer,
                         std::uint64_t sample,
                         std::uint32_t position) { return philox_u32(seed, purpose, step, layer, sample, position); };
    const std::uint32_t base = draw(1, RandomPurpose::init, 2, 3, 4, 5);
    CHECK(draw(1, RandomPurpose::init, 2, 3, 4, 5) == base);
    CHECK(draw(1 + (1ull << 33), RandomPurpose::init, 2, 3, 4, 5) != base);
    CHECK(draw(1, RandomPurpose::token_drop, 2, 3, 4, 5) != base);
    CHECK(draw(1, RandomPurpose::init, 3, 3, 4, 5) != base);
    CHECK(draw(1, RandomPurpose::init, 2, 4, 4, 5) != base);
    CHECK(draw(1, RandomPurpose::init, 2, 3, 4 + (1ull << 33), 5) != base);
    CHECK(draw(1, RandomPurpose::init, 2, 3, 4, 6) != base);
}

// Distance in units of the last place, between finite floats of one sign.
std::int64_t ulps(float a, float b) {
    return std::abs(std::int64_t{std::bit_cast<std::int32_t>(a)} - std::bit_cast<std::int32_t>(b));
}

TEST_CASE("vector exp stays within 2 ulp, and treats NaN and infinity as exp does") {
    std::int64_t worst = 0;
    for (double x = -86.5; x < 88.72; x += 1.37e-4) {
        const auto input = static_cast<float>(x);
        worst = std::max(worst, ulps(cpu::vector_exp(input), static_cast<float>(std::exp(static_cast<double>(input)))));
    }
    CHECK(worst <= 2);
    CHECK(cpu::vector_exp(0.0f) == 1.0f);
    CHECK(cpu::vector_exp(88.8f) == kInfinity);
    CHECK(cpu::vector_exp(kInfinity) == kInfinity);
    CHECK(cpu::vector_exp(-200.0f) == 0.0f);
    CHECK(cpu::vector_exp(-kInfinity) == 0.0f);
    CHECK(std::isnan(cpu::vector_exp(kNaN)));
}

TEST_CASE("bf16 rounds to the nearest, ties to even, and keeps infinities and NaN") {
    CHECK(to_float(to_bf16(1.0f)) == 1.0f);
    CHECK(to_float(to_bf16(-3.140625f)) == -3.140625f);
    // Neighbours of 1 are 1/128 apart above it.
    CHECK(to_float(to_bf16(1.0f + 1.0f / 256)) == 1.0f);
    CHECK(to_float(to_bf16(1.0f + 3.0f / 256)) == 1.0f + 2.0f / 128);
    CHECK(to_float(to_bf16(1.0f + 1.001f / 256)) == 1.0f + 1.0f / 128);
    CHECK(to_float(to_bf16(3.4e38f)) == kInfinity);
    CHECK(to_float(to_bf16(-kInfinity)) == -kInfinity);
    CHECK(std::isnan(to_float(to_bf16(kNaN))));
    CHECK(std::isnan(to_float(to_bf16(std::bit_cast<float>(0x7f800001u)))));  // its upper half is infinity's
}

TEST_CASE("the exact GELU has its known values") {
    // Phi(1) = 0.8413447461, phi(1) = 0.2419707245
    CHECK(cpu::gelu_erf(1.0f) == Approx(0.8413447461).epsilon(1e-6));
    CHECK(cpu::gelu_erf(-1.0f) == Approx(-0.1586552539).epsilon(1e-6));
    CHECK(cpu::gelu_erf_derivative(1.0f) == Approx(1.0833154706).epsilon(1e-6));
    CHECK(cpu::gelu_erf_derivative(-1.0f) == Approx(-0.0833154706).epsilon(2e-6));
    CHECK(reference::activate(Activation::gelu_erf, 1.0) == Approx(0.841344746069).epsilon(1e-11));
    CHECK(reference::activation_derivative(Activation::gelu_erf, 1.0) == Approx(1.083315470588).epsilon(1e-11));
    CHECK(cpu::gelu_erf(0.0f) == 0.0f);
    CHECK(cpu::gelu_erf_derivative(0.0f) == Approx(0.5).epsilon(1e-6));
    CHECK(cpu::gelu_erf(20.0f) == 20.0f);
    CHECK(cpu::gelu_erf(-20.0f) == 0.0f);
    CHECK(std::isnan(cpu::gelu_erf(kNaN)));
    CHECK(std::isnan(cpu::gelu_erf_derivative(kNaN)));
    double worst = 0;
    for (double x = -13; x < 13; x += 1.7e-4) {
        const auto input = static_cast<float>(x);
        const double right = reference::activate(Activation::gelu_erf, static_cast<double>(input));
        if (right != 0) worst = std::max(worst, std::abs(static_cast<double>(cpu::gelu_erf(input)) / right - 1));
    }
    CHECK(worst < 5e-6);
}

TEST_CASE("SwiGLU of a gate of 1 before 3, and of 0 before 4") {
    // s = 1 / (1 + 1/e) = 0.7310585786: silu(1) = s, silu'(1) = s (2 - s) = 0.9276705119; silu(0) = 0, silu'(0) = 1/2.
    const float pre[] = {1, 0, 3, 4}, dy[] = {1, 2};
    float y[2], dpre[4];
    cpu::Exec exec;
    cpu::activation_forward(exec, y, pre, 1, 2, Activation::swiglu);
    CHECK(y[0] == Approx(3 * 0.7310585786).epsilon(1e-6));
    CHECK(y[1] == 0.0f);
    cpu::activation_backward(exec, dpre, dy, pre, 1, 2, Activation::swiglu);
    CHECK(dpre[0] == Approx(3 * 0.9276705119).epsilon(1e-6));
    CHECK(dpre[1] == Approx(2 * 4 * 0.5).epsilon(1e-6));
    CHECK(dpre[2] == Approx(0.7310585786).epsilon(1e-6));
    CHECK(dpre[3] == 0.0f);
}

TEST_CASE("GELU has its known values") {
    // 0.5 (1 + tanh(0.7978845608 * 1.044715)) = 0.5 (1 + tanh(0.83356197)) = 0.84119199
    CHECK(cpu::gelu_tanh(1.0f) == Approx(0.84119199).epsilon(1e-6));
    CHECK(cpu::gelu_tanh(-1.0f) == Approx(-0.15880801).epsilon(1e-6));
    CHECK(reference::gelu_tanh(1.0) == Approx(0.841191990608).epsilon(1e-11));
    CHECK(cpu::gelu_tanh(0.0f) == 0.0f);
    CHECK(cpu::gelu_tanh_derivative(0.0f) == 0.5f);
    CHECK(cpu::gelu_tanh(20.0f) == 20.0f);
    CHECK(cpu::gelu_tanh(-20.0f) == 0.0f);
    CHECK(std::isnan(cpu::gelu_tanh(kNaN)));
    CHECK(std::isnan(cpu::gelu_tanh_derivative(kNaN)));
}

TEST_CASE("layer normalisation of 1, 2, 3, 4") {
    // mean 2.5, variance 1.25: (x - 2.5) / sqrt(1.25001) * 2 + 1
    const float x[] = {1, 2, 3, 4}, weight[] = {2, 2, 2, 2}, bias[] = {1, 1, 1, 1};
    float y[4], mean = 0, rstd = 0;
    cpu::Exec exec;
    cpu::norm_forward<float>(exec, y, nullptr, &mean, &rstd, x, nullptr, weight, bias, 1, 1, 1, 4, {});
    CHECK(mean == 2.5f);
    CHECK(rstd == Approx(0.894423613).epsilon(1e-6));
    CHECK(y[0] == Approx(1 - 3 * 0.894423613).epsilon(1e-6));
    CHECK(y[3] == Approx(1 + 3 * 0.894423613).epsilon(1e-6));
}

TEST_CASE("the input gradient of a linear layer is added after its activation") {
    // dy W = 1 * 3 + 2 * 5 = 13; GELU'(1) = Phi(1) + phi(1) = 1.0833154706; dx = 7 + 13 * 1.0833154706.
    const float dy[] = {1, 2}, w[] = {3, 5}, pre[] = {1};
    alignas(64) std::byte workspace[4096];
    cpu::Exec exec{1, workspace};
    float dx = 7;
    cpu::linear_backward_input(exec, &dx, dy, w, pre, 1, 1, 2, Activation::gelu_erf, Accumulate::yes);
    CHECK(dx == Approx(7 + 13 * 1.0833154706).epsilon(1e-6));
    cpu::linear_backward_input<float>(exec, &dx, dy, w, nullptr, 1, 1, 2, Activation::none, Accumulate::yes);
    CHECK(dx == Approx(20 + 13 * 1.0833154706).epsilon(1e-6));
}

TEST_CASE("dropout drops the values whose word is below p 2^32") {
    // Value 5 is word 1 of group 1.
    const std::int64_t draw[] = {7};
    const DropoutKey key{3, 2, 1, draw, 0.5};
    const float x[] = {1, 2, 3, 4, 5, 6}, residual[] = {10, 10, 10, 10, 10, 10};
    float y[6], sum[6];
    cpu::Exec exec;
    cpu::dropout<float>(exec, y, x, nullptr, 1, 6, key);
    cpu::dropout(exec, sum, x, residual, 1, 6, key);
    for (std::uint32_t i = 0; i < 6; ++i) {
        const PhiloxBlock words = philox_block(3, RandomPurpose::dropout, 2, 1, 7, i / 4);
        CHECK(y[i] == (words.word[i % 4] < 0x80000000u ? 0.0f : 2 * x[i]));
        CHECK(sum[i] == 10 + y[i]);
    }
}

TEST_CASE("rope turns the halves of a head by hand") {
    // d = 4, theta = 100: frequencies 1 and 1/10; pairs (1, 3) and (2, 4). At position 2: angles 2 and 0.2.
    const float x[] = {9, 1, 2, 3, 4};  // 9 belongs to no head
    const std::int32_t position[] = {2};
    float y[5] = {7, 0, 0, 0, 0}, back[5] = {};
    cpu::Exec exec;
    const RopeShape shape{1, 1, 1, 4, 100, position};
    cpu::rope(exec, y + 1, 5, x + 1, 5, shape, RopeTurn::forward);
    CHECK(y[0] == 7);
    CHECK(y[1] == Approx(1 * -0.4161468365 - 3 * 0.9092974268).epsilon(1e-6));
    CHECK(y[3] == Approx(3 * -0.4161468365 + 1 * 0.9092974268).epsilon(1e-6));
    CHECK(y[2] == Approx(2 * 0.9800665778 - 4 * 0.1986693308).epsilon(1e-6));
    CHECK(y[4] == Approx(4 * 0.9800665778 + 2 * 0.1986693308).epsilon(1e-6));
    cpu::rope(exec, back + 1, 5, y + 1, 5, shape, RopeTurn::back);
    for (int i = 1; i < 5; ++i) CHECK(back[i] == Approx(x[i]).epsilon(1e-6));
    // The first row of a sample is at position 0, which is not rotated.
    cpu::rope<float>(exec, y, 4, x, 4, {1, 1, 1, 4, 100, nullptr}, RopeTurn::forward);
    for (int i = 0; i < 4; ++i) CHECK(y[i] == x[i]);
}

TEST_CASE("pooling of rows (1, 2), (3, 4), (8, 9)") {
    const float x[] = {1, 2, 3, 4, 8, 9}, dy[] = {6, 12};
    float y[2], dx[6] = {1, 1, 1, 1, 1, 1};
    cpu::Exec exec;
    cpu::pool_forward(exec, y, x, 1, 3, 2, Pooling::first);
    CHECK(std::vector<float>(y, y + 2) == std::vector<float>{1, 2});
    cpu::pool_forward(exec, y, x, 1, 3, 2, Pooling::mean);
    CHECK(std::vector<float>(y, y + 2) == std::vector<float>{4, 5});
    cpu::pool_backward(exec, dx, dy, 1, 3, 2, Pooling::first, Accumulate::yes);
    CHECK(std::vector<float>(dx, dx + 6) == std::vector<float>{7, 13, 1, 1, 1, 1});
    cpu::pool_backward(exec, dx, dy, 1, 3, 2, Pooling::first, Accumulate::no);
    CHECK(std::vector<float>(dx, dx + 6) == std::vector<float>{6, 12, 0, 0, 0, 0});
    cpu::pool_backward(exec, dx, dy, 1, 3, 2, Pooling::mean, Accumulate::no);
    CHECK(std::vector<float>(dx, dx + 6) == std::vector<float>{2, 4, 2, 4, 2, 4});
}

TEST_CASE("the patches of an image of two rows and four columns") {
    // Two patches of two by two pixels of one channel, by rows; twice each value, less one.
    const std::uint8_t image[] = {1, 2, 3, 4, 5, 6, 7, 255};
    float out[8];
    cpu::Exec exec;
    cpu::patchify(exec, out, image, {1, 2, 4, 1, 2, 2, -1});
    CHECK(std::vector<float>(out, out + 8) == std::vector<float>{1, 3, 9, 11, 5, 7, 13, 509});
    // One row of two patches of a pixel with two channels.
    const float pixels[] = {1, 2, 3, 4};
    cpu::patchify(exec, out, pixels, {1, 1, 2, 2, 1});
    CHECK(std::vector<float>(out, out + 4) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("a class token in front of two rows of two samples, and what comes back") {
    // Three places of two columns: the token, and the two rows of the sample after it.
    const float token[] = {1, 2}, x[] = {3, 4, 5, 6, 7, 8, 9, 10}, position[] = {10, 20, 30, 40, 50, 60};
    using Values = std::vector<float>;
    for (const int threads : {1, 2}) {
        cpu::Exec exec;
        exec.threads = threads;
        float out[12];
        cpu::class_token_forward<float>(exec, out, token, x, nullptr, 2, 2, 2);
        CHECK(Values(out, out + 12) == Values{1, 2, 3, 4, 5, 6, 1, 2, 7, 8, 9, 10});
        cpu::class_token_forward(exec, out, token, x, position, 2, 2, 2);
        CHECK(Values(out, out + 12) == Values{11, 22, 33, 44, 55, 66, 11, 22, 37, 48, 59, 70});

        // The token's gradient is 1 + 7 and 2 + 8, the first position's the same; the rows' own pass as they are.
        const float dout[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
        float dtoken[] = {100, 200}, dx[8], dposition[6] = {1, 1, 1, 1, 1, 1};
        cpu::class_token_backward(exec, dtoken, dx, dposition, dout, 2, 2, 2, Accumulate::yes);
        CHECK(Values(dtoken, dtoken + 2) == Values{108, 210});
        CHECK(Values(dx, dx + 8) == Values{3, 4, 5, 6, 9, 10, 11, 12});
        CHECK(Values(dposition, dposition + 6) == Values{9, 11, 13, 15, 17, 19});
        cpu::class_token_backward(exec, dtoken, dx, dposition, dout, 2, 2, 2, Accumulate::no);
        CHECK(Values(dtoken, dtoken + 2) == Values{8, 10});
        CHECK(Values(dposition, dposition + 6) == Values{8, 10, 12, 14, 16, 18});
        cpu::class_token_backward<float>(exec, dtoken, dx, nullptr, dout, 2, 2, 2, Accumulate::no);
        CHECK(Values(dtoken, dtoken + 2) == Values{8, 10});
    }
}

TEST_CASE("one number of each of two samples, its squared error, and what comes back") {
    // 1 2 + 3 1 + 0.5 = 5.5 against 5, and 2 2 - 1 1 + 0.5 = 3.5 against 4.5.
    const float x[] = {1, 3, 2, -1}, w[] = {2, 1}, bias[] = {0.5}, target[] = {5, 4.5};
    using Values = std::vector<float>;
    for (const int threads : {1, 2}) {
        cpu::Exec exec;
        exec.threads = threads;
        float loss[2], value[2], dx[4], dw[] = {100, 200}, dbias[] = {10};
        cpu::value_loss(exec, loss, value, x, w, bias, target, 2, 2);
        CHECK(Values(value, value + 2) == Values{5.5, 3.5});
        CHECK(Values(loss, loss + 2) == Values{0.25, 1});
        // Slopes of half the sum of losses: 0.5 and -1.
        cpu::value_loss_train(exec, loss, value, dx, dw, dbias, x, w, bias, target, 2, 2, 0.5, Accumulate::yes);
        CHECK(Values(dx, dx + 4) == Values{1, 0.5, -2, -1});
        CHECK(Values(dw, dw + 2) == Values{98.5, 202.5});
        CHECK(dbias[0] == 9.5f);
        cpu::value_loss_train(exec, loss, value, dx, dw, dbias, x, w, bias, target, 2, 2, 0.5, Accumulate::no);
        CHECK(Values(dw, dw + 2) == Values{-1.5, 2.5});
        CHECK(dbias[0] == -0.5f);
        CHECK(Values(loss, loss + 2) == Values{0.25, 1});
    }
}

TEST_CASE("RMS normalisation of 1, 2, 3, 4, forward and backward") {
    // mean square 7.5, eps 0.5: rstd = 1 / sqrt(8), y = 2 x / sqrt(8).
    const NormSpec rms{NormKind::rms, 0.5};
    const float x[] = {1, 2, 3, 4}, weight[] = {2, 2, 2, 2}, dy[] = {1, 0, 0, 0};
    float y[4], rstd = 0, dx[4], dweight[4];
    alignas(64) std::byte workspace[4096];
    cpu::Exec exec{1, workspace};
    cpu::norm_forward<float>(exec, y, nullptr, nullptr, &rstd, x, nullptr, weight, nullptr, 1, 1, 1, 4, rms);
    CHECK(rstd == Approx(0.353553391).epsilon(1e-6));
    for (int i = 0; i < 4; ++i) CHECK(y[i] == Approx(2 * 0.353553391 * x[i]).epsilon(1e-6));
    // g = (2, 0, 0, 0), n = x / sqrt(8), mean(g n) = 2 / sqrt(8) / 4: dx = (g - n / (2 sqrt(8))) / sqrt(8), and
    // n / (2 sqrt(8)) = x / 16.
    cpu::norm_backward<float>(exec, dx, nullptr, dweight, nullptr, dy, nullptr, x, nullptr, &rstd, weight, 1, 1, 1, 4,
                              Accumulate::no, rms);
    CHECK(dx[0] == Approx((2 - 1.0 / 16) * 0.353553391).epsilon(1e-6));
    for (int i = 1; i < 4; ++i) CHECK(dx[i] == Approx(-x[i] / 16 * 0.353553391).epsilon(1e-6));
    CHECK(dweight[0] == Approx(0.353553391).epsilon(1e-6));
    CHECK(dweight[3] == 0.0f);
}

TEST_CASE("layer normalisation takes its eps") {
    // mean 2, variance 1, eps 3: (x - 2) / 2.
    const float x[] = {1, 3}, weight[] = {1, 1}, bias[] = {0, 5};
    float y[2], mean = 0, rstd = 0;
    cpu::Exec exec;
    cpu::norm_forward<float>(exec, y, nullptr, &mean, &rstd, x, nullptr, weight, bias, 1, 1, 1, 2,
                             {NormKind::layer, 3});
    CHECK(y[0] == Approx(-0.5).epsilon(1e-6));
    CHECK(y[1] == Approx(5.5).epsilon(1e-6));
}

TEST_CASE("embeddings of three tables, and their gradients written or added to") {
    const float token[] = {1, 2, 3, 4, 5, 6}, position[] = {10, 20, 30, 40, 50, 60}, segment[] = {100, 200};  // (.., 2)
    const std::int32_t token_id[] = {2, 0, 2, 2}, segment_id[] = {0, 0, 0, 0};
    const EmbeddingTables<float> tables{{{token, token_id, 3}, {position, nullptr, 3}, {segment, segment_id, 1}}, 3};
    float out[8];
    cpu::Exec exec;
    cpu::embedding_forward(exec, out, tables, 2, 2, 2);
    const std::vector<float> sums = {5 + 10 + 100, 6 + 20 + 200, 1 + 30 + 100, 2 + 40 + 200,
                                     5 + 10 + 100, 6 + 20 + 200, 5 + 30 + 100, 6 + 40 + 200};
    CHECK(std::vector<float>(out, out + 8) == sums);

    const float dout[] = {1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<float> dtoken(6, 1000), dposition(6, 1000), dsegment(2, 1000);
    const auto backward = [&](Accumulate of_tokens, Accumulate of_others) {
        const EmbeddingGradients<float> gradients{{{dtoken.data(), token_id, 3, of_tokens},
                                                   {dposition.data(), nullptr, 3, of_others},
                                                   {dsegment.data(), segment_id, 1, of_others}},
                                                  3};
        cpu::embedding_backward(exec, gradients, dout, 2, 2, 2);
    };
    backward(Accumulate::yes, Accumulate::no);
    CHECK(dtoken == std::vector<float>{1003, 1004, 1000, 1000, 1013, 1016});
    CHECK(dposition == std::vector<float>{6, 8, 10, 12, 0, 0});
    CHECK(dsegment == std::vector<float>{16, 20});
    backward(Accumulate::no, Accumulate::yes);
    CHECK(dtoken == std::vector<float>{3, 4, 0, 0, 13, 16});
    CHECK(dposition == std::vector<float>{12, 16, 20, 24, 0, 0});
    CHECK(dsegment == std::vector<float>{32, 40});
}

TEST_CASE("cross-entropy of logits ln 1, ln 2, ln 5") {
    // x = 1, so the logits are w; probabilities 1/8, 2/8, 5/8.
    const float x[] = {1}, w[] = {0.0f, std::log(2.0f), std::log(5.0f)};
    const std::int32_t target[] = {1};
    float loss = 0, dx = 0, dw[3];
    std::int32_t greedy = -1;
    alignas(64) std::byte workspace[4096];
    cpu::Exec exec{1, workspace};
    cpu::head_loss_train<float>(exec, &loss, &dx, dw, nullptr, x, w, nullptr, target, 1, 1, 1, 3, 2.0, Accumulate::no);
    CHECK(loss == Approx(std::log(4.0)).epsilon(1e-6));
    CHECK(dw[0] == Approx(2 * 0.125).epsilon(1e-6));
    CHECK(dw[1] == Approx(2 * (0.25 - 1)).epsilon(1e-6));
    CHECK(dw[2] == Approx(2 * 0.625).epsilon(1e-6));
    CHECK(dx == Approx(2 * (-0.75 * std::log(2.0) + 0.625 * std::log(5.0))).epsilon(1e-6));
    cpu::head_loss<float>(exec, &loss, &greedy, x, w, nullptr, target, 1, 1, 1, 3);
    CHECK(loss == Approx(std::log(4.0)).epsilon(1e-6));
    CHECK(greedy == 0);
}

TEST_CASE("cross-entropy with a bias, of the one row in three that has a target") {
    // Logits x w + bias = ln 1, ln 2, ln 5: the bias is (0, ln 2, ln 5) - 2 w.
    const float x[] = {7, 2, 9}, w[] = {1, -1, 3};
    const float bias[] = {-2, std::log(2.0f) + 2, std::log(5.0f) - 6};
    const std::int32_t target[] = {kIgnoreTarget, 2, kIgnoreTarget};
    float loss[3], dx[3], dw[3], dbias[] = {1, 1, 1};
    std::int32_t greedy[] = {9, 9, 9};
    alignas(64) std::byte workspace[4096];
    cpu::Exec exec{1, workspace};
    cpu::head_loss_train(exec, loss, dx, dw, dbias, x, w, bias, target, 3, 1, 1, 3, 2.0, Accumulate::no);
    const double dlogits[] = {2 * 0.125, 2 * 0.25, 2 * (0.625 - 1)};
    CHECK(loss[1] == Approx(std::log(8.0 / 5)).epsilon(1e-5));
    CHECK(dx[1] == Approx(dlogits[0] - dlogits[1] + 3 * dlogits[2]).epsilon(1e-5));
    for (int v = 0; v < 3; ++v) {
        CHECK(dbias[v] == Approx(dlogits[v]).epsilon(1e-5));
        CHECK(dw[v] == Approx(2 * dlogits[v]).epsilon(1e-5));
    }
    cpu::head_loss_train(exec, loss, dx, dw, dbias, x, w, bias, target, 3, 1, 1, 3, 2.0, Accumulate::yes);
    CHECK(dbias[2] == Approx(2 * dlogits[2]).epsilon(1e-5));
    for (const int ignored : {0, 2}) {
        CHECK(loss[ignored] == 0);
        CHECK(dx[ignored] == 0);
    }
    cpu::head_loss(exec, loss, greedy, x, w, bias, target, 3, 1, 1, 3);
    CHECK(loss[1] == Approx(std::log(8.0 / 5)).epsilon(1e-5));
    CHECK(std::vector<std::int32_t>(greedy, greedy + 3) == std::vector<std::int32_t>{0, 1, 0});
}

TEST_CASE("a tie for the largest logit goes to the lowest id") {
    const float x[] = {1, 1, 1}, w[] = {3, 7, 7, 1};
    const std::int32_t target[] = {1, 2, kIgnoreTarget};
    float loss[3];
    std::int32_t greedy[3];
    alignas(64) std::byte workspace[4096];
    cpu::Exec exec{1, workspace};
    cpu::head_loss<float>(exec, loss, greedy, x, w, nullptr, target, 3, 2, 1, 4);
    CHECK(greedy[0] == 1);
    CHECK(greedy[1] == 0);
    CHECK(greedy[2] == 0);
    reference::Exec reference_exec;
    std::int32_t expected[3];
    reference::head_loss<float>(reference_exec, loss, expected, x, w, nullptr, target, 3, 2, 1, 4);
    for (int i = 0; i < 3; ++i) CHECK(greedy[i] == expected[i]);
}

TEST_CASE("attention over two positions") {
    // d = 1: q = (1, 2), k = (0, ln 3), v = (10, 20); second row scores (0, 2 ln 3): weights 1/10, 9/10.
    const float qkv[] = {1, 0, 10, 2, std::log(3.0f), 20};
    float out[2], lse[2];
    std::vector<std::byte> workspace(cpu::attention_forward_workspace(1, 2, 1));
    cpu::Exec exec{1, workspace};
    const AttentionSpec spec{.B = 1, .Tq = 2, .Tk = 2, .H = 1, .Hkv = 1, .d = 1, .causal = true};
    cpu::attention_forward(exec, out, lse, fused_heads<const float>(qkv, spec), spec);
    CHECK(out[0] == Approx(10).epsilon(1e-6));
    CHECK(out[1] == Approx(19).epsilon(1e-6));
    CHECK(lse[0] == Approx(0).margin(1e-6));
    CHECK(lse[1] == Approx(std::log(10.0)).epsilon(1e-6));
}

// d = 1, so that scores are products; keys 0, ln 3 and values 10, 20 give a query of 1 the weights 1/4 and 3/4.
struct SmallAttention {
    float q[4] = {1, 2, 1, 2}, k[4] = {0, std::log(3.0f), 0, std::log(3.0f)}, v[4] = {10, 20, 30, 40};
    float out[4], lse[4];
    std::vector<std::byte> workspace;

    void run(const AttentionSpec& spec) {
        workspace.resize(cpu::attention_forward_workspace(1, spec.Tq, spec.d));
        cpu::Exec exec{1, workspace};
        const AttentionHeads<const float> in{
            {q, spec.H, spec.Tq * spec.H}, {k, spec.Hkv, spec.Tk * spec.Hkv}, {v, spec.Hkv, spec.Tk * spec.Hkv}};
        cpu::attention_forward(exec, out, lse, in, spec);
    }
};

TEST_CASE("two heads of queries share one of keys and values") {
    SmallAttention small;
    small.run({.B = 1, .Tq = 1, .Tk = 2, .H = 2, .Hkv = 1, .d = 1, .causal = true});
    CHECK(small.out[0] == Approx(0.25 * 10 + 0.75 * 20).epsilon(1e-6));
    CHECK(small.out[1] == Approx(0.1 * 10 + 0.9 * 20).epsilon(1e-6));
    CHECK(small.lse[1] == Approx(std::log(10.0)).epsilon(1e-6));
}

TEST_CASE("the last causal query is aligned with the last key") {
    SmallAttention small;
    small.run({.B = 1, .Tq = 2, .Tk = 3, .H = 1, .Hkv = 1, .d = 1, .causal = true});
    CHECK(small.out[0] == Approx(0.25 * 10 + 0.75 * 20).epsilon(1e-6));
    CHECK(small.out[1] == Approx((10 + 9 * 20 + 30) / 11.0).epsilon(1e-6));
}

TEST_CASE("tokens of packed samples see those of their own sample") {
    SmallAttention small;
    const std::int32_t start[] = {0, 2, 4};
    small.run({.B = 2, .Tq = 2, .Tk = 2, .H = 1, .Hkv = 1, .d = 1, .causal = false, .start = start});
    CHECK(small.out[0] == Approx(0.25 * 10 + 0.75 * 20).epsilon(1e-6));
    CHECK(small.out[3] == Approx(0.1 * 30 + 0.9 * 40).epsilon(1e-6));
    small.run({.B = 2, .Tq = 2, .Tk = 2, .H = 1, .Hkv = 1, .d = 1, .causal = true, .start = start});
    CHECK(small.out[0] == Approx(10).epsilon(1e-6));
    CHECK(small.out[2] == Approx(30).epsilon(1e-6));
}

TEST_CASE("dropout takes its own words and leaves the sum of the probabilities in mind") {
    SmallAttention small;
    const std::int64_t number[] = {(std::int64_t{1} << 33) + 5};
    int kept_all = 0, dropped_all = 0;
    for (std::uint64_t step = 0; step < 64; ++step) {
        const AttentionDropout dropout{.p = 0.5, .seed = 4, .step = step, .layer = 2, .draw = number};
        small.run({.B = 1, .Tq = 1, .Tk = 2, .H = 2, .Hkv = 1, .d = 1, .causal = false, .dropout = dropout});
        const double weight[2][2] = {{0.25, 0.75}, {0.1, 0.9}};  // (head, key)
        for (std::uint32_t head = 0; head < 2; ++head) {
            const std::uint64_t sample = static_cast<std::uint64_t>(number[0]) + (std::uint64_t{head} << 40);
            double expected = 0;
            for (std::uint32_t key = 0; key < 2; ++key) {
                const bool kept = philox_u32(4, RandomPurpose::attention_dropout, step, 2, sample, key) >= 1u << 31;
                expected += kept ? 2 * weight[head][key] * (key == 0 ? 10 : 20) : 0;
            }
            CHECK(small.out[head] == Approx(expected).epsilon(1e-6).margin(1e-6));
            kept_all += expected > 34.9;
            dropped_all += expected == 0;
        }
        CHECK(small.lse[0] == Approx(std::log(4.0)).epsilon(1e-6));
    }
    CHECK(kept_all > 8);
    CHECK(dropped_all > 8);
}

TEST_CASE("rates of AdamW hold the bias corrections of their step") {
    // 1 - 0.9^2 = 0.19, 1 - 0.95^2 = 0.0975.
    const AdamWRates second = adamw_rates(0.1, 0.9, 0.95, 2);
    CHECK(second.lr == 0.1);
    CHECK(second.mean_scale == Approx(0.1 / 0.19).epsilon(1e-14));
    CHECK(second.square_scale == Approx(1 / 0.0975).epsilon(1e-14));
    const AdamWRates late = adamw_rates(0.1, 0.9, 0.95, 100'000);
    CHECK(late.mean_scale == 0.1);
    CHECK(late.square_scale == 1);
}

TEST_CASE("one AdamW step by hand") {
    // norm 10 clipped to 5 halves the gradient 4 to 2. step 1: m = 0.1 * 2 = 0.2, v = 0.05 * 4 = 0.2;
    // m^ = 2, v^ = 4; param = 1 - 0.1 (2 / 2 + 0.5 * 1) = 0.85.
    const AdamW adamw{.rates = adamw_rates(0.1, 0.9, 0.95, 1), .eps = 0, .weight_decay = 0.5, .max_grad_norm = 5};
    float param = 1, m = 0, v = 0;
    const float grad = 4;
    const double norm = 10, loss = 3;
    bf16 rounded{};
    cpu::Exec exec;
    cpu::adamw_update(exec, &param, &rounded, &m, &v, &grad, &norm, &loss, 1, adamw);
    CHECK(m == Approx(0.2).epsilon(1e-6));
    CHECK(v == Approx(0.2).epsilon(1e-6));
    CHECK(param == Approx(0.85).epsilon(1e-6));
    CHECK(to_float(rounded) == 0.8515625f);  // the nearest of 8 significant bits
    const double not_finite = std::numeric_limits<double>::infinity();
    const float before = param;
    cpu::adamw_update(exec, &param, nullptr, &m, &v, &grad, &not_finite, &loss, 1, adamw);
    cpu::adamw_update(exec, &param, nullptr, &m, &v, &grad, &norm, &not_finite, 1, adamw);
    CHECK(param == before);
    CHECK(m == Approx(0.2).epsilon(1e-6));
}

TEST_CASE("two SGD steps by hand") {
    // norm 10 clipped to 5 halves the gradient 4 to 2; the decay 0.5 * 1 is added after the clip.
    // step 1: m = 2 + 0.5 = 2.5, param = 1 - 0.1 * 2.5 = 0.75.
    // step 2: m = 0.9 * 2.5 + (2 + 0.5 * 0.75) = 4.625, param = 0.75 - 0.4625 = 0.2875.
    const Sgd sgd{.rates = SgdRates{0.1}, .momentum = 0.9, .weight_decay = 0.5, .max_grad_norm = 5};
    float param = 1, m = 0;
    const float grad = 4;
    const double norm = 10, loss = 3, not_finite = std::numeric_limits<double>::infinity();
    bf16 rounded{};
    cpu::Exec exec;
    cpu::sgd_update(exec, &param, &rounded, &m, &grad, &norm, &loss, 1, sgd);
    CHECK(m == Approx(2.5).epsilon(1e-6));
    CHECK(param == Approx(0.75).epsilon(1e-6));
    CHECK(to_float(rounded) == 0.75f);
    cpu::sgd_update(exec, &param, nullptr, &m, &grad, &not_finite, &loss, 1, sgd);
    cpu::sgd_update(exec, &param, nullptr, &m, &grad, &norm, &not_finite, 1, sgd);
    CHECK(m == Approx(2.5).epsilon(1e-6));
    CHECK(param == Approx(0.75).epsilon(1e-6));
    cpu::sgd_update(exec, &param, &rounded, &m, &grad, &norm, &loss, 1, sgd);
    CHECK(m == Approx(4.625).epsilon(1e-6));
    CHECK(param == Approx(0.2875).epsilon(1e-6));
    CHECK(to_float(rounded) == 0.287109375f);  // the nearest of 8 significant bits: 147 / 512
}

TEST_CASE("sum of squares, its root and sum of a long buffer") {
    const std::int64_t n = 100003;
    std::vector<float> x(static_cast<std::size_t>(n), 0.5f);
    std::vector<std::byte> workspace(cpu::sum_of_squares_workspace(n));
    double squares[3], total[3];
    for (int threads = 1; threads <= 3; ++threads) {
        cpu::Exec exec{threads, workspace};
        cpu::sum_of_squares(exec, &squares[threads - 1], x.data(), n, Accumulate::no);
        cpu::sum(exec, &total[threads - 1], x.data(), n, Accumulate::no);
    }
    CHECK(squares[0] == 25000.75);
    CHECK(total[0] == 50001.5);
    CHECK(squares[1] == squares[0]);
    CHECK(squares[2] == squares[0]);
    CHECK(total[2] == total[0]);
    cpu::Exec exec;
    cpu::sum(exec, total, x.data(), n, Accumulate::yes);
    CHECK(total[0] == 100003.0);
    cpu::Exec with_workspace{1, workspace};
    cpu::sum_of_squares(with_workspace, squares, x.data(), n, Accumulate::yes);
    CHECK(squares[0] == 50001.5);
    squares[0] = 6.25;
    cpu::square_root(exec, squares);
    CHECK(squares[0] == 2.5);
}

}  // namespace
}  // namespace deft::kernels
