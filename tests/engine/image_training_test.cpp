// Images as rows of a step, and training on them.

#include <algorithm>
#include <string>

#include "base/json.h"
#include "engine/train/batches.h"
#include "engine/train/checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/bert_corpus.h"
#include "tests/engine/small_vit.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::engine;
using namespace deft::test;

namespace {

constexpr std::int64_t kPixels = ImageModel::kPixels;

StepPlan whole_step(const TrainerConfig& config) {
    return plan_step(config, 0);
}

std::vector<Sampler::Draw> image_draws(const std::vector<std::int64_t>& samples) {
    std::vector<Sampler::Draw> draws;
    for (const std::int64_t sample : samples) draws.push_back({sample, 0});
    return draws;
}

std::vector<float> image_row(const Batches& batches, std::int64_t row) {
    const float* const image = batches.rows(row, 1).image;
    return {image, image + kPixels};
}

// Crops by up to a pixel, and flips.
std::shared_ptr<const ImageSamples> augmented_images(std::int64_t count) {
    const auto samples = small_image_samples(count);
    samples->augmentation.crop_padding = 1;
    samples->augmentation.flip = true;
    return samples;
}

std::vector<float> image_weights_after(const TrainerConfig& config, const TrainingData& data, int threads, int steps) {
    Trainer trainer(config, data, threads);
    for (int step = 0; step < steps; ++step) trainer.step();
    return all_parameters<float>(trainer);
}

}  // namespace

TEST_CASE("training on images that are stretched is training on larger ones") {
    // Each image has one value a channel, so that its stretched copy is known.
    const auto even_images = [](std::int64_t side) {
        auto samples = small_image_samples(6);
        ImageSet& images = samples->images;
        images.height = images.width = side;
        images.pixels.clear();
        for (std::int64_t i = 0; i < 6 * images.channels; ++i)
            images.pixels.insert(images.pixels.end(), static_cast<std::size_t>(side * side),
                                 static_cast<std::uint8_t>(20 * i + 3));
        samples->augmentation.crop_padding = 1;
        return samples;
    };
    TrainerConfig config = small_vit_training(3, 4);
    config.model.input.patches = PatchConfig{.height = 6, .width = 6, .channels = 2, .size = 2};
    config.model.max_seqlen = 10;
    const auto stretched = even_images(3);
    stretched->augmentation.resize = 6;
    CHECK(image_weights_after(config, stretched, 2, 3) == image_weights_after(config, even_images(6), 1, 3));
    CHECK(refusal([&] { Trainer(config, even_images(3), 1); }, "the data has 3 x 3 x 2") != "accepted");
}

TEST_CASE("image rows: each augmented by the number of its draw, whatever the batch, and its label") {
    const auto samples = augmented_images(9);
    const TrainerConfig config = small_vit_training(3, 4);
    Batches batches(samples, config, Device::cpu);
    CHECK(sample_count(samples, 7) == 9);
    const std::vector<std::int64_t> numbers = {4, 1, 4, 8};
    batches.stage(whole_step(config), image_draws(numbers), 30);
    const ModelInput input = batches.rows(0, 4);
    CHECK(input.B == 4);
    CHECK(input.T == 7);
    CHECK(input.token == nullptr);
    CHECK(input.target == nullptr);
    CHECK(input.length == nullptr);
    CHECK(input.segment == nullptr);
    CHECK(Ids(input.class_target, input.class_target + 4) == Ids{1, 1, 1, 2});
    CHECK(std::vector<std::int64_t>(input.draw, input.draw + 4) == std::vector<std::int64_t>{30, 31, 32, 33});
    CHECK(batches.targets().classes == 4);
    CHECK(batches.targets().tokens == 0);
    CHECK(batches.tokens().input == 4 * 7);
    CHECK(batches.tokens().padding == 0);
    CHECK(batches.tokens().cut == 0);
    CHECK(batches.unique_tokens().count() == 3 * 7);
    std::vector<std::vector<float>> rows;
    for (std::int64_t row = 0; row < 4; ++row) {
        std::vector<float> expected(kPixels);
        write_augmented(samples->images, numbers[static_cast<std::size_t>(row)], samples->augmentation,
                        {config.seed, 30 + row}, expected);
        rows.push_back(image_row(batches, row));
        CHECK(rows.back() == expected);
        CHECK(batches.rows(row, 1).class_target[0] == input.class_target[row]);
        CHECK(batches.rows(row, 1).draw[0] == 30 + row);
    }
    CHECK(rows[0] != rows[2]);  // one image, drawn twice

    // The same draws in other company: 31 first, 33 last.
    TrainerConfig three = config;
    three.batch_size = three.micro_batch_size = 3;
    Batches later(samples, three, Device::cpu);
    later.stage(whole_step(three), image_draws({1, 4, 8}), 31);
    for (std::int64_t row = 0; row < 3; ++row) CHECK(image_row(later, row) == rows[static_cast<std::size_t>(row + 1)]);
    three.seed = 4;
    Batches of_another_seed(samples, three, Device::cpu);
    of_another_seed.stage(whole_step(three), image_draws({1, 4, 8}), 31);
    bool differs = false;
    for (std::int64_t row = 0; row < 3; ++row) differs |= image_row(of_another_seed, row) != image_row(later, row);
    CHECK(differs);
}

