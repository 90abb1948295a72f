// Properties of the CUDA kernels at the limits of their arguments, on an emulated device or a real one.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "kernels/cases/op_case.h"
#include "kernels/cuda/cuda.h"
#include "tests/catch.h"
#include "tests/cuda/device_array.h"

namespace deft::kernels::cuda {
namespace {

using Floats = std::vector<float>;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// A device with so much workspace.
struct Device {
    Context context;
    Exec exec = context.exec();
    DeviceArray<std::byte> workspace;

    explicit Device(std::size_t workspace_bytes = 0)
        : workspace(exec, std::vector<std::byte>(workspace_bytes, std::byte{0xFF})) {
        exec.workspace = {workspace.data(), workspace_bytes};
    }
    template <class Item>
    DeviceArray<Item> array(const std::vector<Item>& values) const {
        return {exec, values};
    }
};

TEST_CASE("AdamW on CUDA writes nothing when the gradient norm or the loss is not finite") {
    Device device;
    const AdamW adamw{.rates = adamw_rates(0.1, 0.9, 0.95, 1)};
    const double bad = GENERATE(std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN());
    const bool is_norm = GENERATE(false, true);
    const Floats before(300, 1.0f);
    auto param = device.array(before), m = device.array(before), v = device.array(before), grad = device.array(before);
    auto rounded = device.array(std::vector<bf16>(300, to_bf16(7.0f)));
    const auto step = [&](double norm, double loss) {
        const auto norm_array = device.array<double>({norm}), loss_array = device.array<double>({loss});
        adamw_update(device.exec, param.data(), rounded.data(), m.data(), v.data(), grad.data(), norm_array.data(),
                     loss_array.data(), 300, adamw);
    };
    step(is_norm ? bad : 1.0, is_norm ? 1.0 : bad);
    CHECK(param.values() == before);
    CHECK(m.values() == before);
    CHECK(v.values() == before);
    CHECK(to_float(rounded.values()[299]) == 7.0f);
    step(1.0, 1.0);
    CHECK(param.values()[299] < 1.0f);
    CHECK(to_float(rounded.values()[299]) == to_float(to_bf16(param.values()[299])));
}

TEST_CASE("CUDA and a CPU round moments of the same weights alike") {
    Device device;
    constexpr std::int64_t kWeights = 1003;  // a last vector that is not whole
    Floats before(kWeights), grad(kWeights, 0.0f);
    std::vector<bf16> m(kWeights), v(kWeights), momentum(kWeights);
    for (std::size_t i = 0; i < kWeights; ++i) {
        before[i] = std::sin(static_cast<float>(i + 1));
        m[i] = to_bf16(std::cos(static_cast<float>(3 * i)));
        v[i] = to_bf16(before[i] * before[i]);
    }
    momentum = m;
    const double norm = 1, loss = 1;
    // Without gradients and decay a moment is a product, which both round to float alike.
    const AdamW adamw{.rates = adamw_rates(0.1, 0.9, 0.999, 5), .beta2 = 0.999};
    const Sgd sgd{.rates = SgdRates{0.1, 5}};
    auto of_adamw = device.array(before), of_sgd = device.array(before), zeros = device.array(grad);
    auto device_m = device.array(m), device_v = device.array(v), device_momentum = device.array(momentum);
    const auto norm_array = device.array<double>({norm}), loss_array = device.array<double>({loss});
    bf16* const none = nullptr;
    adamw_update(device.exec, of_adamw.data(), none, device_m.data(), device_v.data(), zeros.data(), norm_array.data(),
                 loss_array.data(), kWeights, adamw);
    sgd_update(device.exec, of_sgd.data(), none, device_momentum.data(), zeros.data(), norm_array.data(),
               loss_array.data(), kWeights, sgd);
    cpu::Exec exec;
    Floats a = before, b = before;
    cpu::adamw_update(exec, a.data(), none, m.data(), v.data(), grad.data(), &norm, &loss, kWeights, adamw);
    cpu::sgd_update(exec, b.data(), none, momentum.data(), grad.data(), &norm, &loss, kWeights, sgd);
    const auto bits = [](const std::vector<bf16>& values) {
        std::vector<std::uint16_t> all;
        for (const bf16 value : values) all.push_back(value.bits);
        return all;
    };
    CHECK((bits(device_m.values()) == bits(m)));
    CHECK((bits(device_v.values()) == bits(v)));
    CHECK((bits(device_momentum.values()) == bits(momentum)));
}

TEST_CASE("SGD on CUDA writes nothing when the gradient norm or the loss is not finite") {
    Device device;
    const Sgd sgd{.rates = SgdRates{0.1}};
    const double bad = GENERATE(std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN());
    const bool is_norm = GENERATE(false, true);
    const Floats before(300, 1.0f);
    auto param = device.array(before), m = device.array(before), grad = device.array(before);
    auto rounded = device.array(std::vector<bf16>(300, to_bf16(7.0f)));
    const auto step = [&](double norm, double loss) {
        const auto norm_array = device.array<double>({norm}), loss_array = device.array<double>({loss});
        sgd_update(device.exec, param.data(), rounded.data(), m.data(), grad.data(), norm_array.data(),
                   loss_array.data(), 300, sgd);
    };
    step(is_norm ? bad : 1.0, is_norm ? 1.0 : bad);
    CHECK(param.values() == before);
    CHECK(m.values() == before);
    CHECK(to_float(rounded.values()[299]) == 7.0f);
    step(1.0, 1.0);
    CHECK(m.values()[299] == Approx(1.9f));  // 0.9 * 1 + 1
    CHECK(to_float(rounded.values()[299]) == to_float(to_bf16(param.values()[299])));
}

// A head of 4 rows over 5 tokens: an ignored target, one below the vocabulary, one beyond it and a good one.
struct EdgeTargets {
    std::int64_t rows = 4, C = 3, V = 5;
    Device device{head_loss_workspace(rows, C, V)};
    DeviceArray<float> x = device.array(Floats(12, 0.5f)), w = device.array(Floats(15, 0.25f));
    DeviceArray<std::int32_t> target = device.array<std::int32_t>({kIgnoreTarget, -7, 5, 2});
    DeviceArray<float> loss = device.array(Floats(4, kNaN)), dx = device.array(Floats(12, kNaN)),
                       dw = device.array(Floats(15, kNaN));
    DeviceArray<std::int32_t> greedy = device.array(std::vector<std::int32_t>(4, 9));

