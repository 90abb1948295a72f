// Properties that hold for all values.

#include <omp.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <numeric>
#include <set>
#include <thread>

#include "base/error.h"
#include "kernels/cases/all.h"
#include "kernels/cases/run.h"
#include "kernels/require_attention.h"
#include "tests/catch.h"

namespace deft::kernels {
namespace {

struct Selection {
    std::int64_t step = 5, T = 129, K = 40;
    std::vector<std::int32_t> layer = {2, 7};
    std::vector<std::int64_t> sample = {11, 1ll << 40, 13};

    template <class ExecType>
    std::vector<std::int32_t> run(ExecType exec) const {
        std::vector<std::int32_t> index(layer.size() * sample.size() * static_cast<std::size_t>(K));
        const auto B = static_cast<std::int64_t>(sample.size());
        const RandomKeys keys{99, static_cast<std::uint64_t>(step), layer.data(), sample.data(), B, {}};
        select_kept_tokens(exec, index.data(), keys, static_cast<std::int64_t>(layer.size()) * B, T, K);
        return index;
    }
    std::vector<std::int32_t> run_cpu(int threads = 1) const {
        std::vector<std::byte> workspace(cpu::select_kept_tokens_workspace(threads, T));
        return run(cpu::Exec{threads, workspace});
    }
};

TEST_CASE("token selection equals sorting all keys, on any number of threads") {
    for (const std::int64_t T : {1, 3, 17, 129, 1000})
        for (const std::int64_t K : {std::int64_t{1}, (T + 1) / 2, T}) {
            Selection selection;
            selection.T = T;
            selection.K = K;
            INFO("T " << T << " K " << K);
            const auto expected = selection.run(reference::Exec{});
            CHECK(selection.run_cpu(1) == expected);
            CHECK(selection.run_cpu(3) == expected);
        }
}

TEST_CASE("token selection of all tokens names each once, and each step draws a new order") {
    Selection selection;
    selection.K = selection.T;
    std::vector<std::int32_t> all(static_cast<std::size_t>(selection.T));
    std::iota(all.begin(), all.end(), 0);
    const auto index = selection.run_cpu();
    for (std::size_t row = 0; row < index.size() / all.size(); ++row)
        CHECK(std::equal(all.begin(), all.end(), index.begin() + static_cast<std::ptrdiff_t>(row * all.size())));
    Selection one_step, next_step;
    next_step.step = 6;
    CHECK(one_step.run_cpu() != next_step.run_cpu());
}

TEST_CASE("token selection does not depend on how a batch is split") {
    const Selection whole;
    const auto index = whole.run_cpu();
    for (std::size_t l = 0; l < whole.layer.size(); ++l)
        for (std::size_t b = 0; b < whole.sample.size(); ++b) {
            Selection part;
            part.layer = {whole.layer[l]};
            part.sample = {whole.sample[b]};
            const auto at =
                static_cast<std::ptrdiff_t>((l * whole.sample.size() + b) * static_cast<std::size_t>(whole.K));
            CHECK(std::equal(index.begin() + at, index.begin() + at + whole.K, part.run_cpu().begin()));
        }
}

TEST_CASE("later tokens leave earlier causal attention outputs bit for bit") {
    const std::int64_t B = 1, T = 300, H = 2, d = 16, width = H * d;
    cases::Draw draw(3, 0);
    std::vector<float> qkv = draw.normal(B * T * 3 * width, 1, 0);
    const auto forward = [&] {
        std::vector<float> out(static_cast<std::size_t>(B * T * width)), lse(static_cast<std::size_t>(B * H * T));
        std::vector<std::byte> workspace(cpu::attention_forward_workspace(1, T, d));
        cpu::Exec exec{1, workspace};
        const AttentionSpec spec{.B = B, .Tq = T, .Tk = T, .H = H, .Hkv = H, .d = d, .causal = true};
        cpu::attention_forward(exec, out.data(), lse.data(), fused_heads<const float>(qkv.data(), spec), spec);
        return out;
    };
    const std::vector<float> before = forward();
    for (const std::int64_t changed : {1, 40, 64, 257, 299}) {
        const std::vector<float> kept = qkv;
        for (std::int64_t i = changed * 3 * width; i < T * 3 * width; ++i) qkv[static_cast<std::size_t>(i)] += 3.0f;
        const std::vector<float> after = forward();
        CHECK(std::equal(before.begin(), before.begin() + changed * width, after.begin()));
        CHECK_FALSE(std::equal(before.begin(), before.end(), after.begin()));
        qkv = kept;
    }
}

// A head of 20 rows over 50 tokens.
struct SmallHead {
    std::int64_t rows = 20, C = 8, V = 50;
    std::vector<float> x, w;
    std::vector<std::int32_t> target;
    std::vector<float> loss, dx, dw;