TEST_CASE("images are not those of another model, and no curriculum of lengths cuts them") {
    const auto samples = small_image_samples(9);
    const auto batches_of = [](const TrainingData& data, const TrainerConfig& config) {
        return refusal([&] { Batches(data, config, Device::cpu); });
    };
    const TrainerConfig right = small_vit_training(3, 4);
    CHECK(batches_of(samples, right) == "accepted");
    for (const PatchConfig& other : {PatchConfig{8, 4, 2, 2}, {6, 8, 2, 2}, {6, 4, 3, 2}}) {
        TrainerConfig config = right;
        config.model.input.patches = other;
        CHECK_THAT(batches_of(samples, config), ContainsSubstring("and the data has 6 x 4 x 2 in 3"));
    }
    TrainerConfig config = right;
    config.model.class_head->classes = 4;
    CHECK_THAT(batches_of(samples, config), ContainsSubstring("takes images of 6 x 4 x 2 in 4 classes"));
    config = right;
    config.model.class_head.reset();
    CHECK_THAT(batches_of(samples, config), ContainsSubstring("has no class head"));
    config = right;
    config.techniques.seqtru = Pacing{4, 7, 1, 10};
    CHECK_THAT(batches_of(samples, config), ContainsSubstring("would cut images"));
    config = right;
    config.techniques.seqres = Pacing{4, 7, 1, 10};
    CHECK_THAT(batches_of(samples, config), ContainsSubstring("would cut images"));
    const auto wrong_statistics = small_image_samples(9);
    wrong_statistics->augmentation.channels.mean.push_back(0);
    CHECK(batches_of(wrong_statistics, right) != "accepted");

    // Tokens and images do not meet, whichever is the model's and whichever the data's.
    const TrainerConfig of_tokens = tiny_config(3, 7, 4);
    CHECK_THAT(batches_of(samples, of_tokens), ContainsSubstring("images for a model that takes none"));
    for (const TrainingData& text : {TrainingData(tiny_corpus(400, 31)), TrainingData(small_samples(20))}) {
        Trainer trainer(right, text, 1);
        CHECK_THAT(refusal([&] { trainer.step(); }), ContainsSubstring("a model of images is given none"));
    }
    config = right;
    config.techniques.dropping = bypass_on({1}, {4, 4, 1, 0, 1});
    CHECK_THAT(refusal([&] { Trainer(config, samples, 1); }),
               ContainsSubstring("token_bypass chooses by tokens, and images have none"));
}