    void check_losses() {
        const Floats losses = loss.values();
        CHECK(losses[0] == 0.0f);
        CHECK(std::isnan(losses[1]));
        CHECK(std::isnan(losses[2]));
        CHECK(losses[3] == Approx(std::log(5.0)).epsilon(1e-6));
    }
};

TEST_CASE("the head on CUDA gives ignored targets no loss, impossible ones a NaN, and neither a gradient") {
    EdgeTargets head;
    const std::int64_t target_rows = GENERATE(3, 4);  // with the ignored row, or without its products
    head_loss_train<float>(head.device.exec, head.loss.data(), head.dx.data(), head.dw.data(), nullptr, head.x.data(),
                           head.w.data(), nullptr, head.target.data(), head.rows, target_rows, head.C, head.V, 1.0,
                           Accumulate::no);
    head.check_losses();
    const Floats dx = head.dx.values(), dw = head.dw.values();
    CHECK(std::all_of(dx.begin(), dx.begin() + 9, [](float value) { return value == 0; }));
    // The gradient of the one row that counts: (1/5 - [v == 2]) x.
    CHECK(dw[0] == Approx(0.2 * 0.5).epsilon(1e-6));
    CHECK(dw[2 * 3] == Approx(-0.8 * 0.5).epsilon(1e-6));
    head_loss<float>(head.device.exec, head.loss.data(), head.greedy.data(), head.x.data(), head.w.data(), nullptr,
                     head.target.data(), head.rows, target_rows, head.C, head.V);
    head.check_losses();
    CHECK(head.greedy.values() == std::vector<std::int32_t>{0, 0, 0, 0});  // all logits are equal: token 0 is greedy
}

TEST_CASE("a target beyond the expected rows of the head on CUDA has a loss of NaN, and a spare row is ignored") {
    EdgeTargets head;
    const auto train = [&](std::int64_t target_rows) {
        head_loss_train<float>(head.device.exec, head.loss.data(), head.dx.data(), head.dw.data(), nullptr,
                               head.x.data(), head.w.data(), nullptr, head.target.data(), head.rows, target_rows,
                               head.C, head.V, 1.0, Accumulate::no);
        return head.loss.values();
    };
    head.target = head.device.array<std::int32_t>({kIgnoreTarget, 1, 2, 2});
    CHECK(std::isnan(train(2)[3]));
    CHECK(train(2)[2] == Approx(std::log(5.0)).epsilon(1e-6));
    CHECK(train(3)[3] == Approx(std::log(5.0)).epsilon(1e-6));
    const Floats dw = head.dw.values();
    head.target = head.device.array<std::int32_t>({kIgnoreTarget, 1, kIgnoreTarget, 2});
    CHECK(train(3)[3] == Approx(std::log(5.0)).epsilon(1e-6));
    CHECK(head.dw.values()[0] == Approx(2 * dw[0] / 3).epsilon(1e-6));
}

TEST_CASE("the head's workspace on CUDA stays bounded, whatever the vocabulary") {
    CHECK(head_loss_workspace(65536, 768, 50257) <= std::size_t{600} << 20);
    CHECK(head_loss_workspace(65536, 768, 50257) > std::size_t{400} << 20);
    const std::int64_t huge = std::int64_t{1} << 28;
    CHECK(head_loss_workspace(100, 1, huge) - static_cast<std::size_t>(huge) * 4 < 1024);  // one row, in float
    // GPT-2's rows of a batch of 16 x 1024 fill the card in whole waves of tiles.
    CHECK(head_chunk_rows(16384, 50257, sizeof(bf16)) == 5632);
    CHECK(head_chunk_rows(16384, 50257, sizeof(float)) % 128 == 0);
    CHECK(head_chunk_rows(100, 50257, sizeof(bf16)) == 100);
}

TEST_CASE("a token outside the vocabulary embeds as NaN on CUDA, and spoils no other") {
    Device device;
    const auto token = device.array<std::int32_t>({1, 4, -1, 3});
    const auto wte = device.array(Floats(4 * 6, 1.0f)), wpe = device.array(Floats(4 * 6, 2.0f));
    auto out = device.array(Floats(4 * 6, 0.0f));
    const EmbeddingTables<float> tables{{{wte.data(), token.data(), 4}, {wpe.data(), nullptr, 4}}, 2};
    embedding_forward(device.exec, out.data(), tables, 1, 4, 6);
    const Floats values = out.values();
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i / 6 == 1 || i / 6 == 2)
            CHECK(std::isnan(values[i]));
        else
            CHECK(values[i] == 3.0f);
    }
}

