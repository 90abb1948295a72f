// Training on as many ranks as mpirun started, each on an emulated device of its own.

#include <span>
#include <vector>

#include "base/json.h"
#include "engine/train/checkpoint.h"
#include "engine/train/communication_plan.h"
#include "tests/catch.h"
#include "tests/engine/bert_corpus.h"
#include "tests/engine/distance.h"
#include "tests/engine/small_vit.h"
#include "tests/ranks/rank_trainers.h"
#include "tests/ranks/rank_values.h"

using namespace deft::engine;
using namespace deft::test;

namespace {

constexpr Backend kGpu{Device::cuda, DType::f32, 1};
constexpr Backend kGpuBf16{Device::cuda, DType::bf16, 1};

Trainer on_devices(const TrainerConfig& config, const TrainingData& data, const Backend& backend) {
    return {config, data, backend, InitialWeights::drawn, all_ranks()};
}

// n ranks against one with n micro-batches, on the CPU, as which a device trains.
void check_against_one_rank(TrainerConfig config, const TrainingData& data) {
    config.batch_size = config.micro_batch_size = kBatch;
    Trainer many = on_devices(config, data, kGpu);
    config.micro_batch_size = kBatch / all_ranks().size();
    Trainer one(config, data, 1);
    for (int step = 0; step < 2; ++step) {
        const StepResult a = one.step(), b = many.step();
        CHECK(b.loss == Approx(a.loss).epsilon(1e-5));
        CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-4));
    }
    CHECK(many.counts().layer_tokens == one.counts().layer_tokens);
    const std::vector<float> weights = all_parameters<float>(many);
    CHECK(rms_distance(weights, all_parameters<float>(one)) < 1e-3);
    CHECK(same_everywhere(weights));
}

// ZeRO-1 has the bits of plain data parallel, also once it is saved, and sends what is planned.
void check_zero(TrainerConfig config, const TrainingData& data, const Backend& backend) {
    config.batch_size = config.micro_batch_size = kBatch;
    config.optimizer.max_grad_norm = 0.05;
    Trainer plain = on_devices(config, data, backend);
    config.zero = 1;
    Trainer zero = on_devices(config, data, backend);
    const RankOf here = all_ranks().rank_of();
    CHECK(zero.arena().total_bytes() == plan_memory(config, backend, here).bytes);
    if (here.ranks > 1)
        CHECK(zero.arena().region_bytes(Region::optimizer) < plain.arena().region_bytes(Region::optimizer));
    const std::int64_t planned = planned_step_bytes(plan_memory(config, backend, here).exchanged, here, 1, true).all();
    for (int step = 0; step < 2; ++step) {
        const std::int64_t before = zero.bytes_sent();
        const StepResult a = plain.step(), b = zero.step();
        CHECK(zero.bytes_sent() - before == planned);
        CHECK(b.loss == a.loss);
        CHECK(b.grad_norm == a.grad_norm);
    }
    const SharedFolder folder;
    save_checkpoint(zero, folder / "zero", {}, Tokenizer::bytes());
    save_checkpoint(plain, folder / "plain", {}, Tokenizer::bytes());
    CHECK(read_manifest(folder / "zero").at("sha256") == read_manifest(folder / "plain").at("sha256"));
    CHECK((all_parameters<float>(zero) == all_parameters<float>(plain)));

    TrainerConfig of_one = config;
    of_one.zero = 0;
    Trainer one(of_one, data, backend, InitialWeights::later);
    load_checkpoint(one, folder / "zero");
    CHECK((all_parameters<float>(one) == all_parameters<float>(plain)));
    CHECK(one.step().loss == Approx(plain.step().loss).epsilon(backend.dtype == DType::bf16 ? 1e-3 : 1e-5));
}

TrainerConfig with_experts(std::int64_t top, double capacity_factor) {
    TrainerConfig config = tiny_config(4, 13, kBatch);
    for (const std::size_t layer : {1u, 3u})
        config.model.blocks[layer].experts = ExpertsConfig{.count = 12,
                                                           .top = top,
                                                           .capacity_factor = capacity_factor,
                                                           .jitter = 0.01,
                                                           .aux_weight = 0,
                                                           .z_weight = 0.01,
                                                           .residual = true};
    return config;
}

// Values of the device are summed in the order of ranks, in pieces that the scratch has room for.
template <class Value>
void check_sum(const Communicator& values_of, Exec& exec, const Tensor& buffer, std::int64_t count) {
    const std::vector<Value> own = values_of_rank<Value>(values_of.rank(), count);
    const Tensor values = make_tensor(buffer.data, dtype_of<Value>, {count});
    write_tensor(exec, values, own.data());
    values_of.all_reduce(values.elements<Value>());
    CHECK((host_copy<Value>(exec, values) == sum_in_order<Value>(values_of.size(), count)));
}

}  // namespace

