// Models of every combination of parts: gradients, and what must make no difference.

#include <memory>
#include <numeric>
#include <random>
#include <string>

#include "engine/models/transformer.h"
#include "tests/engine/finite_differences.h"

using namespace deft::engine;

namespace {

struct NamedModel {
    std::string name;
    TransformerConfig config;
};

enum class Place { learned, rope, none };

TransformerConfig model_of(NormKind norm, NormPlacement placement, Place positions, Activation activation,
                           std::int64_t kv_heads, double dropout) {
    TransformerConfig config = gpt2_config(2, 8, 2, 6, 11, 0.3);
    const bool is_post = placement == NormPlacement::post, has_bias = norm == NormKind::layer;
    for (BlockConfig& block : config.blocks) {
        block.placement = placement;
        block.norm = {norm, 0.05};
        block.attention.kv_heads = kv_heads;
        block.attention.bias = block.feed_forward.bias = has_bias;
        block.attention.dropout = block.dropout = dropout;
        if (positions == Place::rope) block.attention.rope_theta = 20;
        block.feed_forward.hidden = 6;
        block.feed_forward.activation = activation;
    }
    config.input.positions = positions == Place::learned ? Positions::learned : Positions::none;
    config.input.dropout = dropout;
    if (is_post) config.input.norm = NormSpec{norm, 0.05};
    config.final_norm = is_post ? std::nullopt : std::optional(NormSpec{norm, 0.05});
    config.head = {.tied = positions == Place::learned, .bias = is_post};
    return config;
}

std::vector<NamedModel> all_models() {
    std::vector<NamedModel> models;
    for (const auto norm : {NormKind::layer, NormKind::rms})
        for (const auto placement : {NormPlacement::pre, NormPlacement::post})
            for (const auto positions : {Place::learned, Place::rope, Place::none})
                for (const auto activation : {Activation::gelu_tanh, Activation::gelu_erf, Activation::swiglu})
                    for (const std::int64_t kv_heads : {1, 2})
                        for (const double dropout : {0.0, 0.3}) {
                            const std::string name = std::string(norm == NormKind::rms ? "rms" : "layer") +
                                                     (placement == NormPlacement::pre ? " pre" : " post") +
                                                     " positions " + std::to_string(static_cast<int>(positions)) +
                                                     " activation " + std::to_string(static_cast<int>(activation)) +
                                                     " kv_heads " + std::to_string(kv_heads) +
                                                     (dropout > 0 ? " dropout" : "");
                            models.push_back({name, model_of(norm, placement, positions, activation, kv_heads, dropout)});
                        }
    return models;
}

// BERT's parts (two segments, no causal mask), and a model like Llama.
TransformerConfig small_bert() {
    TransformerConfig config =
        model_of(NormKind::layer, NormPlacement::post, Place::learned, Activation::gelu_erf, 2, 0.2);
    for (BlockConfig& block : config.blocks) block.attention.causal = false;
    config.input.segments = 2;
    return config;
}
TransformerConfig small_llama() {
    return model_of(NormKind::rms, NormPlacement::pre, Place::rope, Activation::swiglu, 1, 0);
}

// Three samples of 6 tokens and a model for them.
struct Model {
    static constexpr std::int64_t B = 3, T = 6;
    Arena arena;
    std::unique_ptr<Transformer> transformer;
    Exec exec;
    std::vector<std::int32_t> token, target, segment;  // (B, T)
    std::vector<std::int32_t> length;                  // (B), or empty
    std::vector<std::int64_t> draw = {5, 3, 8};        // (B)

    explicit Model(const TransformerConfig& config, DType dtype = DType::f64, int threads = 1,
                   Recompute recompute = Recompute::none) {
        const Backend backend{Device::cpu, dtype, threads};
        transformer = plan_and_commit(arena, [&](Arena& a) {
            return std::make_unique<Transformer>(a, config, backend, B, Purpose::training, recompute);
        });
        exec = make_exec(backend, arena);
        initialise(exec, transformer->parameters(), 1, config.init_std, config.layers());
        for (std::int64_t i = 0; i < B * T; ++i) {
            token.push_back(static_cast<std::int32_t>(i * 7 % config.vocab));
            target.push_back(static_cast<std::int32_t>(i * 5 % config.vocab));
            segment.push_back(i % T < 3 ? 0 : 1);
        }
    }