TEST_CASE("heads that CUDA cannot take and workspaces too small are named in an error") {
    Device device;
    auto buffer = device.array(Floats(3 * 129, 0.0f));
    const auto run_forward = [&](std::int64_t d) {
        const AttentionSpec spec{.B = 0, .Tq = 1, .Tk = 1, .H = 1, .Hkv = 1, .d = d, .causal = true};
        attention_forward(device.exec, buffer.data(), buffer.data(), fused_heads<const float>(buffer.data(), spec),
                          spec);
    };
    CHECK_NOTHROW(run_forward(128));
    CHECK_THROWS_WITH(run_forward(129), ContainsSubstring("at most 128") && ContainsSubstring("129"));
    const AttentionSpec one{.B = 1, .Tq = 1, .Tk = 1, .H = 1, .Hkv = 1, .d = 1, .causal = true};
    const auto heads = fused_heads(buffer.data(), one);
    CHECK_THROWS_WITH(
        attention_backward(device.exec, heads, buffer.data(), buffer.data(), read_only(heads), buffer.data(), one),
        ContainsSubstring("attention_backward") && ContainsSubstring("given 0"));
    double* const total = reinterpret_cast<double*>(buffer.data());
    const EmbeddingTables<float> positions{{{buffer.data(), nullptr, 4}}, 1};
    CHECK_THROWS_WITH(embedding_forward(device.exec, buffer.data(), positions, 1, 5, 6),
                      ContainsSubstring("5 positions") && ContainsSubstring("has 4 rows"));
    CHECK_THROWS_WITH(sum_of_squares(device.exec, total, buffer.data(), 3, Accumulate::no),
                      ContainsSubstring("sum_of_squares"));
}

