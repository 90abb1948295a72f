// Whole training steps on the CUDA device, real or emulated, against the CPU.

#include <cmath>
#include <tuple>

#include "base/error.h"
#include "engine/core/exec.h"
#include "engine/train/accounting.h"
#include "engine/train/checkpoint.h"
#include "experiments/datasets/packed_dataset.h"
#include "experiments/engine_config.h"
#include "sweeps/driver/slots.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/spec.h"
#include "tests/catch.h"
#include "tests/cuda/schedule.h"
#include "tests/cuda/short_steps.h"
#include "tests/engine/bert_corpus.h"
#include "tests/engine/distance.h"
#include "tests/engine/labelled_texts.h"
#include "tests/engine/model_parts.h"
#include "tests/engine/small_vit.h"
#include "tests/engine/tiny.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::engine;
using deft::kernels::cuda::use_schedule;

namespace {

constexpr Backend kGpu{Device::cuda, DType::f32, 1};
constexpr Backend kGpuBf16{Device::cuda, DType::bf16, 1};

// Largest difference, relative to the root mean square of `b`.
double largest_distance(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = 0, power = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
        power += static_cast<double>(b[i]) * static_cast<double>(b[i]);
    }
    return largest / std::sqrt(power / static_cast<double>(b.size()));
}

std::vector<double> losses(Trainer& trainer, int steps) {
    std::vector<double> result;
    for (int i = 0; i < steps; ++i) result.push_back(trainer.step().loss);
    return result;
}

// In bf16, whatever a device computes again, the weights after three steps have the same bits. `expected`: losses that
// those steps are near to, or none.
void check_recomputed(TrainerConfig config, const TrainingData& data, const std::vector<double>& expected = {},
                      double epsilon = 0) {
    std::vector<std::vector<float>> weights;
    for (const Recompute recompute : {Recompute::none, Recompute::activation, Recompute::block}) {
        config.recompute = recompute;
        Trainer rounded(config, data, kGpuBf16);
        for (std::size_t step = 0; step < 3; ++step) {
            const double loss = rounded.step().loss;
            if (!expected.empty()) CHECK(loss == Approx(expected[step]).epsilon(epsilon));
        }
        weights.push_back(all_parameters<float>(rounded));
    }
    CHECK((weights[1] == weights[0]));
    CHECK((weights[2] == weights[0]));
}

}  // namespace

TEST_CASE("a device that computes activations again has the same bits, in f32 and in bf16") {
    TrainerConfig config = short_steps();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    for (const Backend& backend : {kGpu, kGpuBf16}) {
        INFO(dtype_name(backend.dtype));
        std::vector<std::vector<float>> weights;
        for (const Recompute recompute : {Recompute::none, Recompute::activation, Recompute::block}) {
            config.recompute = recompute;
            Trainer trainer(config, corpus, backend);
            for (int step = 0; step < 3; ++step) trainer.step();
            weights.push_back(all_parameters<float>(trainer));
        }
        CHECK(weights[1] == weights[0]);
        CHECK(weights[2] == weights[0]);
    }
}

TEST_CASE("a device trains as the CPU does, in f32") {
    const TrainerConfig config = short_steps();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer cpu(config, corpus, 1), gpu(config, corpus, kGpu);
    CHECK(all_parameters<float>(gpu) == all_parameters<float>(cpu));
    for (int step = 0; step < 4; ++step) {
        const StepResult a = cpu.step(), b = gpu.step();
        CHECK(b.loss == Approx(a.loss).epsilon(1e-5));
        CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-4));
        REQUIRE(gpu.kept().index.numel() == cpu.kept().index.numel());
        CHECK(host_copy<std::int32_t>(gpu.exec(), gpu.kept().index) ==
              host_copy<std::int32_t>(cpu.exec(), cpu.kept().index));
    }
    CHECK(gpu.counts().flops == cpu.counts().flops);
    CHECK(largest_distance(all_parameters<float>(gpu), all_parameters<float>(cpu)) <
          0.02);  // AdamW amplifies rounding where gradients are tiny
}

