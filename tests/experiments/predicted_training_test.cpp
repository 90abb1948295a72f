// The prediction of a trial against the step model's sum for one step, and averages by hand.

#include "experiments/predicted_training.h"

#include "engine/bench/step.h"
#include "experiments/card_of_device.h"
#include "experiments/engine_config.h"
#include "tests/experiments/trial_config.h"

using namespace deft;
using namespace deft::experiments;

namespace {

// Samples of 64 tokens, 8 a step, 200 steps.
TrialConfig small_trial(const std::string& more = "", const std::string& train = "") {
    return test::resolved_trial(
        "data = { corpus = \"embedded\" }\n"
        "model = { layers = 4, width = 32, heads = 2, seqlen = 64 }\n"
        "train = { batch_size = 8, budget_tokens = 102_400" +
        train + " }\n" + more);
}

TrialConfig gpt2_trial(const std::string& more = "") {
    return test::resolved_trial(
        "data = { corpus = \"embedded\" }\n"
        "model = { preset = \"gpt2_small\", seqlen = 1024 }\n"
        "train = { batch_size = 16, micro_batch_size = 16, budget_tokens = 16_384_000 }\n" +
        more);
}

PredictedTraining predicted(const TrialConfig& config, std::int64_t devices = 1) {
    PredictedShapes shapes;
    return predict_training(config, project(config), {engine::card_model("H200"), engine::DType::bf16, devices},
                            shapes);
}

}  // namespace

TEST_CASE("the prediction of a trial without techniques is the step model's sum for one step") {
    const TrialConfig config = gpt2_trial();
    const engine::TrainerConfig trainer = trainer_config(config);
    const engine::StepProfile step =
        engine::record_step(trainer, engine::blank_training_data(trainer.model), engine::DType::bf16, 3);
    const double sum = engine::predict_step(step, engine::card_model("H200"), engine::DType::bf16).seconds;
    const PredictedTraining training = predicted(config);
    CHECK(training.ops_seconds() == Approx(sum));
    CHECK(training.steps == 1000);
    CHECK(training.seconds() == Approx(1000 * sum));
    CHECK(training.tokens_per_second() == Approx(16 * 1024 / sum));
    REQUIRE(training.sampled.size() == 9);
    for (const SampledStep& sampled : training.sampled) CHECK(sampled.seconds == training.sampled.front().seconds);
}

TEST_CASE("a schedule is sampled in the middles of equal parts, weighted by their steps") {
    const TrialConfig config = gpt2_trial("[curriculum.seqtru]\nmin = 256\nsteps = 500\ndifficulty_step = 256\n");
    const PredictedTraining training = predicted(config);
    const std::int64_t steps = training.steps;
    double share = 0, seconds = 0;
    for (std::size_t i = 0; i < 9; ++i) {
        const SampledStep& sampled = training.sampled[i];
        const std::int64_t first = static_cast<std::int64_t>(i) * steps / 9;
        const std::int64_t end = static_cast<std::int64_t>(i + 1) * steps / 9;
        CHECK(sampled.step == (first + end) / 2 + 1);
        CHECK(sampled.share == Approx(static_cast<double>(end - first) / static_cast<double>(steps)));
        share += sampled.share;
        seconds += static_cast<double>(end - first) * sampled.seconds;
    }
    CHECK(share == Approx(1));
    CHECK(training.seconds() == Approx(seconds));
    CHECK(training.sampled.front().seqlen == 256);
    CHECK(training.sampled.back().seqlen == 1024);
    CHECK(training.sampled.front().seconds < training.sampled.back().seconds);
}

// In f32 every product has the same rate. In bf16 attention reaches a lower share of it than other products, and its
// work falls with the square of the kept tokens. A large batch so saves more time than FLOPs.
TEST_CASE("random-LTD saves less predicted time than FLOPs where products have one rate, or the update is long") {
    const std::string keep_half = "random_ltd = { min = 512, pacing = \"constant\" }\n";
    const TrialConfig baseline = gpt2_trial(), kept = gpt2_trial(keep_half);
    const double flops = project(kept).step_flops / project(baseline).step_flops;
    const auto ratio = [&](engine::DType dtype, std::int64_t devices) {
        PredictedShapes shapes;
        const PredictedOn on{engine::card_model("H200"), dtype, devices};
        const double all = predict_training(baseline, project(baseline), on, shapes).ops_seconds();
        return predict_training(kept, project(kept), on, shapes).ops_seconds() / all;
    };
    for (const double seconds : {ratio(engine::DType::f32, 1), ratio(engine::DType::bf16, 16)}) {
        CHECK(flops < seconds);
        CHECK(seconds < 1);
    }
    CHECK(ratio(engine::DType::bf16, 1) < flops);
    CHECK(predicted(kept).sampled.front().kept == 512);
}