TEST_CASE("the workspace of a step on CUDA serves every shorter step") {
    for (std::int64_t rows = 1; rows < 10000; ++rows) {
        INFO(rows << " rows");
        REQUIRE(norm_backward_workspace(rows, 5) >= norm_backward_workspace(rows - 1, 5));
        REQUIRE(linear_backward_weight_workspace(rows, 3, 5) >= linear_backward_weight_workspace(rows - 1, 3, 5));
        REQUIRE(head_loss_workspace(rows, 3, 5) >= head_loss_workspace(rows - 1, 3, 5));
    }
    const std::int64_t planned = 8193, rows = 8192, out = 9;  // 127 chunks of 65 rows, and 128 of 64
    Device device(linear_backward_weight_workspace(planned, 1, out));
    const auto dy = device.array(Floats(rows * out, 0.5f)), x = device.array(Floats(rows, 1.0f));
    auto dw = device.array(Floats(out)), dbias = device.array(Floats(out));
    linear_backward_weight(device.exec, dw.data(), dbias.data(), dy.data(), x.data(), rows, 1, out, Accumulate::no);
    CHECK(dbias.values() == Floats(out, 4096.0f));
}

TEST_CASE("no rows give zero gradients on CUDA, or leave what is added to") {
    Device device(head_loss_workspace(0, 3, 2) + linear_backward_weight_workspace(0, 3, 2));
    const bool adds = GENERATE(false, true);
    const Accumulate accumulate = adds ? Accumulate::yes : Accumulate::no;
    auto dw = device.array(Floats(6, 1.0f)), dbias = device.array(Floats(2, 1.0f));
    const float* const none = nullptr;
    linear_backward_weight(device.exec, dw.data(), dbias.data(), none, none, 0, 3, 2, accumulate);
    CHECK(dw.values() == Floats(6, adds ? 1.0f : 0.0f));
    CHECK(dbias.values() == Floats(2, adds ? 1.0f : 0.0f));
    auto head_dw = device.array(Floats(6, 1.0f));
    auto head_dbias = device.array(Floats(2, 1.0f));
    head_loss_train<float>(device.exec, nullptr, nullptr, head_dw.data(), head_dbias.data(), none, none, none, nullptr,
                           0, 0, 3, 2, 1.0, accumulate);
    CHECK(head_dbias.values() == Floats(2, adds ? 1.0f : 0.0f));
    CHECK(head_dw.values() == Floats(6, adds ? 1.0f : 0.0f));
}

