// Whole models and blocks that take only some tokens, causal and not, with and without padding.

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "tests/engine/finite_differences.h"
#include "tests/engine/small_dropping.h"

using namespace deft::engine;

namespace {

using Ints = std::vector<std::int32_t>;

// A model with random weights and random tokens; every token has a target.
struct Model {
    std::int64_t B, T;
    Arena arena;
    std::unique_ptr<Transformer> transformer;
    Exec exec;
    Ints token, target, length;  // (B, T), (B, T), (B) or empty

    Model(std::int64_t layers, std::int64_t batch, std::int64_t seqlen, bool causal, DType dtype = DType::f32)
        : B(batch), T(seqlen) {
        TransformerConfig config = gpt2_config(layers, 12, 2, seqlen, 17, 0.2);
        for (BlockConfig& block : config.blocks) block.attention.causal = causal;
        const Backend backend{Device::cpu, dtype, 1};
        transformer =
            plan_and_commit(arena, [&](Arena& a) { return std::make_unique<Transformer>(a, config, backend, batch); });
        exec = make_exec(backend, arena);
        initialise(exec, transformer->parameters(), 5, config.init_std, layers);
        for (std::int64_t i = 0; i < B * T; ++i) {
            token.push_back(static_cast<std::int32_t>(i * i % 17));
            target.push_back(static_cast<std::int32_t>(i * 7 % 17));
        }
    }
    // Samples of `lengths` real tokens; padding has no loss.
    void pad(Ints lengths) {
        length = std::move(lengths);
        for (std::int64_t i = 0; i < B * T; ++i)
            if (i % T >= length[static_cast<std::size_t>(i / T)])
                target[static_cast<std::size_t>(i)] = deft::kernels::kIgnoreTarget;
    }
    // Sum of losses; gradients are left in the parameters.
    double run(const KeptTokens& kept) {
        transformer->load(exec, {B, T, token.data(), target.data(), length.empty() ? nullptr : length.data()});
        transformer->forward_backward(exec, B, T, kept, {}, {}, Accumulate::no);
        double total = 0;
        for (const double loss : losses()) total += loss;
        return total;
    }
    std::vector<double> losses() {
        const Tensor all = transformer->loss.view({B, T});
        if (all.dtype == DType::f64) return values<double>(all);
        const auto singles = values<float>(all);
        return {singles.begin(), singles.end()};
    }
    std::vector<float> gradients() { return values<float>(transformer->parameters().flat_gradients()); }
};

// Kept tokens with memory of their own.
struct Kept {
    Ints set_of_layer, index;
    std::int64_t sets, B, K;

    KeptTokens tokens() { return {make_tensor(index.data(), DType::i32, {sets, B, K}), set_of_layer}; }
};

// random-LTD of samples 0 .. B - 1.
Kept draw(const Model& model, Ints layers, std::int64_t K) {
    const std::int64_t depth = model.transformer->config().layers();
    SmallDropping dropping(random_ltd_on(layers, K), depth, model.T, 17, model.B);
    std::vector<std::int64_t> sample;
    for (std::int64_t b = 0; b < model.B; ++b) sample.push_back(b);
    return {dropping.planned.set_of_layer, dropping.select(K, sample, 1, 0, {}, model.length),
            static_cast<std::int64_t>(layers.size()), model.B, K};
}

void check_dropping_gradients(Model& model, const KeptTokens& kept) {
    check_finite_differences(model.transformer->parameters(), 1e-8, [&] { return model.run(kept); });
}

}  // namespace

TEST_CASE("gradients of a bidirectional model with padding and kept tokens match finite differences") {
    Model model(4, 3, 7, false, DType::f64);
    model.pad({7, 3, 5});
    check_dropping_gradients(model, draw(model, {1, 2}, 4).tokens());
}