TEST_CASE("a device trains by SGD as the CPU does, warmed up in steps") {
    TrainerConfig config = short_steps();
    config.optimizer.kind = OptimizerKind::sgd;
    config.learning_rate = {.max = 0.1, .decay_tokens = 1'000'000, .decay = Decay::step, .warmup_steps = 2};
    config.learning_rate.warmup_tokens = layer_tokens_after(config, 2);
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer cpu(config, corpus, 1), gpu(config, corpus, kGpu);
    CHECK(gpu.arena().region_bytes(Region::optimizer) == gpu.arena().region_bytes(Region::gradients));
    for (int step = 0; step < 5; ++step) {
        const StepResult a = cpu.step(), b = gpu.step();
        CHECK(b.lr == a.lr);
        CHECK(b.loss == Approx(a.loss).epsilon(1e-5));
    }
    CHECK(largest_distance(all_parameters<float>(gpu), all_parameters<float>(cpu)) < 1e-3);
}

TEST_CASE("a device trains with moments in bf16 near the CPU, and its two runs have the same bits") {
    TrainerConfig config = short_steps();
    config.optimizer.rounds_moments = true;
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::sgd}) {
        config.optimizer.kind = kind;
        Trainer cpu(config, corpus, 1), gpu(config, corpus, kGpu), again(config, corpus, kGpu);
        CHECK(2 * gpu.arena().region_bytes(Region::optimizer) ==
              moments_of(config.optimizer).count * gpu.arena().region_bytes(Region::gradients));
        for (int step = 0; step < 6; ++step) CHECK(gpu.step().loss == Approx(cpu.step().loss).epsilon(5e-3));
        for (int step = 0; step < 6; ++step) again.step();
        CHECK((all_parameters<float>(again) == all_parameters<float>(gpu)));
    }
}

TEST_CASE("models of other parts train on a device as on the CPU, and computed again to the same bits in bf16") {
    TrainerConfig llama = short_steps(), post = short_steps(), bert = short_steps();
    llama.model = small_llama();
    post.model = model_of(NormKind::layer, NormPlacement::post, PositionsOf::learned, Activation::gelu_erf, 1, 0.2);
    post.model.class_head.reset();
    bert.model = small_bert();
    bert.model.class_head = ClassHeadConfig{.pooler = true};
    TrainerConfig padded = bert;  // packed, as it is, and each sample in a row of its own
    padded.packs_samples = false;
    for (TrainerConfig* config : {&llama, &post, &bert, &padded}) {
        config->model.blocks.resize(4, config->model.blocks[0]);
        config->model.max_seqlen = 11;
        config->model.vocab = 31;
        TrainingData corpus = tiny_corpus(900, 31);
        if (config->model.class_head) corpus = test::small_samples(11);
        Trainer cpu(*config, corpus, 1), gpu(*config, corpus, kGpu);
        for (int step = 0; step < 4; ++step) {
            const StepResult a = cpu.step(), b = gpu.step();
            CHECK(b.token_loss == Approx(a.token_loss).epsilon(1e-5));
            CHECK(b.class_loss == Approx(a.class_loss).epsilon(1e-5));
            CHECK((a.class_loss > 0) == config->model.class_head.has_value());
        }
        CHECK(rms_distance(all_parameters<float>(gpu), all_parameters<float>(cpu)) < 1e-3);
        check_recomputed(*config, corpus);
    }
}

TEST_CASE("a model with experts trains on a device as on the CPU, and computed again to the same bits in bf16") {
    const ExpertsConfig dropping = drawn_experts();
    const ExpertsConfig ordered{.count = 4,
                                .top = 2,
                                .capacity_factor = 0.75,
                                .min_capacity = 2,
                                .random_token_selection = false,
                                .z_weight = 0.1};
    const ExpertsConfig residual{.count = 5, .top = 3, .capacity_factor = 0, .residual = true};
    for (const ExpertsConfig& experts : {dropping, ordered, residual}) {
        INFO("top " << experts.top);
        TrainerConfig config = short_steps();
        config.model.blocks[1].experts = experts;
        config.model.blocks[3].experts = experts;
        config.model.blocks[3].experts->count = experts.count + 1;  // a pyramid
        const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
        Trainer cpu(config, corpus, 1), gpu(config, corpus, kGpu);
        CHECK(all_parameters<float>(gpu) == all_parameters<float>(cpu));
        std::vector<double> cpu_losses;
        for (int step = 0; step < 4; ++step) {
            const StepResult a = cpu.step(), b = gpu.step();
            cpu_losses.push_back(a.loss);
            CHECK(b.token_loss == Approx(a.token_loss).epsilon(1e-5));
            CHECK(b.balance_loss == Approx(a.balance_loss).epsilon(1e-5));
            CHECK(b.z_loss == Approx(a.z_loss).epsilon(1e-5));
            CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-4));
            const std::vector<ExpertLoad> loads = cpu.expert_loads(), of_gpu = gpu.expert_loads();
            REQUIRE(of_gpu.size() == 2);
            for (std::size_t layer = 0; layer < 2; ++layer) {
                CHECK(of_gpu[layer].load == loads[layer].load);
                CHECK(of_gpu[layer].dropped == loads[layer].dropped);
                CHECK(of_gpu[layer].entropy == Approx(loads[layer].entropy).epsilon(1e-5));
            }
            CHECK((loads[0].dropped > 0) == (experts.capacity_factor > 0));
        }
        CHECK(gpu.counts().flops == cpu.counts().flops);
        CHECK(rms_distance(all_parameters<float>(gpu), all_parameters<float>(cpu)) < 1e-3);
        check_recomputed(config, corpus, cpu_losses, 0.05);
    }
}

