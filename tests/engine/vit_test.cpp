// Models of images: gradients, what must make no difference, and their sizes by hand.

#include "tests/engine/finite_differences.h"
#include "tests/engine/small_vit.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::engine;
using deft::test::refusal;

namespace {

std::vector<NamedModel> small_vits() {
    std::vector<NamedModel> models;
    for (const auto positions : {PositionsOf::learned, PositionsOf::rope, PositionsOf::none})
        for (const auto pooling : {Pooling::first, Pooling::mean})
            for (const double dropout : {0.0, 0.3})
                models.push_back({"positions " + std::to_string(static_cast<int>(positions)) +
                                      (pooling == Pooling::mean ? " mean" : " first") + (dropout > 0 ? " dropout" : ""),
                                  small_vit(positions, pooling, dropout)});
    return models;
}

// The kept rows of each of the three images; the class token stays in the first and the last.
const std::vector<std::int32_t> kThreeRows = {0, 2, 6, 1, 2, 5, 0, 4, 5};

TransformerConfig vit_b16() {
    TransformerConfig config = gpt2_config(12, 768, 12, 197, 0);
    for (BlockConfig& block : config.blocks) {
        block.attention.causal = false;
        block.feed_forward.activation = Activation::gelu_erf;
    }
    config.input.patches = PatchConfig{.height = 224, .width = 224, .channels = 3, .size = 16};
    config.head.reset();
    config.class_head = ClassHeadConfig{.classes = 1000};
    return config;
}

}  // namespace

TEST_CASE("models of images have the gradients of finite differences, with kept tokens too") {
    for (const NamedModel& named : small_vits())
        for (const auto& kept : {std::vector<std::int32_t>{}, kThreeRows}) {
            INFO(named.name << (kept.empty() ? "" : ", kept tokens"));
            ImageModel model(named.config);
            check_finite_differences(model.transformer->parameters(), 1e-9,
                                     [&] { return model.train(0, ImageModel::B, Accumulate::no, kept); });
        }
}

TEST_CASE("keeping every token of images, and splitting a batch of them, change only rounding") {
    std::vector<std::int32_t> all(ImageModel::B * ImageModel::T);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i % ImageModel::T);
    for (const NamedModel& named : small_vits()) {
        INFO(named.name);
        ImageModel model(named.config);
        const double loss = model.train();
        const auto gradients = model.gradients<double>();
        CHECK(model.train(0, ImageModel::B, Accumulate::no, all) == Approx(loss).epsilon(1e-12));
        check_close(model.gradients<double>(), gradients);
        CHECK(model.train(0, ImageModel::B, Accumulate::no, kThreeRows) != Approx(loss).epsilon(1e-6));
        const double first = model.train(0, 1, Accumulate::no), rest = model.train(1, 2, Accumulate::yes);
        CHECK(first + rest == Approx(loss).epsilon(1e-12));
        check_close(model.gradients<double>(), gradients);
    }
}

TEST_CASE("the float model of images is the double model, with the same bits on any threads and however recomputed") {
    for (const NamedModel& named : small_vits())
        for (const auto& kept : {std::vector<std::int32_t>{}, kThreeRows}) {
            INFO(named.name);
            ImageModel exact(named.config), plain(named.config, DType::f32);
            CHECK(plain.train(0, 3, Accumulate::no, kept) ==
                  Approx(exact.train(0, 3, Accumulate::no, kept)).epsilon(1e-5));
            const auto gradients = plain.gradients<float>();
            const auto expected = exact.gradients<double>();
            double error = 0, size = 0;
            for (std::size_t i = 0; i < expected.size(); ++i) {
                error += std::pow(static_cast<double>(gradients[i]) - expected[i], 2);
                size += std::pow(expected[i], 2);
            }
            CHECK(error < 1e-9 * size);
            for (const auto& [threads, recompute] : {std::pair{1, Recompute::activation},
                                                     {1, Recompute::block},
                                                     {2, Recompute::none},
                                                     {3, Recompute::block}}) {
                ImageModel other(named.config, DType::f32, threads, recompute);
                other.train(0, 3, Accumulate::no, kept);
                CHECK((other.gradients<float>() == gradients));
            }
        }
}