TEST_CASE("gradients match finite differences whichever layers drop tokens, one by one or as a run") {
    Model model(4, 2, 6, true, DType::f64);
    Kept kept = draw(model, {0, 2, 3}, 3);
    check_dropping_gradients(model, kept.tokens());
    kept.set_of_layer = {0, 0, -1, 1};
    check_dropping_gradients(model, kept.tokens());
}

TEST_CASE("a run that gathers once has the bits of layers that gather each") {
    Model model(5, 3, 11, true);
    Kept once = draw(model, {2}, 4);
    once.set_of_layer = {-1, 0, 0, 0, -1};
    Kept each = once;
    each.set_of_layer = {-1, 0, 1, 2, -1};
    each.sets = 3;
    for (int copy = 0; copy < 2; ++copy) each.index.insert(each.index.end(), once.index.begin(), once.index.end());
    model.run(once.tokens());
    const auto losses = model.losses();
    const auto gradients = model.gradients();
    model.run(each.tokens());
    CHECK(model.losses() == losses);
    CHECK(model.gradients() == gradients);
    model.run({});
    CHECK(model.losses() != losses);  // the test can fail
}

TEST_CASE("keeping every token is the plain model, bit for bit") {
    for (const bool causal : {true, false}) {
        Model model(4, 3, 9, causal);
        model.pad({9, 4, 6});
        model.run({});
        const auto losses = model.losses();
        const auto gradients = model.gradients();
        for (const Ints& sets : {Ints{-1, 0, 1, -1}, {0, 1, 1, 1}, {0, 0, 0, 0}}) {
            Kept all{sets, {}, 2, 3, 9};
            for (std::int32_t i = 0; i < 2 * 3 * 9; ++i) all.index.push_back(i % 9);
            model.run(all.tokens());
            CHECK(model.losses() == losses);
            CHECK(model.gradients() == gradients);
        }
    }
}

TEST_CASE("a future token does not change an earlier loss, whatever tokens are kept") {
    Model model(4, 2, 12, true);
    Kept kept = draw(model, {0, 1, 3}, 5);
    model.run(kept.tokens());
    const auto before = model.losses();
    constexpr std::int64_t changed = 7;
    for (std::int64_t i = 0; i < 2 * 12; ++i)
        if (i % 12 >= changed) model.token[static_cast<std::size_t>(i)] = 16;
    model.run(kept.tokens());
    const auto after = model.losses();
    for (std::size_t i = 0; i < before.size(); ++i)
        if (i % 12 < changed) CHECK(after[i] == before[i]);
    CHECK(after[changed] != before[changed]);
    Model bidirectional(4, 2, 12, false);
    bidirectional.run({});
    const auto all = bidirectional.losses();
    bidirectional.token[11] = 16;
    bidirectional.run({});
    CHECK(bidirectional.losses()[0] != all[0]);
}

TEST_CASE("values in the padding change neither loss nor gradient") {
    for (const bool causal : {true, false}) {
        Model model(4, 3, 9, causal);
        model.pad({9, 4, 0});
        Kept kept = draw(model, {1, 2}, 5);  // of the second sample more than it has
        for (const KeptTokens& tokens : {KeptTokens{}, kept.tokens()}) {
            model.run(tokens);
            const auto losses = model.losses();
            const auto gradients = model.gradients();
            for (const float g : gradients) REQUIRE(std::isfinite(g));
            const Ints saved = model.token;
            for (std::size_t i = 0; i < saved.size(); ++i)
                if (model.target[i] == deft::kernels::kIgnoreTarget) model.token[i] = 16 - saved[i];
            model.run(tokens);
            CHECK(model.losses() == losses);
            const auto again = model.gradients();
            for (std::size_t i = 0; i < gradients.size(); ++i)
                REQUIRE(again[i] == Approx(gradients[i]).epsilon(1e-5).margin(1e-6));
            model.token = saved;
        }
    }
}