    // The mean loss of samples [first, first + n), and its gradients in the table. kept: positions that layer 1 takes of
    // each sample, (n, K).
    double train(std::int64_t first = 0, std::int64_t n = B, Accumulate accumulate = Accumulate::no,
                 std::vector<std::int32_t> kept = {}) {
        const auto sample = static_cast<std::size_t>(first);
        transformer->load(exec, {n, T, &token[at(first)], &target[at(first)],
                                 length.empty() ? nullptr : &length[sample], &segment[at(first)]});
        KeptTokens tokens;
        const std::vector<std::int32_t> sets = {-1, 0};
        if (!kept.empty())
            tokens = {make_tensor(kept.data(), DType::i32, {1, n, static_cast<std::int64_t>(kept.size()) / n}), sets};
        const RandomKeys random{9, 4, make_tensor(&draw[static_cast<std::size_t>(first)], DType::i64, {n})};
        transformer->forward_backward(exec, n, T, tokens, random, 1.0 / (B * T), accumulate);
        return loss(n) / (B * T);
    }

    double loss(std::int64_t n = B) const {
        const Tensor losses = transformer->loss.view({n, T});
        double sum = 0;
        for (std::int64_t i = 0; i < n * T; ++i)
            sum += losses.dtype == DType::f64 ? losses.as<double>()[i] : static_cast<double>(losses.as<float>()[i]);
        return sum;
    }

    template <class Real>
    std::vector<Real> gradients() const {
        return values<Real>(transformer->parameters().flat_gradients());
    }

 private:
    static std::size_t at(std::int64_t sample) { return static_cast<std::size_t>(sample * T); }
};

std::vector<std::int32_t> all_positions() {
    std::vector<std::int32_t> all(Model::B * Model::T);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i % Model::T);
    return all;
}

void check_close(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == Approx(b[i]).epsilon(1e-9).margin(1e-12));
}

}  // namespace

TEST_CASE("every combination of parts has the gradients of finite differences") {
    for (const NamedModel& named : all_models()) {
        INFO(named.name);
        Model model(named.config);
        check_finite_differences(model.transformer->parameters(), 1e-9, [&] { return model.train(); });
    }
}

TEST_CASE("kept tokens in a model of other parts have the gradients of finite differences") {
    const std::vector<std::int32_t> kept = {0, 2, 3, 1, 2, 5, 0, 4, 5};
    for (const TransformerConfig& config : {small_bert(), small_llama()}) {
        Model model(config);
        model.length = {6, 4, 1};
        check_finite_differences(model.transformer->parameters(), 1e-9,
                                 [&] { return model.train(0, Model::B, Accumulate::no, kept); });
    }
}

TEST_CASE("keeping every token, and splitting a batch, change only rounding, whatever the parts") {
    for (const NamedModel& named : all_models()) {
        INFO(named.name);
        Model model(named.config);
        const double loss = model.train();
        const auto gradients = model.gradients<double>();
        CHECK(model.train(0, Model::B, Accumulate::no, all_positions()) == Approx(loss).epsilon(1e-12));
        check_close(model.gradients<double>(), gradients);
        const double first = model.train(0, 1, Accumulate::no), rest = model.train(1, 2, Accumulate::yes);
        CHECK(first + rest == Approx(loss).epsilon(1e-12));
        check_close(model.gradients<double>(), gradients);
    }
}

TEST_CASE("the float model of any parts is the double model, with the same bits on any threads and however recomputed") {
    for (const NamedModel& named : all_models()) {
        INFO(named.name);
        Model exact(named.config), plain(named.config, DType::f32);
        const std::vector<std::int32_t> kept = {0, 2, 3, 1, 2, 5, 0, 4, 5};
        for (const auto& index : {std::vector<std::int32_t>{}, kept}) {
            CHECK(plain.train(0, 3, Accumulate::no, index) ==
                  Approx(exact.train(0, 3, Accumulate::no, index)).epsilon(1e-5));
            const auto gradients = plain.gradients<float>();
            const auto expected = exact.gradients<double>();
            double error = 0, size = 0;
            for (std::size_t i = 0; i < expected.size(); ++i) {
                error += std::pow(static_cast<double>(gradients[i]) - expected[i], 2);
                size += std::pow(expected[i], 2);
            }
            CHECK(error < 1e-9 * size);
            for (const int threads : {1, 2, 3})
                for (const Recompute recompute : {Recompute::none, Recompute::activation, Recompute::block}) {
                    INFO(threads << " threads, recompute " << static_cast<int>(recompute));
                    Model other(named.config, DType::f32, threads, recompute);
                    other.train(0, 3, Accumulate::no, index);
                    CHECK((other.gradients<float>() == gradients));
                }
        }
    }
}

