// The predicted step of engine/bench/step_model.h, against sums by hand and against the ops of steps that run.

#include "engine/bench/step_model.h"

#include <map>
#include <string>
#include <tuple>

#include "base/error.h"
#include "engine/bench/step.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::engine;

namespace {

PredictedStep predicted(const StepBench& bench, const std::string& card, DType dtype = DType::bf16) {
    const TrainerConfig config = trainer_config_of(bench);
    return predict_step(record_step(config, random_training_data(bench), dtype, 1), card_model(card), dtype);
}

using Work = std::map<std::tuple<std::string, std::string>, std::tuple<int, double, double>>;

// Calls, FLOPs and bytes of each op and shape. Ops on flat buffers are left out: a device's have a padded vocabulary.
Work work_of(const StepProfile& profile) {
    Work work;
    for (const ProfiledOp& op : profile.ops)
        if (op.shape.find(',') != std::string::npos) work[{op.op, op.shape}] = {op.calls, op.flops, op.bytes};
    return work;
}

}  // namespace

TEST_CASE("the predicted step of GPT-2 124M is the sum by hand") {
    const double R = 16 * 1024, C = 768, V = 50257, T = 1024, layers = 12;
    const double tensor = 795.7e12, copy = 4.242e12, launch = 1.63e-6;
    // Parameters with their padding: the vocabulary has 50304 rows.
    const double decayed = 124318464 + (50304 - 50257) * 768, undecayed = 121344;
    double sum = 0;
    sum += 3 * 2 * R * C * V / tensor * 6.5 / 4.768;                        // head: logits, dX, dW
    sum += layers * 2 * (2 * R * C * (T + 1) / 2) / tensor * 1.35 / 0.389;  // attention, 2 products
    sum += layers * 5 * (2 * R * C * (T + 1) / 2) / tensor * 6.0 / 0.973;   // its backward pass, 5
    sum += layers * 2 * R * C * 12 * C / tensor * 5.1 / 3.498;              // dW of qkv, proj, fc, fc2
    sum += layers * 2 * (2 * R * C * 12 * C) / tensor * 8.3 / 6.995;        // y and dX of these
    const double norm_forward = 2 * (2 * R * C + 2 * C) + 4 * 2 * R, with_residual = norm_forward + 2 * 2 * R * C;
    const double norm_backward = 2 * (3 * R * C + C) + 4 * (2 * R + 2 * C), adding = norm_backward + 2 * R * C;
    sum += (norm_forward + 24 * with_residual + norm_backward + 24 * adding) / copy * 1.4 / 1.170;
    sum += (2 * R * C + 4 * (2 * R * C + T * C) + 4 * R) / copy * 0.1 / 0.0304;  // embedding's backward pass
    const double rest = 1.4 / 1.010 / copy;
    sum += (2 * (R * C + R * C + T * C) + 4 * R) * rest;  // embedding
    sum += (30 * decayed + 16) * rest;                    // AdamW: 7 values of 4 bytes, and the rounded weight
    sum += (4 * (decayed + undecayed) + 8) * rest;        // gradient norm
    sum += 3 * launch;                                    // AdamW without decay, the root, the loss's sum
    const PredictedStep step = predicted(gpt2_124m_bench(16), "H200");
    CHECK(step.seconds == Approx(sum).epsilon(1e-6));
    CHECK(step.seconds == Approx(30e-3).epsilon(0.02));  // the sum of the table
}

TEST_CASE("a step on no device has the work of one that runs, with techniques too") {
    const StepBench bench = bench_of_sizes({4, 32, 2, 64, 16, 2});
    for (const StepArm& arm : step_arms(bench)) {
        INFO(arm.name);
        const TrainingData data = random_training_data(bench);
        Trainer trainer(arm.config, data, 1);
        CHECK(work_of(profile_steps(trainer, 1)) == work_of(record_step(arm.config, data, DType::f32, 1)));
    }
}

TEST_CASE("a later step on no device has the shapes of its curriculum") {
    const StepBench bench = bench_of_sizes({2, 32, 2, 64, 16, 2});
    TrainerConfig config = trainer_config_of(bench);
    config.techniques.seqtru = Pacing{8, 16, 1, 6};
    const TrainingData data = random_training_data(bench);
    CHECK(record_step(config, data, DType::bf16, 1).step == 3);
    const StepProfile late = record_step(config, data, DType::bf16, 20);
    CHECK(late.step == 20);
    CHECK(work_of(late) != work_of(record_step(config, data, DType::bf16, 1)));
}

TEST_CASE("a prediction takes the longest of its rooflines, at the kind's efficiency in bf16 alone") {
    const CardModel& card = card_model("H200");
    const auto seconds = [&](const char* op, double flops, double bytes, DType dtype) {
        return predicted_seconds({op, Phase::forward, "", 0, 0, flops, bytes}, card, dtype);
    };
    const double attention = kind_of_op("attention_forward").efficiency();
    CHECK(seconds("attention_forward", 795.7e12, 0, DType::bf16) == Approx(1 / attention));
    CHECK(seconds("attention_forward", 51e12, 0, DType::f32) == Approx(1));
    CHECK(seconds("attention_forward", 0, 4.242e12, DType::f32) == Approx(1));
    CHECK(seconds("layernorm_backward", 51e12, 1, DType::bf16) ==
          Approx(1 / kind_of_op("rmsnorm_forward").efficiency()));
    CHECK(seconds("square_root", 1, 16, DType::bf16) == Approx(1.63e-6));
    CHECK(std::string(kind_of_op("grouped_linear_backward_weight").name) == "weight gradients");
    CHECK(std::string(kind_of_op("linear_backward_input").name) == "other products");
    for (const OpKind& kind : op_kinds()) CHECK((kind.efficiency() > 0 && kind.efficiency() < 1));
}

TEST_CASE("a card is known by its driver's name, and others are not guessed") {
    CHECK(find_card_model("NVIDIA H200") == &card_model("H200"));
    CHECK(find_card_model("NVIDIA GH200 480GB") == nullptr);
    CHECK(find_card_model("") == nullptr);
    try {
        card_model("A100");
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::config);
        CHECK_THAT(error.what(), ContainsSubstring("A100") && ContainsSubstring("H100, H200"));
    }
}

TEST_CASE("a card of a data sheet has the shares of the H200") {
    const CardModel card = card_of_data_sheet({"V100", "fp16", 125e12, 15.7e12, 900e9});
    CHECK(card.tensor_flops.value == Approx(125e12 * 795.7 / 989));
    CHECK(card.ffma_flops.value == Approx(15.7e12 * 51.0 / 67));
    CHECK(card.copy_bytes.value == Approx(900e9 * 4.242 / 4.8));
    CHECK(card.launch_seconds.value == Approx(1.63e-6));
    CHECK(card.peak_flops == 125e12);
    CHECK_THAT(card.copy_bytes.source,
               ContainsSubstring("V100's data sheet x 0.884") && ContainsSubstring("unmeasured on V100"));
    const CardModel h200 = card_of_data_sheet({"H200", "bf16", 989e12, 67e12, 4.8e12});
    CHECK(h200.tensor_flops.value == Approx(card_model("H200").tensor_flops.value));
}

TEST_CASE("blank samples give a first step the work of random ones") {
    const StepBench bench = bench_of_sizes({4, 32, 2, 64, 16, 2});
    const TrainerConfig config = trainer_config_of(bench);
    const CardModel& card = card_model("H200");
    const double blank =
        predicted_seconds(record_first_step(config, blank_training_data(bench.model), DType::bf16), card, DType::bf16);
    CHECK(blank == Approx(predicted(bench, "H200").seconds));
}