TEST_CASE("a device's two runs with experts have the same bits, whatever the order of its blocks") {
    TrainerConfig config = short_steps();
    config.model.blocks[1].experts = ExpertsConfig{
        .count = 3, .top = 2, .capacity_factor = 0.75, .min_capacity = 1, .jitter = 0.01, .residual = true};
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    for (const Backend& backend : {kGpu, kGpuBf16}) {
        std::vector<std::vector<float>> weights;
        for (const std::uint64_t schedule : {1, 2}) {
            use_schedule(schedule);
            Trainer trainer(config, corpus, backend);
            losses(trainer, 3);
            weights.push_back(all_parameters<float>(trainer));
        }
        CHECK((weights[0] == weights[1]));
    }
}

TEST_CASE("a model of images trains on a device as on the CPU, and computed again to the same bits in bf16") {
    const auto samples = small_image_samples(9);
    samples->augmentation.crop_padding = 1;
    samples->augmentation.flip = true;
    for (const auto& [positions, pooling, drops] :
         {std::tuple{PositionsOf::learned, Pooling::first, true}, {PositionsOf::none, Pooling::mean, false}}) {
        TrainerConfig config = small_vit_training(4, 5);
        config.model = small_vit(positions, pooling, 0.2);
        config.model.blocks.resize(4, config.model.blocks[0]);
        config.micro_batch_size = 3;
        if (drops) keep_tokens(config, 4);
        Trainer cpu(config, samples, 1), gpu(config, samples, kGpu);
        CHECK(all_parameters<float>(gpu) == all_parameters<float>(cpu));
        std::vector<double> cpu_losses;
        for (int step = 0; step < 4; ++step) {
            const StepResult a = cpu.step(), b = gpu.step();
            cpu_losses.push_back(a.loss);
            CHECK(b.class_loss == Approx(a.class_loss).epsilon(1e-5));
            CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-4));
            if (!drops) continue;
            REQUIRE(gpu.kept().index.numel() == 2 * 2 * 4);  // of the two images of the last micro-batch, in two layers
            CHECK(host_copy<std::int32_t>(gpu.exec(), gpu.kept().index) ==
                  host_copy<std::int32_t>(cpu.exec(), cpu.kept().index));
        }
        // The gradient of a key's bias is nothing but rounding, for softmax takes no shift, and AdamW makes steps of
        // it.
        CHECK(rms_distance(all_parameters<float>(gpu), all_parameters<float>(cpu)) < 5e-3);
        check_recomputed(config, samples, cpu_losses, 0.05);
    }
}

TEST_CASE("a model of labelled texts trains on a device as on the CPU, packed and padded, and computed again in bf16") {
    for (const std::int64_t classes : {0, 3})
        for (const bool packs : {true, false}) {
            TrainerConfig config = test::labelled_training(classes, 7, 0.2);
            config.packs_samples = packs;
            config.micro_batch_size = 4;
            config.epoch_samples = 10;
            const auto samples = test::small_labelled_texts(10, classes);
            Trainer cpu(config, samples, 1), gpu(config, samples, kGpu);
            std::vector<double> cpu_losses;
            for (int step = 0; step < 4; ++step) {
                const StepResult a = cpu.step(), b = gpu.step();
                cpu_losses.push_back(a.loss);
                CHECK(b.class_loss == Approx(a.class_loss).epsilon(1e-5));
                CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-4));
            }
            CHECK(rms_distance(all_parameters<float>(gpu), all_parameters<float>(cpu)) < 5e-3);
            check_recomputed(config, samples, cpu_losses, 0.1);
        }
}