TEST_CASE("without positions the classes of an image are those of its patches in any order") {
    for (const auto pooling : {Pooling::first, Pooling::mean})
        for (const auto positions : {PositionsOf::none, PositionsOf::learned, PositionsOf::rope}) {
            ImageModel model(small_vit(positions, pooling));
            const std::vector<double> before = model.class_logits();
            model.swap_patches(0, 0, 0, 2, 1);
            model.swap_patches(0, 1, 0, 0, 1);
            model.swap_patches(2, 0, 1, 1, 1);
            const std::vector<double> after = model.class_logits();
            const bool is_blind = positions == PositionsOf::none;
            for (std::size_t image = 0; image < 3; ++image) {
                double largest = 0;
                for (std::size_t c = 3 * image; c < 3 * image + 3; ++c)
                    largest = std::max(largest, std::abs(after[c] - before[c]));
                INFO("image " << image << ", positions " << static_cast<int>(positions));
                CHECK((largest < 1e-12) == (is_blind || image == 1));  // the second image has not changed
                CHECK((largest < 1e-4) == (is_blind || image == 1));
            }
        }
}

TEST_CASE("a model reads every pixel of an image, and each image alone") {
    ImageModel model(small_vit(PositionsOf::learned, Pooling::first));
    const std::vector<double> before = model.class_logits();
    for (std::int64_t p = 0; p < ImageModel::kPixels; ++p) {
        float& pixel = model.image[static_cast<std::size_t>(ImageModel::kPixels + p)];
        const float saved = pixel;
        pixel += 1;
        const std::vector<double> after = model.class_logits();
        pixel = saved;
        INFO("pixel " << p);
        CHECK(std::abs(after[3] - before[3]) > 1e-9);
        for (const std::size_t other : {0, 1, 2, 6, 7, 8}) CHECK(after[other] == before[other]);
    }
}

TEST_CASE("losses of images are those of their classes' logits, and one without a class has no part in them") {
    ImageModel model(small_vit(PositionsOf::learned, Pooling::mean));
    const std::vector<double> logits = model.class_logits();
    const auto loss = values<double>(model.transformer->class_loss);
    const auto hit = values<std::int32_t>(model.transformer->class_greedy);
    for (std::size_t b = 0; b < 3; ++b) {
        const std::int32_t target = model.class_target[b];
        double sum = 0;
        for (std::size_t c = 0; c < 3; ++c) sum += std::exp(logits[3 * b + c]);
        const double expected = target < 0 ? 0 : std::log(sum) - logits[3 * b + static_cast<std::size_t>(target)];
        CHECK(loss[b] == Approx(expected).epsilon(1e-9));
        const auto likeliest = std::max_element(&logits[3 * b], &logits[3 * b] + 3) - &logits[3 * b];
        CHECK((hit[b] != 0) == (likeliest == target));
    }
    const double of_two = model.train();
    CHECK(of_two == Approx((loss[0] + loss[2]) / 3).epsilon(1e-12));
    CHECK_FALSE(model.transformer->loss);
    CHECK_FALSE(model.transformer->token);
}

TEST_CASE("dropout of images is of training alone, and of the number of an image's draw") {
    ImageModel model(small_vit(PositionsOf::learned, Pooling::first, 0.3));
    const double loss = model.train();
    const auto gradients = model.gradients<double>();
    CHECK(model.train() == loss);
    const std::vector<double> without = model.class_logits();
    CHECK(model.class_logits() == without);
    CHECK(model.loss() / ImageModel::B != Approx(loss).epsilon(1e-3));
    model.draw[2] = 4;
    CHECK(model.train() != Approx(loss).epsilon(1e-6));
    CHECK((model.gradients<double>() != gradients));

    // The input's alone: no block drops anything.
    TransformerConfig at_input = small_vit(PositionsOf::learned, Pooling::first);
    ImageModel plain(at_input);
    at_input.input.dropout = 0.3;
    ImageModel dropped(at_input);
    CHECK(dropped.train() != Approx(plain.train()).epsilon(1e-6));
    CHECK(dropped.class_logits() == plain.class_logits());
}

