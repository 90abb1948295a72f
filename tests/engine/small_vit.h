#pragma once
// A small model of images of every kind, images to train it on, and three of them to look into it with.

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "engine/data/images/image_samples.h"
#include "tests/engine/model_parts.h"

namespace deft::engine {

// Images 6 x 4 x 2 in patches of 2 x 2: six of them, seven rows with the class token.
inline TransformerConfig small_vit(PositionsOf positions, Pooling pooling, double dropout = 0) {
    TransformerConfig config =
        model_of(NormKind::layer, NormPlacement::pre, positions, Activation::gelu_erf, 2, dropout);
    for (BlockConfig& block : config.blocks) block.attention.causal = false;
    config.input.patches = PatchConfig{.height = 6, .width = 4, .channels = 2, .size = 2};
    config.max_seqlen = 7;
    config.vocab = 0;
    config.head.reset();
    config.class_head = ClassHeadConfig{.classes = 3, .pooling = pooling};
    return config;
}

// `count` images for it, of random pixels, the classes by turns.
inline std::shared_ptr<ImageSamples> small_image_samples(std::int64_t count) {
    ImageSamples samples;
    samples.images = {.channels = 2, .height = 6, .width = 4, .classes = 3, .pixels = {}, .labels = {}};
    const std::int64_t values = count * samples.images.image_pixels();
    for (std::int64_t i = 0; i < values; ++i)
        samples.images.pixels.push_back(static_cast<std::uint8_t>(
            kernels::philox_u32(11, kernels::RandomPurpose::tests, 0, 0, static_cast<std::uint64_t>(i), 0)));
    for (std::int64_t i = 0; i < count; ++i) samples.images.labels.push_back(static_cast<std::int32_t>(i % 3));
    samples.augmentation.channels = {{0.5, 0.4}, {0.3, 0.25}};
    return std::make_shared<ImageSamples>(std::move(samples));
}

// A trainer of such images: a model with `layers` layers.
inline TrainerConfig small_vit_training(std::int64_t layers, std::int64_t batch) {
    TrainerConfig config = tiny_config(layers, 7, batch);
    config.model = small_vit(PositionsOf::learned, Pooling::first);
    config.model.blocks.resize(static_cast<std::size_t>(layers), config.model.blocks[0]);
    config.model.init_std = 0.1;
    return config;
}

// Three images and a model for them.
struct ImageModel {
    static constexpr std::int64_t B = 3, T = 7, kHeight = 6, kWidth = 4, kChannels = 2;
    static constexpr std::int64_t kPixels = kHeight * kWidth * kChannels;
    Arena arena;
    std::unique_ptr<Transformer> transformer;
    Exec exec;
    std::vector<float> image;                                                 // (B, height, width, channels)
    std::vector<std::int32_t> class_target = {2, kernels::kIgnoreTarget, 0};  // (B)
    std::vector<std::int64_t> draw = {5, 3, 8};                               // (B)

    explicit ImageModel(const TransformerConfig& config, DType dtype = DType::f64, int threads = 1,
                        Recompute recompute = Recompute::none) {
        const Backend backend{Device::cpu, dtype, threads};
        transformer = plan_and_commit(arena, [&](Arena& a) {
            return std::make_unique<Transformer>(a, config, backend, B, Purpose::training, recompute);
        });
        exec = make_exec(backend, arena);
        initialise(exec, transformer->parameters(), 1, config.init_std, config.layers());
        for (std::int64_t i = 0; i < B * kPixels; ++i) image.push_back(std::sin(static_cast<float>(i * i % 97)));
    }

    // The mean loss of the classes of images [first, first + n) over B images, and its gradients in the table.
    // kept (n, K): the rows of each image that both layers take.
    double train(std::int64_t first = 0, std::int64_t n = B, Accumulate accumulate = Accumulate::no,
                 std::vector<std::int32_t> kept = {}) {
        load(first, n);
        const std::vector<std::int32_t> set_of_layer(transformer->config().blocks.size(), 0);
        KeptTokens rows;
        if (!kept.empty())
            rows = {make_tensor(kept.data(), DType::i32, {1, n, static_cast<std::int64_t>(kept.size()) / n}),
                    set_of_layer};
        const DropoutKeys random{9, 4, make_tensor(&draw[static_cast<std::size_t>(first)], DType::i64, {n})};
        transformer->forward_backward(exec, n, T, rows, random, {0, 1.0 / B}, accumulate);
        return loss(n) / B;
    }

    // Logits (B, classes) without dropout; of a double model.
    std::vector<double> class_logits() {
        load(0, B);
        transformer->evaluate(exec, B, T);
        const std::int64_t classes = transformer->config().class_head->classes;
        std::vector<double> logits(static_cast<std::size_t>(B * classes));
        transformer->class_logits(exec, make_tensor(logits.data(), DType::f64, {B, classes}));
        return logits;
    }

    // The first value of the patch in row i, column j of image b.
    float& patch(std::int64_t b, std::int64_t i, std::int64_t j) {
        return image[static_cast<std::size_t>(((b * kHeight + 2 * i) * kWidth + 2 * j) * kChannels)];
    }
    // Changes the places of two patches of image b.
    void swap_patches(std::int64_t b, std::int64_t i, std::int64_t j, std::int64_t other_i, std::int64_t other_j) {
        for (std::int64_t row = 0; row < 2; ++row) {
            float* const one = &patch(b, i, j) + row * kWidth * kChannels;
            std::swap_ranges(one, one + 2 * kChannels, &patch(b, other_i, other_j) + row * kWidth * kChannels);
        }
    }

    double loss(std::int64_t n = B) const {
        const Tensor losses = transformer->class_loss.view({n});
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i)
            sum += losses.dtype == DType::f64 ? losses.as<double>()[i] : static_cast<double>(losses.as<float>()[i]);
        return sum;
    }

    template <class Real>
    std::vector<Real> gradients() const {
        return values<Real>(transformer->parameters().flat_gradients());
    }

 private:
    void load(std::int64_t first, std::int64_t n) {
        ModelInput input{.B = n, .T = T};
        input.image = &image[static_cast<std::size_t>(first * kPixels)];
        input.class_target = &class_target[static_cast<std::size_t>(first)];
        transformer->load(exec, input);
    }
};

}  // namespace deft::engine
