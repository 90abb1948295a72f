#pragma once
// Small models of every combination of parts, and three samples to train them on.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/models/transformer.h"
#include "tests/engine/tiny.h"

namespace deft::engine {

struct NamedModel {
    std::string name;
    TransformerConfig config;
};

enum class PositionsOf { learned, rope, none };

inline TransformerConfig model_of(NormKind norm, NormPlacement placement, PositionsOf positions, Activation activation,
                                  std::int64_t kv_heads, double dropout) {
    TransformerConfig config = gpt2_config(2, 8, 2, 6, 11, 0.3);
    const bool is_post = placement == NormPlacement::post, has_bias = norm == NormKind::layer;
    for (BlockConfig& block : config.blocks) {
        block.placement = placement;
        block.norm = {norm, 0.05};
        block.attention.kv_heads = kv_heads;
        block.attention.bias = block.feed_forward.bias = has_bias;
        block.attention.dropout = block.dropout = dropout;
        if (positions == PositionsOf::rope) block.attention.rope_theta = 20;
        block.feed_forward.hidden = 6;
        block.feed_forward.activation = activation;
    }
    config.input.positions = positions == PositionsOf::learned ? Positions::learned : Positions::none;
    config.input.dropout = dropout;
    if (is_post) config.input.norm = NormSpec{norm, 0.05};
    config.final_norm = is_post ? std::nullopt : std::optional(NormSpec{norm, 0.05});
    config.head = HeadConfig{.tied = positions == PositionsOf::learned, .bias = is_post};
    if (is_post && activation != Activation::swiglu) {
        config.head->transform = {activation, {norm, 0.05}};
        config.class_head = {
            .classes = 3, .pooling = kv_heads == 1 ? Pooling::mean : Pooling::first, .pooler = has_bias};
    }
    return config;
}

inline std::vector<NamedModel> all_models() {
    std::vector<NamedModel> models;
    for (const auto norm : {NormKind::layer, NormKind::rms})
        for (const auto placement : {NormPlacement::pre, NormPlacement::post})
            for (const auto positions : {PositionsOf::learned, PositionsOf::rope, PositionsOf::none})
                for (const auto activation : {Activation::gelu_tanh, Activation::gelu_erf, Activation::swiglu})
                    for (const std::int64_t kv_heads : {1, 2})
                        for (const double dropout : {0.0, 0.3}) {
                            const std::string name = std::string(norm == NormKind::rms ? "rms" : "layer") +
                                                     (placement == NormPlacement::pre ? " pre" : " post") +
                                                     " positions " + std::to_string(static_cast<int>(positions)) +
                                                     " activation " + std::to_string(static_cast<int>(activation)) +
                                                     " kv_heads " + std::to_string(kv_heads) +
                                                     (dropout > 0 ? " dropout" : "");
                            models.push_back(
                                {name, model_of(norm, placement, positions, activation, kv_heads, dropout)});
                        }
    return models;
}

// BERT's parts (two segments, no causal mask), and a model like Llama.
inline TransformerConfig small_bert() {
    TransformerConfig config =
        model_of(NormKind::layer, NormPlacement::post, PositionsOf::learned, Activation::gelu_erf, 2, 0.2);
    for (BlockConfig& block : config.blocks) block.attention.causal = false;
    config.input.segments = 2;
    return config;
}
inline TransformerConfig small_llama() {
    return model_of(NormKind::rms, NormPlacement::pre, PositionsOf::rope, Activation::swiglu, 1, 0);
}

// Three samples of 6 tokens and a model for them.
struct Model {
    static constexpr std::int64_t B = 3, T = 6;
    Arena arena;
    std::unique_ptr<Transformer> transformer;
    Exec exec;
    std::vector<std::int32_t> token, target, segment;                         // (B, T)
    std::vector<std::int32_t> length;                                         // (B), or empty
    std::vector<std::int32_t> class_target = {2, kernels::kIgnoreTarget, 0};  // (B)
    std::vector<float> value_target = {0.75f, -1.5f, 2};                      // (B)
    std::vector<std::int64_t> draw = {5, 3, 8};                               // (B)
    std::vector<std::int32_t> set_of_layer = {-1, 0};                         // of kept tokens

    explicit Model(const TransformerConfig& config, DType dtype = DType::f64, int threads = 1,
                   Recompute recompute = Recompute::none)
        : Model(config, Backend{Device::cpu, dtype, threads}, recompute) {}
    Model(const TransformerConfig& config, const Backend& backend, Recompute recompute) : arena(backend.device) {
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

    // The mean loss of the tokens of samples [first, first + n) plus that of their classes over B samples, and its
    // gradients in the table. kept (sets of set_of_layer, n, K): the positions of each sample that layers take;
    // set_of_layer as in KeptTokens.
    double train(std::int64_t first = 0, std::int64_t n = B, Accumulate accumulate = Accumulate::no,
                 std::vector<std::int32_t> kept = {}) {
        const auto sample = static_cast<std::size_t>(first);
        transformer->load(exec,
                          {n, T, &token[at(first)], &target[at(first)], length.empty() ? nullptr : &length[sample],
                           &segment[at(first)], &class_target[sample], &value_target[sample]});
        KeptTokens tokens;
        const std::int64_t sets = 1 + *std::max_element(set_of_layer.begin(), set_of_layer.end());
        if (!kept.empty())
            tokens = {
                make_tensor(kept.data(), DType::i32, {sets, n, static_cast<std::int64_t>(kept.size()) / sets / n}),
                set_of_layer};
        const DropoutKeys random{9, 4, make_tensor(&draw[static_cast<std::size_t>(first)], DType::i64, {n})};
        transformer->forward_backward(exec, n, T, tokens, random, {1.0 / (B * T), 1.0 / B}, accumulate);
        return loss(n) / (B * T) + class_loss(n) / B;
    }

    double loss(std::int64_t n = B) const { return transformer->loss ? sum_of(transformer->loss.view({n, T})) : 0; }
    double class_loss(std::int64_t n = B) const {
        return transformer->class_loss ? sum_of(transformer->class_loss.view({n})) : 0;
    }

    template <class Real>
    std::vector<Real> gradients() const {
        return values<Real>(transformer->parameters().flat_gradients());
    }

 private:
    static double sum_of(const Tensor& losses) {
        double sum = 0;
        for (std::int64_t i = 0; i < losses.numel(); ++i)
            sum += losses.dtype == DType::f64 ? losses.as<double>()[i] : static_cast<double>(losses.as<float>()[i]);
        return sum;
    }
    static std::size_t at(std::int64_t sample) { return static_cast<std::size_t>(sample * T); }
};

}  // namespace deft::engine