TEST_CASE("a batch of images is learnt by heart, with dropped tokens too") {
    const auto samples = small_image_samples(6);
    for (const bool drops : {false, true}) {
        TrainerConfig config = small_vit_training(3, 6);
        if (drops) keep_tokens(config, 5);
        Trainer trainer(config, samples, 1);
        const StepResult first = trainer.step();
        CHECK(first.loss == Approx(std::log(3)).epsilon(0.3));
        CHECK(first.class_loss == first.loss);
        CHECK(first.token_loss == 0);
        double last = 0;
        for (int step = 0; step < 150; ++step) last = trainer.step().loss;
        INFO((drops ? "dropped tokens" : "all tokens"));
        CHECK(last < 0.05);
        CHECK(trainer.kept().index.numel() == (drops ? 6 * 5 : 0));
        CHECK(trainer.unique_tokens() == 6 * 7);
        CHECK(trainer.counts().input_tokens == 151 * 6 * 7);
        // With the labels turned round, the same model is wrong.
        const auto turned = small_image_samples(6);
        for (std::int32_t& label : turned->images.labels) label = (label + 1) % 3;
        Batches other(turned, config, Device::cpu);
        other.stage(whole_step(config), image_draws({0, 1, 2, 3, 4, 5}), 0);
        trainer.model().load(trainer.exec(), other.rows(0, 6));
        trainer.model().evaluate(trainer.exec(), 6, 7);
        for (const std::int32_t hit : values<std::int32_t>(trainer.model().class_greedy)) CHECK(hit == 0);
    }
}

TEST_CASE("training on images has the same bits for any number of threads, recomputed, and after a restart") {
    TrainerConfig config = small_vit_training(4, 6);
    config.micro_batch_size = 4;
    config.model.input.dropout = 0.1;
    for (BlockConfig& block : config.model.blocks) block.dropout = block.attention.dropout = 0.1;
    config.techniques.dropping = random_ltd(4, {3, 7, 1, 6, 1});
    const auto samples = augmented_images(20);
    const std::vector<float> weights = image_weights_after(config, samples, 1, 8);
    CHECK(image_weights_after(config, samples, 2, 8) == weights);
    CHECK(image_weights_after(config, samples, 3, 8) == weights);
    for (const Recompute recompute : {Recompute::activation, Recompute::block}) {
        TrainerConfig again = config;
        again.recompute = recompute;
        CHECK(image_weights_after(again, samples, 2, 8) == weights);
        CHECK(plan_memory(again, Backend{}).bytes < plan_memory(config, Backend{}).bytes);
    }

    const TemporaryFolder folder;
    Trainer before(config, samples, 1), after(config, samples, 2);
    for (int step = 0; step < 3; ++step) before.step();
    save_checkpoint(before, folder / "c", Json::object(), Tokenizer::bytes());
    after.step();  // what is restored must not depend on what was there
    load_checkpoint(after, folder / "c");
    for (int step = 3; step < 8; ++step) {
        const StepResult a = before.step(), b = after.step();
        CHECK(a.loss == b.loss);
        CHECK(a.grad_norm == b.grad_norm);
    }
    CHECK(all_parameters<float>(after) == weights);
    CHECK(after.unique_tokens() == before.unique_tokens());
    CHECK(after.counts().flops == before.counts().flops);

    // The test can fail: what is cropped and flipped depends on the draw's number.
    CHECK(image_weights_after(config, small_image_samples(20), 1, 8) != weights);
}

TEST_CASE("micro-batches of images change a step by rounding alone") {
    TrainerConfig config = small_vit_training(4, 6);
    keep_tokens(config, 4);
    const auto samples = augmented_images(20);
    Trainer whole(config, samples, 1);
    const StepResult a = whole.accumulate_gradients();
    const auto expected = values<float>(whole.model().parameters().flat_gradients());
    for (const std::int64_t at_once : {1, 2, 4}) {
        config.micro_batch_size = at_once;
        Trainer split(config, samples, 1);
        const StepResult b = split.accumulate_gradients();
        CHECK(b.loss == Approx(a.loss).epsilon(1e-6));
        CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-5));
        const auto gradients = values<float>(split.model().parameters().flat_gradients());
        for (std::size_t i = 0; i < expected.size(); ++i)
            REQUIRE(gradients[i] == Approx(expected[i]).epsilon(1e-4).margin(1e-6));
    }
}