TEST_CASE("micro-batches after the second take the second's time") {
    const engine::StepBench bench = engine::bench_of_sizes({2, 32, 2, 64, 16, 11});
    engine::TrainerConfig config = engine::trainer_config_of(bench);
    config.micro_batch_size = 2;  // five, and a rest of one sample
    const engine::TrainingData data = engine::blank_training_data(bench.model);
    const engine::CardModel& card = engine::card_model("H200");
    const double all = engine::predicted_seconds(engine::record_first_step(config, data, engine::DType::bf16), card,
                                                 engine::DType::bf16);
    CHECK(predict_step_of_batch(config, data, card, engine::DType::bf16) == Approx(all));
}

TEST_CASE("a device trains its share of a step") {
    const TrialConfig config = small_trial("", ", micro_batch_size = 4");
    const PredictedTraining one = predicted(config), four = predicted(config, 4);
    CHECK(four.ops_seconds() < one.ops_seconds());
    CHECK(four.tokens_per_second() > one.tokens_per_second());
    CHECK(four.ops_seconds() == predicted(small_trial("", ", micro_batch_size = 2"), 4).ops_seconds());
    PredictedTraining exchanging = four;
    exchanging.between_devices = 1;
    CHECK(exchanging.seconds() == Approx(static_cast<double>(four.steps) * (four.ops_seconds() + 1)));
}

TEST_CASE("trials that differ in rates share predicted shapes, and those of other sizes do not") {
    PredictedShapes shapes;
    const PredictedOn on{engine::card_model("H200"), engine::DType::bf16, 1};
    const auto add = [&](const TrialConfig& config) {
        predict_training(config, project(config), on, shapes);
        return shapes.size();
    };
    CHECK(add(small_trial()) == 1);
    CHECK(add(small_trial("", ", learning_rate = 1e-5, budget_fraction = 0.5")) == 1);
    CHECK(add(small_trial("", ", micro_batch_size = 4")) == 2);
}

TEST_CASE("a trial whose shapes are unknown has no prediction, with the reason") {
    TrialConfig config = small_trial();
    Projection projection = project(config);
    CHECK(lacks_prediction(config, projection).empty());
    projection.memory_bytes = (std::int64_t{512} << 30) + 1;
    CHECK_THAT(lacks_prediction(config, projection), ContainsSubstring("512 GiB"));
    projection.has_steps = false;
    CHECK_THAT(lacks_prediction(config, projection), ContainsSubstring("number of steps"));
    projection.has_steps = true;
    config.train.expert_ranks = 2;
    CHECK_THAT(lacks_prediction(config, projection), ContainsSubstring("experts"));
    config.data.samples = SampleKind::labelled;
    CHECK_THAT(lacks_prediction(config, projection), ContainsSubstring("labelled"));
}

TEST_CASE("each GPU of hardware.toml has rates of the step model, and other devices state what they lack") {
    for (const Device& device : load_devices()) {
        INFO(device.name);
        const std::string lacks = lacks_rates(device, engine::DType::bf16);
        if (device.vendor != "NVIDIA") {
            CHECK_THAT(lacks, ContainsSubstring("memory_bytes_per_second"));
            continue;
        }
        CHECK(lacks.empty());
        const engine::CardModel card = card_of_device(device);
        CHECK(card.tensor_flops.value > 0.7 * device.peaks.front().flops);
        CHECK(card.copy_bytes.value < device.memory_bytes_per_second);
        CHECK_FALSE(card.ffma_flops.source.empty());
    }
    CHECK(card_of_device(device_named("H100-SXM", {})).copy_bytes.value == 3.01e12);
    CHECK(card_of_device(device_named("H200", {})).tensor_flops.value == 795.7e12);
    const engine::CardModel v100 = card_of_device(device_named("V100", {}));
    CHECK(v100.tensor_flops.value == Approx(125e12 * 795.7 / 989));
    CHECK_THAT(v100.tensor_flops.source, ContainsSubstring("V100's data sheet"));
    Device bare = device_named("V100", {});
    bare.peaks = {{"fp32", 15.7e12}};
    CHECK_THAT(lacks_rates(bare, engine::DType::bf16), ContainsSubstring("bf16 or fp16"));
    CHECK(lacks_rates(bare, engine::DType::f32).empty());
    CHECK(activations_of_peak("fp16") == engine::DType::bf16);
    CHECK(activations_of_peak("fp32") == engine::DType::f32);
}