    SmallHead() {
        cases::Draw draw(4, 0);
        x = draw.normal(rows * C, 1, 0);
        w = draw.normal(V * C, 1, 0);
        target = draw.integers(rows, V);
    }
    void train() { train(rows - std::count(target.begin(), target.begin() + rows, kIgnoreTarget)); }
    void train(std::int64_t target_rows) {
        loss.assign(x.size() / static_cast<std::size_t>(C), -1.0f);
        dx.assign(x.size(), -1.0f);
        dw.assign(w.size(), -1.0f);
        std::vector<std::byte> workspace(cpu::head_loss_workspace(rows, C, V));
        cpu::Exec exec{1, workspace};
        cpu::head_loss_train<float>(exec, loss.data(), dx.data(), dw.data(), nullptr, x.data(), w.data(), nullptr,
                                    target.data(), rows, target_rows, C, V, 1.0, Accumulate::no);
    }
};

TEST_CASE("ignored targets give no loss and no gradient") {
    SmallHead head;
    std::fill(head.target.begin(), head.target.end(), kIgnoreTarget);
    head.train();
    for (const auto* values : {&head.loss, &head.dx, &head.dw})
        CHECK(std::all_of(values->begin(), values->end(), [](float value) { return value == 0; }));
}

TEST_CASE("ignored rows change nothing for the others, at any position") {
    SmallHead plain;
    plain.train();
    SmallHead spread;  // the same rows, each after one without a target whose activations are NaN
    spread.rows = 2 * plain.rows;
    spread.x.assign(2 * plain.x.size(), std::numeric_limits<float>::quiet_NaN());
    spread.target.assign(static_cast<std::size_t>(spread.rows), kIgnoreTarget);
    const auto C = static_cast<std::ptrdiff_t>(plain.C);
    for (std::ptrdiff_t row = 0; row < plain.rows; ++row) {
        std::copy_n(plain.x.begin() + row * C, C, spread.x.begin() + (2 * row + 1) * C);
        spread.target[static_cast<std::size_t>(2 * row + 1)] = plain.target[static_cast<std::size_t>(row)];
    }
    spread.train();
    CHECK(spread.dw == plain.dw);
    for (std::ptrdiff_t row = 0; row < plain.rows; ++row) {
        CHECK(spread.loss[static_cast<std::size_t>(2 * row)] == 0);
        CHECK(spread.loss[static_cast<std::size_t>(2 * row + 1)] == plain.loss[static_cast<std::size_t>(row)]);
        for (std::ptrdiff_t c = 0; c < C; ++c) {
            CHECK(spread.dx[static_cast<std::size_t>(2 * row * C + c)] == 0);
            CHECK(spread.dx[static_cast<std::size_t>((2 * row + 1) * C + c)] ==
                  plain.dx[static_cast<std::size_t>(row * C + c)]);
        }
    }
}

TEST_CASE("no rows give a zero weight gradient") {
    SmallHead head;
    head.rows = 0;
    head.train();
    CHECK(std::all_of(head.dw.begin(), head.dw.end(), [](float value) { return value == 0; }));
    std::vector<float> dw(6, 1.0f), dbias(2, 1.0f);
    cpu::Exec exec;
    cpu::linear_backward_weight<float>(exec, dw.data(), dbias.data(), nullptr, nullptr, 0, 3, 2, Accumulate::no);
    CHECK(dw == std::vector<float>(6, 0.0f));
    CHECK(dbias == std::vector<float>(2, 0.0f));
}

TEST_CASE("a NaN activation reaches the loss of its row and no other") {
    SmallHead head;
    head.x[3 * 8 + 1] = std::numeric_limits<float>::quiet_NaN();
    head.train();
    for (std::size_t row = 0; row < head.loss.size(); ++row) CHECK(std::isnan(head.loss[row]) == (row == 3));
    head.x[3 * 8 + 1] = std::numeric_limits<float>::infinity();
    head.train();
    CHECK_FALSE(std::isfinite(head.loss[3]));
}

TEST_CASE("NaN passes through attention, norm and linear layers") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const cases::OpCase& made :
         {cases::attention_forward_case(cases::Draw(5, 0), {1, 3, 1, 4, true}),
          cases::norm_forward_case(cases::Draw(5, 1), {1, 3, 3, 4}, false),
          cases::linear_forward_case(cases::Draw(5, 2), {3, 4, 5}, true, false, Activation::gelu_tanh)}) {
        cases::OpCase op = made;
        INFO(op.name);
        for (cases::Buffer& buffer : op.buffers)
            if (buffer.role == cases::Role::input) {
                buffer.value[0] = nan;
                break;
            }
        const auto result = cases::run_cpu(op, 1);
        CHECK(std::isnan(result.values[0][0]));
    }
}