TEST_CASE("a padded sample is the shorter sample alone") {
    Model padded(3, 1, 9, false, DType::f64), alone(3, 1, 9, false, DType::f64);
    padded.pad({4});
    const double loss = padded.run({});
    alone.T = 4;
    CHECK(alone.run({}) == Approx(loss).epsilon(1e-12));
    Transformer& model = *alone.transformer;
    const std::int32_t token[2] = {1, 2}, too_long = 3;
    CHECK_THROWS_WITH(model.load(alone.exec, {1, 2, token, token, &too_long}), ContainsSubstring("length of 3"));
}

TEST_CASE("tokens outside a block's set pass it unchanged, and so do their gradients") {
    const NormPlacement placement = GENERATE(NormPlacement::pre, NormPlacement::post);
    BlockConfig block;
    block.placement = placement;
    block.feed_forward.hidden = 24;
    constexpr std::int64_t B = 2, T = 5, K = 2, C = 6;
    Arena arena;
    struct Buffers {
        std::unique_ptr<ParameterTable> parameters;
        std::unique_ptr<BlockStack> stack;
        Tensor rows, d_stream;
    };
    const Buffers b = plan_and_commit(arena, [&](Arena& a) {
        Buffers buffers{std::make_unique<ParameterTable>(a, DType::f32), {}, {}, {}};
        Planner plan{a, *buffers.parameters, Backend{}, Purpose::training, B, T};
        buffers.stack = std::make_unique<BlockStack>(plan, C, std::vector{block});
        buffers.rows = a.add(Region::activations, "rows", DType::f32, {B, K, C});
        buffers.d_stream = a.add(Region::activations, "d_stream", DType::f32, {B, T, C});
        return buffers;
    });
    const auto fill = [](const Tensor& tensor) {
        for (std::int64_t i = 0; i < tensor.numel(); ++i)
            tensor.as<float>()[i] = std::sin(static_cast<float>(i * i % 101));
    };
    for (const Parameter& p : b.parameters->all()) fill(p.value);
    Exec exec = make_exec(Backend{}, arena);
    Ints index = {1, 4, 0, 3};
    const Ints set_of_layer = {0};
    const Tensor kept = make_tensor(index.data(), DType::i32, {B, K});
    const StreamRows dropping{B, T, {}, {kept.view({1, B, K}), set_of_layer}, {}, {}}, all{B, K, {}, {}, {}, {}};
    const Tensor stream = b.stack->input(dropping);
    fill(stream);
    const auto before = values<float>(stream);
    const auto changed_rows = [&](const std::vector<float>& after) {
        Ints rows;
        for (std::int64_t row = 0; row < B * T; ++row)
            if (!std::equal(before.begin() + row * C, before.begin() + (row + 1) * C, after.begin() + row * C))
                rows.push_back(static_cast<std::int32_t>(row));
        return rows;
    };
    gather_rows(exec, b.rows, stream, kept);
    const auto rows_before = values<float>(b.rows);
    const Residual out = b.stack->forward(exec, dropping);
    CHECK_FALSE(out.branch);
    CHECK(out.rows.data == b.stack->output(dropping).data);
    CHECK(changed_rows(values<float>(out.rows)) == Ints{1, 4, 5, 8});
    fill(b.d_stream);
    b.stack->backward(exec, b.d_stream, dropping, Accumulate::no);
    CHECK(changed_rows(values<float>(b.d_stream)) == Ints{1, 4, 5, 8});
    // The same rows alone.
    gather_rows(exec, b.rows, out.rows, kept);
    const auto through_index = values<float>(b.rows);
    std::copy(rows_before.begin(), rows_before.end(), b.stack->input(all).as<float>());
    const Residual alone = b.stack->forward(exec, all);
    CHECK(bool(alone.branch) == (placement == NormPlacement::pre));
    residual_forward(exec, b.rows, {}, alone.rows, alone.branch);
    CHECK(values<float>(b.rows) == through_index);
}