TEST_CASE("padding changes nothing, whatever stands there") {
    for (const TransformerConfig& config : {small_bert(), small_llama()}) {
        Model model(config);
        model.length = {6, 4, 2};
        for (std::int64_t b = 0; b < Model::B; ++b)
            for (std::int64_t t = model.length[static_cast<std::size_t>(b)]; t < Model::T; ++t)
                model.target[static_cast<std::size_t>(b * Model::T + t)] = deft::kernels::kIgnoreTarget;
        const double loss = model.train();
        const auto first = model.gradients<double>();
        model.token[Model::T + 4] = 9;
        model.segment[2 * Model::T + 3] = 0;
        CHECK(model.train() == loss);
        CHECK(model.gradients<double>() == first);
        model.length[1] = 5;  // the test can fail
        model.train();
        CHECK(model.gradients<double>() != first);
    }
}

TEST_CASE("dropout is of training alone, and of the number of a sample's draw") {
    Model model(small_bert());
    const double loss = model.train();
    const auto gradients = model.gradients<double>();
    model.train();
    CHECK(model.gradients<double>() == gradients);
    model.transformer->evaluate(model.exec, Model::B, Model::T);
    const double without = model.loss();
    model.transformer->evaluate(model.exec, Model::B, Model::T);
    CHECK(model.loss() == without);
    CHECK(without / (Model::B * Model::T) != Approx(loss).epsilon(1e-3));
    model.draw[1] = 4;
    CHECK(model.train() != Approx(loss).epsilon(1e-6));
    CHECK(model.gradients<double>() != gradients);
}

TEST_CASE("a segment's vector is that of its tokens alone") {
    TransformerConfig config = small_bert();
    config.input.dropout = 0;
    for (BlockConfig& block : config.blocks) block.dropout = block.attention.dropout = 0;
    Model model(config);
    const double both = model.train();
    std::fill(model.segment.begin(), model.segment.end(), 0);
    CHECK(model.train() != Approx(both).epsilon(1e-6));
    for (const Parameter& p : model.transformer->parameters().all()) {
        if (p.name != "wse.weight") continue;
        const auto gradient = values<double>(p.grad);  // (2, C)
        const auto unused = std::span(gradient).subspan(gradient.size() / 2);
        CHECK(std::all_of(unused.begin(), unused.end(), [](double g) { return g == 0; }));
        CHECK(gradient[0] != 0);
    }
    model.segment[3] = 2;
    CHECK_THROWS_WITH(model.train(), ContainsSubstring("segment 2 of a model that has 2"));
    CHECK_THROWS_WITH(model.transformer->load(model.exec, {1, 6, model.token.data(), model.target.data()}),
                      ContainsSubstring("given none"));
}

TEST_CASE("rotary positions are those of the sample, not of the kept rows") {
    // Positions 2, 3, 5 of six, alone in every layer, are a sample of three tokens that stands apart in the same way:
    // what rotary attention sees is how far two tokens are from each other.
    TransformerConfig config = small_llama();
    config.blocks.resize(1);
    Model model(config);
    const auto losses_of_layer_0 = [&](std::vector<std::int32_t> kept) {
        const std::vector<std::int32_t> sets = {0};
        model.transformer->load(model.exec, {1, Model::T, model.token.data(), model.target.data()});
        const auto K = static_cast<std::int64_t>(kept.size());
        const KeptTokens tokens{make_tensor(kept.data(), DType::i32, {1, 1, K}), sets};
        model.transformer->forward_backward(model.exec, 1, Model::T, tokens, {}, 1, Accumulate::no);
        std::vector<double> losses;
        for (const std::int32_t at : kept) losses.push_back(model.transformer->loss.as<double>()[at]);
        return losses;
    };
    model.token = {4, 4, 7, 2, 4, 9};
    model.target = {1, 1, 3, 5, 1, 6};
    const auto later = losses_of_layer_0({2, 3, 5});
    model.token = {7, 2, 4, 9, 4, 4};
    model.target = {3, 5, 1, 6, 1, 1};
    const auto earlier = losses_of_layer_0({0, 1, 3});
    for (std::size_t i = 0; i < 3; ++i) CHECK(earlier[i] == Approx(later[i]).epsilon(1e-12));
    model.token = {7, 2, 9, 4, 4, 4};
    model.target = {3, 5, 6, 1, 1, 1};
    CHECK(losses_of_layer_0({0, 1, 2})[2] != Approx(later[2]).epsilon(1e-6));  // the last one stands nearer
}
