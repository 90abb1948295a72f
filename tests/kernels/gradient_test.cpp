// Central finite differences of the double reference forward passes against the reference backward passes.

#include "kernels/cases/op_case.h"
#include "tests/catch.h"

namespace deft::kernels::reference {
namespace {

using Doubles = std::vector<double>;

// Deterministic inputs: finite differences are about formulas, not about luck.
Doubles draw(std::uint64_t number, std::int64_t n, double deviation = 1, double mean = 0) {
    Doubles values;
    for (std::int64_t i = 0; i < n; ++i)
        values.push_back(mean + deviation * philox_normal(philox_block(11, RandomPurpose::tests, 0, 0, number,
                                                                       static_cast<std::uint32_t>(i))));
    return values;
}

double weighted_sum(const Doubles& weights, const Doubles& values) {
    return dot(weights.data(), values.data(), static_cast<std::int64_t>(values.size()));
}

// ||finite difference - gradient|| / ||gradient|| of loss() in x.
template <class Loss>
double gradient_error(Doubles& x, const Doubles& gradient, const Loss& loss) {
    double error = 0, power = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double kept = x[i], h = 1e-5 * std::max(1.0, std::abs(kept));
        x[i] = kept + h;
        const double above = loss();
        x[i] = kept - h;
        const double below = loss();
        x[i] = kept;
        const double difference = (above - below) / (2 * h) - gradient[i];
        error += difference * difference;
        power += gradient[i] * gradient[i];
    }
    REQUIRE(power > 0);
    return std::sqrt(error / power);
}

constexpr double kTolerance = 1e-6;

TEST_CASE("linear layers: backward is the derivative of forward") {
    const std::int64_t rows = 3, in = 4, out = 5;
    const Activation act = GENERATE(Activation::none, Activation::gelu);
    // x = act(x_pre) feeds the layer; dx is with respect to x_pre.
    Doubles x_pre = draw(1, rows * in), w = draw(2, out * in), bias = draw(3, out);
    const Doubles dy = draw(4, rows * out);
    Exec exec;
    const auto activated = [&] {
        Doubles x = x_pre;
        if (act == Activation::gelu)
            for (double& value : x) value = gelu(value);
        return x;
    };
    const auto loss = [&] {
        const Doubles x = activated();
        Doubles y(dy.size());
        linear_forward<double>(exec, y.data(), nullptr, x.data(), w.data(), bias.data(), rows, in, out,
                               Activation::none);
        return weighted_sum(dy, y);
    };
    const Doubles x = activated();
    Doubles dx(x.size()), dw(w.size()), dbias(bias.size());
    linear_backward_input<double>(exec, dx.data(), dy.data(), w.data(), x_pre.data(), rows, in, out, act);
    linear_backward_weight<double>(exec, dw.data(), dbias.data(), dy.data(), x.data(), rows, in, out, Accumulate::no);
    CHECK(gradient_error(x_pre, dx, loss) < kTolerance);
    CHECK(gradient_error(w, dw, loss) < kTolerance);
    CHECK(gradient_error(bias, dbias, loss) < kTolerance);
}

TEST_CASE("layer normalisation: backward is the derivative of forward, with its residual") {
    const std::int64_t B = 2, T = 3, C = 5;
    const std::vector<std::int32_t> index = {0, 2, 1, 2};
    const bool indexed = GENERATE(false, true);
    const std::int64_t K = indexed ? 2 : T, rows = B * K;
    const std::int32_t* rows_taken = indexed ? index.data() : nullptr;
    Doubles stream = draw(1, B * T * C, 2, 0.5), weight = draw(2, C, 0.3, 1), bias = draw(3, C);
    const Doubles dy = draw(4, rows * C), dresidual = draw(5, rows * C);
    Exec exec;
    Doubles y(dy.size()), gathered(dy.size()), mean(static_cast<std::size_t>(rows)), rstd(mean.size());
    const auto forward = [&] {
        layernorm_forward<double>(exec, y.data(), gathered.data(), mean.data(), rstd.data(), stream.data(), rows_taken,
                                  weight.data(), bias.data(), B, T, K, C);
    };
    // The stream reaches the loss through the norm and through the residual.
    const auto loss = [&] {
        forward();
        return weighted_sum(dy, y) + weighted_sum(dresidual, gathered);
    };
    forward();
    Doubles dx(stream.size(), 0.0), dweight(weight.size()), dbias(bias.size());
    layernorm_backward<double>(exec, dx.data(), rows_taken, dweight.data(), dbias.data(), dy.data(), dresidual.data(),
                               gathered.data(), mean.data(), rstd.data(), weight.data(), B, T, K, C, Accumulate::no);
    CHECK(gradient_error(stream, dx, loss) < kTolerance);
    CHECK(gradient_error(weight, dweight, loss) < kTolerance);
    CHECK(gradient_error(bias, dbias, loss) < kTolerance);
}

TEST_CASE("attention: backward is the derivative of forward") {
    const std::int64_t B = 2, T = 5, H = 2, d = 3;
    const bool causal = GENERATE(true, false), padded = GENERATE(false, true);
    const std::vector<std::int32_t> lengths = {5, 3};
    const std::int32_t* length = padded ? lengths.data() : nullptr;
    Doubles qkv = draw(1, B * T * 3 * H * d);
    const Doubles dout = draw(2, B * T * H * d);
    Exec exec;
    Doubles out(dout.size()), lse(static_cast<std::size_t>(B * H * T));
    const auto loss = [&] {
        attention_forward<double>(exec, out.data(), lse.data(), qkv.data(), B, T, H, d, causal, length);
        return weighted_sum(dout, out);
    };
    loss();
    Doubles dqkv(qkv.size());
    attention_backward<double>(exec, dqkv.data(), dout.data(), out.data(), qkv.data(), lse.data(), B, T, H, d, causal,
                               length);
    CHECK(gradient_error(qkv, dqkv, loss) < kTolerance);
}

TEST_CASE("embeddings: backward is the derivative of forward") {
    const std::int64_t B = 2, T = 3, C = 4, V = 5, max_T = 4;
    const std::vector<std::int32_t> token = {1, 4, 1, 0, 1, 4};
    Doubles wte = draw(1, V * C), wpe = draw(2, max_T * C);
    const Doubles dout = draw(3, B * T * C);
    Exec exec;
    const auto loss = [&] {
        Doubles out(dout.size());
        embedding_forward<double>(exec, out.data(), token.data(), wte.data(), wpe.data(), B, T, C, V);
        return weighted_sum(dout, out);
    };
    Doubles dwte(wte.size(), 0.0), dwpe(wpe.size());
    embedding_backward<double>(exec, dwte.data(), dwpe.data(), dout.data(), token.data(), B, T, C, max_T,
                               Accumulate::no);
    CHECK(gradient_error(wte, dwte, loss) < kTolerance);
    CHECK(gradient_error(wpe, dwpe, loss) < kTolerance);
}

TEST_CASE("head and cross-entropy: gradients are the derivative of the summed loss") {
    const std::int64_t rows = 4, C = 3, V = 5;
    const std::vector<std::int32_t> target = {2, kIgnoreTarget, 0, 4};
    const double scale = 0.25;
    Doubles x = draw(1, rows * C), w = draw(2, V * C);
    Exec exec;
    const auto loss = [&] {
        Doubles row_loss(static_cast<std::size_t>(rows));
        head_loss<double>(exec, row_loss.data(), nullptr, x.data(), w.data(), target.data(), rows, C, V);
        double total = 0;
        sum(exec, &total, row_loss.data(), rows, Accumulate::no);
        return scale * total;
    };
    Doubles row_loss(static_cast<std::size_t>(rows)), dx(x.size()), dw(w.size());
    head_loss_train<double>(exec, row_loss.data(), dx.data(), dw.data(), x.data(), w.data(), target.data(), rows, C, V,
                            scale, Accumulate::no);
    CHECK(gradient_error(x, dx, loss) < kTolerance);
    CHECK(gradient_error(w, dw, loss) < kTolerance);
}

TEST_CASE("finite differences notice a flipped sign in a gradient") {
    Doubles x = draw(1, 6);
    const auto loss = [&] { return dot(x.data(), x.data(), 6); };
    Doubles gradient = x;
    for (double& value : gradient) value *= 2;
    CHECK(gradient_error(x, gradient, loss) < kTolerance);
    gradient[3] = -gradient[3];
    CHECK(gradient_error(x, gradient, loss) > kTolerance);
}

}  // namespace
}  // namespace deft::kernels::reference