TEST_CASE("an activation recomputed from the values kept by a linear layer has the layer's bits") {
    for (const Activation act : {Activation::gelu_tanh, Activation::gelu_erf})
        for (const cases::LinearShape& s : cases::linear_shapes()) {
            cases::OpCase op = cases::linear_forward_case(cases::Draw(7, 0), s, true, true, act);
            INFO(op.name);
            const auto fused = cases::run_cpu(op, 2).values;  // y, pre
            const std::vector<float> pre(fused[1].begin(), fused[1].end());
            std::vector<float> y(pre.size());
            cpu::Exec exec{3, {}};
            cpu::activation_forward(exec, y.data(), pre.data(), s.rows, s.out, act);
            CHECK(std::equal(y.begin(), y.end(), fused[0].begin()));
        }
}

// Dropout of ones (B, N), or of x.
struct Dropped {
    std::uint64_t seed = 9, step = 4;
    std::uint32_t layer = 2;
    double p = 0.25;
    std::vector<std::int64_t> draw = {11, 1ll << 40, 13, 14};
    std::int64_t N = 10007;

    std::vector<float> run(std::vector<float> x = {}) const {
        const auto B = static_cast<std::int64_t>(draw.size());
        if (x.empty()) x.assign(static_cast<std::size_t>(B * N), 1.0f);
        std::vector<float> y(x.size());
        cpu::Exec exec{2, {}};
        cpu::dropout<float>(exec, y.data(), x.data(), nullptr, B, N, {seed, step, layer, draw.data(), p});
        return y;
    }
};

TEST_CASE("dropout keeps its share, scaled so that the mean stays, and draws a new mask for each key") {
    const Dropped one;
    const std::vector<float> y = one.run();
    const auto dropped = static_cast<double>(std::count(y.begin(), y.end(), 0.0f));
    const auto n = static_cast<double>(y.size());
    CHECK(std::abs(dropped / n - 0.25) < 5 * std::sqrt(0.25 * 0.75 / n));
    CHECK(static_cast<double>(std::count(y.begin(), y.end(), 1 / 0.75f)) == n - dropped);
    CHECK(std::abs(std::accumulate(y.begin(), y.end(), 0.0) / n - 1) < 5 * std::sqrt(1.0 / 3 / n));
    Dropped other_step, other_layer, other_seed;
    other_step.step = 5;
    other_layer.layer = 3;
    other_seed.seed = 10;
    for (const Dropped& other : {other_step, other_layer, other_seed}) {
        const std::vector<float> again = other.run();
        int differ = 0;
        for (std::size_t i = 0; i < y.size(); ++i) differ += y[i] != again[i];
        CHECK(std::abs(differ / n - 2 * 0.25 * 0.75) < 0.02);
    }
    CHECK_FALSE(std::equal(y.begin(), y.begin() + one.N, y.begin() + one.N));  // each sample its own
}