TEST_CASE("later tokens leave earlier causal attention outputs on CUDA bit for bit") {
    const std::int64_t T = 150, d = 16;
    Device device;
    cases::Draw draw(3, 0);
    Floats qkv = draw.normal(T * 3 * d, 1, 0);
    const auto forward = [&] {
        auto out = device.array(Floats(static_cast<std::size_t>(T * d)));
        const auto lse = device.array(Floats(static_cast<std::size_t>(T))), in = device.array(qkv);
        const AttentionSpec spec{.B = 1, .Tq = T, .Tk = T, .H = 1, .Hkv = 1, .d = d, .causal = true};
        attention_forward(device.exec, out.data(), lse.data(), fused_heads<const float>(in.data(), spec), spec);
        return out.values();
    };
    const Floats before = forward();
    for (const std::int64_t changed : {1, 63, 64, 149}) {
        const Floats kept = qkv;
        for (std::int64_t i = changed * 3 * d; i < T * 3 * d; ++i) qkv[static_cast<std::size_t>(i)] += 3.0f;
        const Floats after = forward();
        CHECK(std::equal(before.begin(), before.begin() + changed * d, after.begin()));
        CHECK_FALSE(std::equal(before.begin(), before.end(), after.begin()));
        qkv = kept;
    }
}

// y and what activation_forward makes of pre, both of one linear layer.
template <class Real>
void check_activation_recomputed(Activation act, std::int64_t rows, std::int64_t in, std::int64_t out) {
    Device device;
    cases::Draw draw(8, static_cast<std::uint64_t>(out));
    const auto drawn = [&](std::int64_t n) {
        std::vector<Real> values;
        for (const float value : draw.normal(n, 1, 0)) values.push_back(from_float<Real>(value));
        return device.array(values);
    };
    const auto x = drawn(rows * in), w = drawn(out * in), bias = drawn(out);
    auto y = drawn(rows * out), pre = drawn(rows * out), again = drawn(rows * out);
    linear_forward<Real>(device.exec, y.data(), pre.data(), x.data(), w.data(), bias.data(), rows, in, out, act);
    activation_forward<Real>(device.exec, again.data(), pre.data(), rows, out, act);
    const auto right = y.values(), made = again.values();
    int different = 0;
    for (std::size_t i = 0; i < right.size(); ++i) different += to_float(right[i]) != to_float(made[i]);
    INFO(rows << " x " << in << " x " << out);
    CHECK(different == 0);
}

TEST_CASE("an activation recomputed on CUDA from the values kept by a linear layer has the layer's bits") {
    for (const std::int64_t out : {1, 33, 64, 200}) {
        check_activation_recomputed<float>(Activation::gelu_tanh, 7, 5, out);
        check_activation_recomputed<float>(Activation::gelu_erf, 7, 5, out);
        check_activation_recomputed<bf16>(Activation::gelu_erf, 7, 5, out);
    }
}

TEST_CASE("NaN passes through the CUDA kernels") {
    Device device(head_loss_workspace(1, 4, 3));
    const auto with_nan = device.array<float>({1, kNaN, 2, 3, 1, 1, 1, 1, 1, 1, 1, 1}),
               ones = device.array(Floats(12, 1));
    auto out = device.array(Floats(12, 0)), statistics = device.array(Floats(4, 0));
    const AttentionSpec spec{.B = 1, .Tq = 1, .Tk = 1, .H = 1, .Hkv = 1, .d = 4, .causal = true};
    attention_forward(device.exec, out.data(), statistics.data(), fused_heads<const float>(with_nan.data(), spec),
                      spec);
    CHECK(std::isnan(out.values()[0]));
    norm_forward<float>(device.exec, out.data(), nullptr, statistics.data(), statistics.data() + 1, with_nan.data(),
                        nullptr, ones.data(), ones.data(), 1, 1, 1, 4, {});
    CHECK(std::isnan(out.values()[3]));
    linear_forward<float>(device.exec, out.data(), nullptr, with_nan.data(), ones.data(), ones.data(), 1, 4, 3,
                          Activation::gelu_tanh);
    CHECK(std::isnan(out.values()[2]));
    const auto target = device.array<std::int32_t>({1});
    head_loss<float>(device.exec, statistics.data(), nullptr, with_nan.data(), ones.data(), nullptr, target.data(), 1,
                     1, 4, 3);
    CHECK(std::isnan(statistics.values()[0]));
}

}  // namespace
}  // namespace deft::kernels::cuda