TEST_CASE("a device learns with token bypass what the CPU learns, and keeps the same tokens") {
    TrainerConfig config = short_steps();
    config.techniques.dropping = bypass_on({1, 2}, {5, 11, 1, 6, 1}, 1, {0.5, {3, 30}});
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer cpu(config, corpus, 1);
    for (const Backend& backend : {kGpu, kGpuBf16}) {
        Trainer gpu(config, corpus, backend);
        CHECK(host_copy<float>(gpu.exec(), gpu.dropper_state()) == host_copy<float>(cpu.exec(), cpu.dropper_state()));
    }
    Trainer gpu(config, corpus, kGpu);
    for (int step = 0; step < 3; ++step) {
        CHECK(gpu.step().loss == Approx(cpu.step().loss).epsilon(1e-5));
        REQUIRE(gpu.kept().index.numel() > 0);
        CHECK(host_copy<std::int32_t>(gpu.exec(), gpu.kept().index) ==
              host_copy<std::int32_t>(cpu.exec(), cpu.kept().index));
        const auto a = host_copy<float>(gpu.exec(), gpu.dropper_state()), b = values<float>(cpu.dropper_state());
        for (std::size_t v = 0; v < b.size(); ++v) CHECK(a[v] == Approx(b[v]).epsilon(1e-4));
    }
}

TEST_CASE("a device's gradients are the CPU's, in f32 and in bf16") {
    const TrainerConfig config = short_steps();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer cpu(config, corpus, 1);
    cpu.accumulate_gradients();
    for (const Backend& backend : {kGpu, kGpuBf16}) {
        Trainer gpu(config, corpus, backend);
        gpu.accumulate_gradients();
        // bf16 keeps 8 bits: each rounding is off by 2^-9 = 0.2% at most, and some hundred follow each other.
        const double bound = backend.dtype == DType::f32 ? 1e-5 : 0.03;
        for (std::size_t i = 0; i < cpu.model().parameters().all().size(); ++i) {
            const Parameter &a = gpu.model().parameters()[i], &b = cpu.model().parameters()[i];
            INFO(dtype_name(backend.dtype) << " " << a.name);
            CHECK(rms_distance(host_copy<float>(gpu.exec(), a.grad), host_copy<float>(cpu.exec(), b.grad)) < bound);
        }
    }
}

TEST_CASE("bf16 training stays near f32 training, and its weights stay f32") {
    const TrainerConfig config = short_steps();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer cpu(config, corpus, 1), gpu(config, corpus, kGpuBf16);
    const auto a = losses(cpu, 4), b = losses(gpu, 4);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(b[i] == Approx(a[i]).epsilon(0.02));
    const Parameter& p = gpu.model().parameters()[0];
    CHECK(p.value.dtype == DType::f32);
    CHECK(p.grad.dtype == DType::f32);
    REQUIRE(p.compute.dtype == DType::bf16);
    const auto value = host_copy<float>(gpu.exec(), p.value);
    const auto rounded = host_copy<kernels::bf16>(gpu.exec(), p.compute);
    for (std::size_t i = 0; i < value.size(); ++i) REQUIRE(rounded[i].bits == kernels::to_bf16(value[i]).bits);
}

TEST_CASE("two runs on a device have the same bits") {
    const TrainerConfig config = short_steps();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    for (const Backend& backend : {kGpu, kGpuBf16}) {
        std::vector<std::vector<float>> weights;
        for (const std::uint64_t schedule : {1, 2}) {
            use_schedule(schedule);
            Trainer trainer(config, corpus, backend);
            losses(trainer, 3);
            weights.push_back(all_parameters<float>(trainer));
        }
        CHECK(weights[0] == weights[1]);
    }
}

TEST_CASE("a run may start on one backend and go on on the other") {
    const TrainerConfig config = short_steps();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const deft::test::TemporaryFolder folder;
    Trainer whole(config, corpus, 1);
    const std::vector<double> expected = losses(whole, 6);
    const Backend cpu{};
    for (const auto& [from, to] : {std::pair{cpu, kGpu}, {kGpu, cpu}, {kGpu, kGpu}}) {
        Trainer first(config, corpus, from);
        losses(first, 3);
        save_checkpoint(first, folder / "c", {}, Tokenizer::bytes());
        Trainer second(config, corpus, to);
        load_checkpoint(second, folder / "c");
        CHECK(all_parameters<float>(second) == all_parameters<float>(first));
        for (const DType dtype : {DType::f32, DType::bf16})  // a file does not depend on its device
            CHECK(save_weights(first, folder / "w", {}, Tokenizer::bytes(), dtype) ==
                  save_weights(second, folder / "w", {}, Tokenizer::bytes(), dtype));
        const std::vector<double> rest = losses(second, 3);
        for (std::size_t i = 0; i < rest.size(); ++i) CHECK(rest[i] == Approx(expected[3 + i]).epsilon(1e-4));
    }
}