TEST_CASE("dropout does not depend on how a batch is split, and gradients pass where values did") {
    const Dropped whole;
    const std::vector<float> y = whole.run();
    for (std::size_t b = 0; b < whole.draw.size(); ++b) {
        Dropped part;
        part.draw = {whole.draw[b]};
        CHECK(std::equal(y.begin() + static_cast<std::ptrdiff_t>(b) * whole.N,
                         y.begin() + static_cast<std::ptrdiff_t>(b + 1) * whole.N, part.run().begin()));
    }
    std::vector<float> dy = cases::Draw(8, 0).normal(static_cast<std::int64_t>(y.size()), 1, 0);
    const std::vector<float> dx = whole.run(dy);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(dx[i] == dy[i] * y[i]);
}

TEST_CASE("dropout of nothing leaves every bit") {
    Dropped none;
    none.p = 0;
    none.draw = {1};
    none.N = 6;
    const std::vector<float> x = {1e-40f, -0.0f, std::numeric_limits<float>::infinity(), 3.1f, -1e-45f, 7};
    const std::vector<float> y = none.run(x);
    for (std::size_t i = 0; i < x.size(); ++i)
        CHECK(std::bit_cast<std::uint32_t>(y[i]) == std::bit_cast<std::uint32_t>(x[i]));
}

TEST_CASE("the workspace of a step serves every shorter step") {
    for (std::int64_t rows = 1; rows < 5000; ++rows) {
        INFO(rows << " rows");
        REQUIRE(cpu::norm_backward_workspace(rows, 5) >= cpu::norm_backward_workspace(rows - 1, 5));
        const auto input_workspace = [](std::int64_t n) {
            return cpu::linear_backward_input_workspace(2, n, 5, Activation::gelu_tanh, Accumulate::yes);
        };
        REQUIRE(input_workspace(rows) >= input_workspace(rows - 1));
        REQUIRE(cpu::head_loss_workspace(rows, 3, 5) >= cpu::head_loss_workspace(rows - 1, 3, 5));
    }
}

TEST_CASE("tokens, targets and workspaces that cannot be are named in an error") {
    std::vector<float> buffer(64);
    cpu::Exec exec;
    const std::int32_t token[] = {3, 4};
    const auto embed = [&](std::int64_t positions) {
        const EmbeddingTables<float> tables{{{buffer.data(), nullptr, 2}, {buffer.data(), token, 4}}, 2};
        cpu::embedding_forward(exec, buffer.data() + 32, tables, 1, positions, 2);
    };
    CHECK_NOTHROW(embed(1));
    CHECK_THROWS_WITH(embed(2),
                      ContainsSubstring("id 4 is at position 1") && ContainsSubstring("embedding table 1 has 4 rows"));
    CHECK_THROWS_WITH(embed(3), ContainsSubstring("3 positions") && ContainsSubstring("embedding table 0 has 2 rows"));
    SmallHead head;
    head.target[2] = 50;
    CHECK_THROWS_WITH(head.train(), ContainsSubstring("target 50 at row 2"));
    head.target[2] = kIgnoreTarget;
    CHECK_NOTHROW(head.train(19));
    CHECK_THROWS_WITH(head.train(20), ContainsSubstring("expects 20 rows") && ContainsSubstring("19 have one"));
    float lse = 0;
    const AttentionSpec one{.B = 1, .Tq = 1, .Tk = 1, .H = 1, .Hkv = 1, .d = 1, .causal = true};
    CHECK_THROWS_WITH(
        cpu::attention_forward(exec, buffer.data(), &lse, fused_heads<const float>(buffer.data(), one), one),
        ContainsSubstring("attention_forward") && ContainsSubstring("bytes") && ContainsSubstring("given 0"));
}