TEST_CASE("values of devices are summed over ranks in their order, whatever the scratch has room for") {
    for (const std::int64_t scratch_bytes : {64, 4096, 1 << 20}) {
        Arena arena(Device::cuda);
        Tensor buffer, scratch;
        plan_and_commit(arena, [&](Arena& a) {
            buffer = a.add(Region::activations, "buffer", DType::u8, {8 * 5003});
            scratch = a.add(Region::activations, "scratch", DType::u8, {scratch_bytes});
            return 0;
        });
        Exec exec = make_exec(kGpu, arena);
        const Communicator values_of = all_ranks().split(0);
        values_of.use_device(exec.cuda, std::as_writable_bytes(scratch.elements<std::uint8_t>()));
        for (const std::int64_t count : {1, 2, 17, 5003}) {
            check_sum<float>(values_of, exec, buffer, count);
            check_sum<double>(values_of, exec, buffer, count);
            check_sum<std::int64_t>(values_of, exec, buffer, count);
        }
    }
}

TEST_CASE("devices train a GPT, BERT, images and experts together as one rank does") {
    TrainerConfig gpt = tiny_config(4, 13, kBatch);
    const TokenCorpus corpus = tiny_corpus(4000, gpt.model.vocab);
    gpt.techniques.seqtru = Pacing{7, 13, 1, 3, 1};
    keep_tokens(gpt, 6);
    check_against_one_rank(gpt, corpus);
    gpt.techniques.dropping = bypass_on({1, 2}, {5, 11, 1, 6, 1}, 1, {0.5, {3, 30}});
    check_against_one_rank(gpt, corpus);
    TrainerConfig bert = bert_training();
    bert.packs_samples = true;
    check_against_one_rank(bert, small_samples(11));
    TrainerConfig images = small_vit_training(4, kBatch);
    images.model = small_vit(PositionsOf::learned, Pooling::first, 0.2);
    check_against_one_rank(images, small_image_samples(20));
    check_against_one_rank(with_experts(2, 0), corpus);
}

TEST_CASE(
    "ZeRO-1 on devices gives the bits of plain data parallel, in f32 and in bf16, whose rounded weights are gathered") {
    TrainerConfig config = tiny_config(3, 13, kBatch);
    keep_tokens(config, 6);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    check_zero(config, corpus, kGpu);
    check_zero(config, corpus, kGpuBf16);
    config.optimizer.rounds_moments = true;
    check_zero(config, corpus, kGpuBf16);
    config.optimizer = {.kind = OptimizerKind::sgd, .momentum = 0.8, .weight_decay = 0.25};
    check_zero(config, corpus, kGpuBf16);
    check_zero(with_experts(2, 0), corpus, kGpuBf16);  // whose gates read their weights unrounded
}

TEST_CASE("experts that devices divide train as those of one rank, and their rows alone leave it") {
    for (const auto& [top, factor] : {std::pair{1, 0.0}, {2, 1.0}}) {
        TrainerConfig config = with_experts(top, factor);
        const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
        TrainerConfig of_one = config;
        of_one.micro_batch_size = kBatch / all_ranks().size();
        Trainer one(of_one, corpus, 1);
        config.expert_ranks = all_ranks().size();
        Trainer many = on_devices(config, corpus, kGpu);
        CHECK(many.arena().total_bytes() == plan_memory(config, kGpu, all_ranks().rank_of()).bytes);
        for (int step = 0; step < 2; ++step) {
            const std::int64_t before = many.expert_bytes_sent();
            const StepResult a = one.step(), b = many.step();
            CHECK(b.loss == Approx(a.loss).epsilon(1e-5));
            CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-4));
            std::int64_t counted[2] = {0, many.expert_bytes_sent() - before};
            for (const Block& block : many.model().blocks()) {
                if (block.experts() == nullptr) continue;
                const auto start = host_copy<std::int32_t>(many.exec(), block.experts()->start());
                const Share own = share_of(12, all_ranks().rank(), all_ranks().size());
                counted[0] += start.back() -
                              (start[static_cast<std::size_t>(own.end)] - start[static_cast<std::size_t>(own.begin)]);
            }
            all_ranks().all_reduce(std::span(counted));
            CHECK(counted[1] == 4 * counted[0] * config.model.width * static_cast<std::int64_t>(sizeof(float)));
        }
        const std::vector<ExpertLoad> loads = many.expert_loads(), expected = one.expert_loads();
        for (std::size_t i = 0; i < loads.size(); ++i) CHECK(loads[i].load == expected[i].load);
    }
}

TEST_CASE("experts that devices divide have the same bits again, and with ZeRO-1 in bf16") {
    TrainerConfig config = with_experts(2, 0);
    config.expert_ranks = all_ranks().size() == 4 ? 2 : all_ranks().size();
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer plain = on_devices(config, corpus, kGpuBf16), again = on_devices(config, corpus, kGpuBf16);
    config.zero = 1;
    Trainer zero = on_devices(config, corpus, kGpuBf16);
    for (int step = 0; step < 3; ++step) {
        const double loss = plain.step().loss;
        CHECK(again.step().loss == loss);
        CHECK(zero.step().loss == loss);
    }
    CHECK((all_parameters<float>(again) == all_parameters<float>(plain)));
    zero.gather_all_weights();
    CHECK((all_parameters<float>(zero) == all_parameters<float>(plain)));
}