TEST_CASE("ViT-B/16 has 86,567,656 parameters, and its FLOPs by hand") {
    // Dosovitskiy et al. 2021, table 1; the count is that of the released weights with 1000 classes.
    const ModelSize size = model_size(vit_b16());
    constexpr double C = 768, T = 197, patches = 196, values = 16 * 16 * 3, classes = 1000;
    const double linear = values * C + C, block = 12 * C * C + 13 * C, norm = 2 * C, head = classes * C + classes;
    CHECK(static_cast<double>(size.parameters) == linear + C + T * C + 12 * block + norm + head);
    CHECK(size.parameters == 86'567'656);
    // Six for each parameter that a row meets, and of both sides' attention 12 C for each pair of rows. The patches'
    // layer meets all rows but the token's, the head one row; token and positions are additions.
    REQUIRE(size.flops.blocks.size() == 12);
    CHECK(size.flops.blocks[5].of(197) == 6 * block * T + 12 * C * T * T);
    CHECK(size.flops.rest.of(197) == 6 * (linear * patches + norm * T + head));

    TransformerConfig plain = vit_b16();
    plain.input.positions = Positions::none;
    CHECK(model_size(plain).parameters == 86'567'656 - 197 * 768);
}

TEST_CASE("a model of images refuses what is none, and a model of tokens images") {
    ImageModel model(small_vit(PositionsOf::learned, Pooling::first));
    Model of_tokens(small_bert());
    ModelInput tokens{3,
                      6,
                      of_tokens.token.data(),
                      of_tokens.target.data(),
                      nullptr,
                      of_tokens.segment.data(),
                      of_tokens.class_target.data()};
    const double loss = model.train();
    CHECK_THAT(refusal([&] { model.transformer->load(model.exec, tokens); }),
               ContainsSubstring("a model of images is given none"));
    CHECK_THAT(refusal([&] { model.transformer->evaluate(model.exec, PackedSamples{}); }),
               ContainsSubstring("a model of images is given none"));
    tokens.image = model.image.data();
    CHECK_THAT(refusal([&] { of_tokens.transformer->load(of_tokens.exec, tokens); }),
               ContainsSubstring("a model of tokens is given images"));
    ModelInput without_classes{.B = 3, .T = 7};
    without_classes.image = model.image.data();
    CHECK_THAT(refusal([&] { model.transformer->load(model.exec, without_classes); }),
               ContainsSubstring("with 3 classes is given none"));
    CHECK(model.train() == loss);
    model.class_target[0] = 3;
    CHECK_THAT(refusal([&] { model.train(); }), ContainsSubstring("class 3 of a model with 3 classes"));
}

TEST_CASE("patches divide their image, and a model of images has what such a model can have") {
    const auto of_patches = [](PatchConfig patches) {
        TransformerConfig config = small_vit(PositionsOf::learned, Pooling::first);
        config.input.patches = patches;
        config.max_seqlen = patches.seqlen();
        return config;
    };
    CHECK(PatchConfig{6, 4, 2, 2}.seqlen() == 7);
    CHECK(PatchConfig{6, 9, 2, 3}.patches() == 6);
    CHECK(PatchConfig{6, 9, 2, 3}.values() == 18);
    CHECK(model_size(of_patches({6, 9, 2, 3})).parameters > 0);
    CHECK_THAT(refusal([&] {
                   model_size(of_patches({6, 4, 2, 3}));
               }),
               ContainsSubstring("images of 6 x 4 x 2 cannot be cut into patches of 3 x 3"));
    CHECK_THAT(refusal([&] { model_size(of_patches({5, 4, 2, 2})); }), ContainsSubstring("images of 5 x 4 x 2"));
    CHECK_THAT(refusal([&] { model_size(of_patches({6, 4, 0, 2})); }), ContainsSubstring("images of 6 x 4 x 0"));

    TransformerConfig wrong = small_vit(PositionsOf::learned, Pooling::first);
    wrong.max_seqlen = 6;
    CHECK_THROWS_AS(model_size(wrong), std::logic_error);
    wrong = small_vit(PositionsOf::learned, Pooling::first);
    wrong.input.segments = 2;
    CHECK_THROWS_AS(model_size(wrong), std::logic_error);
    wrong = small_vit(PositionsOf::learned, Pooling::first);
    wrong.head = HeadConfig{};
    CHECK_THROWS_AS(model_size(wrong), std::logic_error);
}