TEST_CASE("an invalid attention is refused with help") {
    const std::int32_t start[] = {0, 2}, length = 2;
    const std::int64_t number = 0;
    const AttentionSpec good{.B = 1,
                             .Tq = 2,
                             .Tk = 2,
                             .H = 4,
                             .Hkv = 2,
                             .d = 1,
                             .causal = true,
                             .start = start,
                             .dropout = {.p = 0.5, .draw = &number}};
    CHECK_NOTHROW(require_attention(good));
    const auto refused = [&](auto change) {
        AttentionSpec spec = good;
        change(spec);
        try {
            require_attention(spec);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK_THAT(refused([](auto& s) { s.Hkv = 3; }), ContainsSubstring("3 heads") && ContainsSubstring("divide 4"));
    CHECK_THAT(refused([](auto& s) { s.Hkv = 0; }), ContainsSubstring("0 heads"));
    CHECK_THAT(refused([](auto& s) { s.Tk = 0; }), ContainsSubstring("no key"));
    CHECK_THAT(refused([](auto& s) { s.Tk = 1; }), ContainsSubstring("2 causal queries have only 1 keys"));
    CHECK_THAT(refused([](auto& s) { s.Tk = 3; }), ContainsSubstring("packed samples have 2 queries and 3 keys"));
    CHECK_THAT(refused([&](auto& s) { s.length = &length; }),
               ContainsSubstring("packed samples are given lengths too"));
    CHECK_THAT(refused([](auto& s) { s.dropout.p = 1; }), ContainsSubstring("outside [0, 1)"));
    CHECK_THAT(refused([](auto& s) { s.dropout.p = -0.1; }), ContainsSubstring("outside [0, 1)"));
    CHECK_THAT(refused([](auto& s) { s.H = 258; }), ContainsSubstring("at most 256 heads"));
}

// Outputs and gradients of attention on the CPU.
struct AttentionRun {
    std::vector<float> out, lse, dqkv;

    AttentionRun(const AttentionSpec& s, const std::vector<float>& qkv, const std::vector<float>& dout)
        : out(dout.size()), lse(static_cast<std::size_t>(s.B * s.H * s.Tq)), dqkv(qkv.size()) {
        std::vector<std::byte> workspace(
            std::max(cpu::attention_forward_workspace(2, s.Tq, s.d), cpu::attention_backward_workspace(2, s.Tq, s.d)));
        cpu::Exec exec{2, workspace};
        const auto in = fused_heads(qkv.data(), s);
        cpu::attention_forward(exec, out.data(), lse.data(), in, s);
        cpu::attention_backward(exec, fused_heads(dqkv.data(), s), dout.data(), out.data(), in, lse.data(), s);
    }
};

TEST_CASE("packed samples give the bits of separate ones") {
    const std::int64_t H = 2, d = 5, row = 3 * H * d;
    const std::vector<std::int64_t> lengths = {70, 1, 0, 129, 300};
    const auto B = static_cast<std::int64_t>(lengths.size());
    const bool causal = GENERATE(true, false);
    const std::int64_t M = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    cases::Draw draw(9, 0);
    const std::vector<float> qkv = draw.normal(M * row, 1, 0), dout = draw.normal(M * H * d, 1, 0);
    std::vector<std::int32_t> start = {0};
    for (const std::int64_t length : lengths) start.push_back(start.back() + static_cast<std::int32_t>(length));
    const std::vector<std::int64_t> numbers = {5, 6, 7, 1ll << 35, 9};
    AttentionSpec spec{.B = B,
                       .Tq = 300,
                       .Tk = 300,
                       .H = H,
                       .Hkv = H,
                       .d = d,
                       .causal = causal,
                       .start = start.data(),
                       .dropout = {.p = 0.3, .seed = 1, .step = 2, .layer = 3, .draw = numbers.data()}};
    const AttentionRun packed(spec, qkv, dout);
    spec.start = nullptr;
    spec.B = 1;
    const auto part = [](const std::vector<float>& all, std::int64_t first, std::int64_t count) {
        return std::vector<float>(all.begin() + first, all.begin() + first + count);
    };
    for (std::int64_t b = 0, first = 0; b < B; first += lengths[static_cast<std::size_t>(b++)]) {
        const std::int64_t length = lengths[static_cast<std::size_t>(b)];
        spec.Tq = spec.Tk = length;
        spec.dropout.draw = numbers.data() + b;
        const AttentionRun alone(spec, part(qkv, first * row, length * row), part(dout, first * H * d, length * H * d));
        CHECK(part(packed.out, first * H * d, length * H * d) == alone.out);
        CHECK(part(packed.dqkv, first * row, length * row) == alone.dqkv);
        const std::vector<float> lse = part(packed.lse, b * H * 300, H * 300);
        for (std::int64_t h = 0; h < H; ++h) CHECK(part(lse, h * 300, length) == part(alone.lse, h * length, length));
    }
}

TEST_CASE("dropout of attention is keyed by the draw: padding and the split of a batch change nothing") {
    const std::int64_t B = 2, T = 67, H = 2, d = 5, longer = 200;
    cases::Draw draw(10, 0);
    const std::vector<float> qkv = draw.normal(B * T * 3 * H * d, 1, 0), dout = draw.normal(B * T * H * d, 1, 0);
    const std::vector<std::int64_t> numbers = {5, 1ll << 35};
    AttentionSpec spec{.B = B,
                       .Tq = T,
                       .Tk = T,
                       .H = H,
                       .Hkv = H,
                       .d = d,
                       .causal = true,
                       .dropout = {.p = 0.3, .seed = 1, .step = 2, .layer = 3, .draw = numbers.data()}};
    const AttentionRun whole(spec, qkv, dout);
    const auto half = static_cast<std::ptrdiff_t>(dout.size() / 2),
               half_in = static_cast<std::ptrdiff_t>(qkv.size() / 2);
    spec.B = 1;
    spec.dropout.draw = numbers.data() + 1;
    const AttentionRun second(spec, {qkv.begin() + half_in, qkv.end()}, {dout.begin() + half, dout.end()});
    CHECK(std::equal(second.out.begin(), second.out.end(), whole.out.begin() + half));
    CHECK(std::equal(second.dqkv.begin(), second.dqkv.end(), whole.dqkv.begin() + half_in));
    // The second sample, padded.
    std::vector<float> padded_in(qkv.begin() + half_in, qkv.end()), padded_dout(dout.begin() + half, dout.end());
    padded_in.resize(static_cast<std::size_t>(longer * 3 * H * d), 9.0f);
    padded_dout.resize(static_cast<std::size_t>(longer * H * d), 9.0f);
    const std::int32_t length = T;
    spec.Tq = spec.Tk = longer;
    spec.length = &length;
    const AttentionRun padded(spec, padded_in, padded_dout);
    CHECK(std::equal(second.out.begin(), second.out.end(), padded.out.begin()));
    CHECK(std::equal(second.dqkv.begin(), second.dqkv.end(), padded.dqkv.begin()));
    // Another layer, step or seed drops others.
    spec.Tq = spec.Tk = T;
    spec.length = nullptr;
    for (int what = 0; what < 3; ++what) {
        AttentionSpec other = spec;
        other.dropout.layer += what == 0;
        if (what == 1) other.dropout.step = spec.dropout.step.given + 1;
        other.dropout.seed += what == 2;
        CHECK(AttentionRun(other, {qkv.begin() + half_in, qkv.end()}, {dout.begin() + half, dout.end()}).out !=
              second.out);
    }
}

TEST_CASE("one-thread kernels start no thread, even where OpenMP would") {
    const auto running = [] {
        std::set<std::string> ids;
        for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
            ids.insert(task.path().filename());
        return ids;
    };
    // Threads that earlier tests left may end meanwhile, so only new ones count.
    const auto started = [&](const std::set<std::string>& before) {
        const std::set<std::string> now = running();
        return std::count_if(now.begin(), now.end(), [&](const std::string& id) { return !before.contains(id); });
    };
    // A new thread has an OpenMP team of its own to start.
    std::thread([&] {
        omp_set_num_threads(4);
        const cases::OpCase op =
            cases::linear_forward_case(cases::Draw(6, 0), {512, 256, 512}, true, true, Activation::gelu_tanh);
        const auto before = running();
        cases::run_cpu(op, 1);
        CHECK(started(before) == 0);
        cases::run_cpu(op, 2);
        CHECK(started(before) == 1);
        CHECK(omp_get_max_threads() == 4);
    }).join();
}

}  // namespace
}  // namespace deft::kernels