TEST_CASE("evaluation on a device gives the CPU's losses") {
    const TrainerConfig config = short_steps();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer cpu(config, corpus, 1), gpu(config, corpus, kGpu);
    constexpr std::int64_t B = 2, T = 9;
    std::vector<std::int32_t> token(B * T), target(B * T);
    for (std::int32_t i = 0; i < B * T; ++i) {
        token[static_cast<std::size_t>(i)] = i % 31;
        target[static_cast<std::size_t>(i)] = i % 4 == 0 ? kernels::kIgnoreTarget : i * 7 % 31;
    }
    std::vector<std::vector<float>> loss;
    std::vector<std::vector<std::int32_t>> greedy;
    for (Trainer* trainer : {&cpu, &gpu}) {
        trainer->model().load(trainer->exec(), {B, T, token.data(), target.data()});
        trainer->model().evaluate(trainer->exec(), B, T);
        loss.push_back(host_copy<float>(trainer->exec(), trainer->model().loss.view({B, T})));
        greedy.push_back(host_copy<std::int32_t>(trainer->exec(), trainer->model().greedy.view({B, T})));
    }
    for (std::size_t i = 0; i < loss[0].size(); ++i) CHECK(loss[1][i] == Approx(loss[0][i]).epsilon(1e-5));
    CHECK(greedy[0] == greedy[1]);
    token[3] = 31;
    CHECK_THROWS_WITH(gpu.model().load(gpu.exec(), {B, T, token.data(), target.data()}),
                      ContainsSubstring("token 31 lies outside the vocabulary"));
}

TEST_CASE("a diverging step on a device leaves the weights of the step before") {
    TrainerConfig config = short_steps();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer trainer(config, corpus, kGpu);
    trainer.step();
    const Parameter& scale = parameter_of(trainer, "ln_f.weight");
    std::vector<float> broken(static_cast<std::size_t>(scale.value.numel()), 1.0f);
    broken[0] = NAN;
    write_tensor(trainer.exec(), scale.value, broken.data());
    const auto weights_of = [&] { return host_copy<float>(trainer.exec(), trainer.model().parameters()[0].value); };
    const std::vector<float> before = weights_of();
    CHECK_THROWS_WITH(trainer.step(), ContainsSubstring("diverged at step 2"));
    CHECK(weights_of() == before);
}

TEST_CASE("the quickstart's first steps on a device have the CPU's losses") {
    const deft::test::TemporaryFolder folder;
    const sweeps::Spec spec = sweeps::load_spec(std::string(DEFT_SOURCE_DIR) + "/sweeps/quickstart.toml");
    for (const sweeps::Trial& trial : sweeps::expand(spec)) {
        if (trial.recipe != "CL+random-LTD" || trial.seed != spec.seeds.front()) continue;
        const experiments::PackedDataset dataset =
            experiments::load_packed_dataset(trial.config.data, trial.config.base_folder, folder.path());
        TrainerConfig config = experiments::trainer_config(trial.config);
        Trainer cpu(config, dataset.train, 1), gpu(config, dataset.train, kGpu);
        for (int step = 0; step < 2; ++step) CHECK(gpu.step().loss == Approx(cpu.step().loss).epsilon(1e-5));
        return;
    }
    FAIL("the quickstart has no case CL+random-LTD");
}

TEST_CASE("what a device cannot run is refused before the start") {
    CHECK_THROWS_WITH(require_backend(kGpu, 129), ContainsSubstring("wider than the cuda backend's 128"));
    CHECK_THROWS_WITH(require_backend({Device::cuda, DType::f64, 1}, 32), ContainsSubstring("no f64"));
    CHECK_THROWS_WITH(require_backend({Device::cpu, DType::bf16, 1}, 32), ContainsSubstring("no bf16"));
    require_backend(kGpuBf16, 64);
}
