// Experts divided among ranks, against one rank that has them all.

#include <algorithm>

#include "base/json.h"
#include "engine/io/huggingface_config.h"
#include "engine/nn/experts.h"
#include "engine/train/checkpoint.h"
#include "engine/train/communication_plan.h"
#include "tests/catch.h"
#include "tests/engine/distance.h"
#include "tests/ranks/rank_trainers.h"

using namespace deft::engine;
using namespace deft::test;

namespace {

// Layers 1 and 3 have 12 experts, which 1 to 4 ranks divide.
TrainerConfig with_experts(TransformerConfig model, const ExpertsConfig& experts) {
    TrainerConfig config = tiny_config(4, 13, kBatch);
    config.model = std::move(model);
    for (const std::size_t layer : {1u, 3u}) config.model.blocks[layer].experts = experts;
    return config;
}

// Dropless, without a balance loss: whose rows meet decides nothing.
ExpertsConfig twelve_experts(std::int64_t top) {
    return {.count = 12,
            .top = top,
            .capacity_factor = 0,
            .jitter = 0.01,
            .aux_weight = 0,
            .z_weight = 0.01,
            .residual = true};
}

TransformerConfig gated_model() {
    TransformerConfig model = small_llama();
    model.blocks.resize(4, model.blocks[0]);
    model.max_seqlen = 13;
    return model;
}

// The divisors of the ranks that this program runs on.
std::vector<int> possible_expert_ranks() {
    std::vector<int> divisors;
    for (int d = 1; d <= all_ranks().size(); ++d)
        if (all_ranks().size() % d == 0) divisors.push_back(d);
    return divisors;
}

// How far the weights that this rank has are from those of the trainer that has all.
template <class Real>
double distance_to_whole(Trainer& part, Trainer& whole) {
    double largest = 0;
    for (std::size_t i = 0; i < part.model().parameters().all().size(); ++i) {
        const Parameter& own = part.model().parameters()[i];
        const std::vector<Real> a = values<Real>(own.value), b = values<Real>(whole.model().parameters()[i].value);
        for (std::size_t e = 0; e < a.size(); ++e)
            largest = std::max(largest, double(std::abs(a[e] - b[static_cast<std::size_t>(own.first) + e])));
    }
    return largest;
}

void check_divided(TrainerConfig config, const TokenCorpus& corpus) {
    TrainerConfig of_one = config;
    of_one.micro_batch_size = config.batch_size / all_ranks().size();
    for (const int divisor : possible_expert_ranks()) {
        INFO(divisor << " of " << all_ranks().size() << " ranks divide the experts");
        config.expert_ranks = divisor;
        Trainer many = on_ranks(config, corpus, all_ranks(), DType::f64);
        Trainer fresh(of_one, corpus, Backend{Device::cpu, DType::f64, 1});
        CHECK(distance_to_whole<double>(many, fresh) == 0);
        for (int step = 0; step < 3; ++step) {
            const StepResult a = fresh.step(), b = many.step();
            CHECK(b.loss == Approx(a.loss).epsilon(1e-10));
            CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-9));
        }
        CHECK(distance_to_whole<double>(many, fresh) < 1e-9);
        const std::vector<ExpertLoad> loads = many.expert_loads(), expected = fresh.expert_loads();
        for (std::size_t i = 0; i < loads.size(); ++i) CHECK(loads[i].load == expected[i].load);
    }
}

// This rank's rows in the last micro-batch that chose an expert of another rank.
std::int64_t rows_sent(Trainer& trainer, const RankOf& experts) {
    std::int64_t rows = 0;
    for (const Block& block : trainer.model().blocks()) {
        if (block.experts() == nullptr) continue;
        const auto start = values<std::int32_t>(block.experts()->start());
        const Share own = share_of(block.experts()->config().count, experts.rank, experts.ranks);
        rows += start.back() - (start[static_cast<std::size_t>(own.end)] - start[static_cast<std::size_t>(own.begin)]);
    }
    return rows;
}

}  // namespace

TEST_CASE("experts that ranks divide train as those of one rank") {
    TrainerConfig config = with_experts(tiny_config(4, 13, kBatch).model, twelve_experts(2));
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    check_divided(config, corpus);
    config.micro_batch_size = 2;
    config.techniques.seqtru = Pacing{7, 13, 1, 3, 1};
    keep_tokens(config, 6);
    check_divided(config, corpus);
    config.micro_batch_size = kBatch;
    for (const double factor : {0.5, 1.0}) {  // a micro-batch of one of several ranks keeps what a single rank's does
        for (const std::size_t layer : {1u, 3u}) {
            config.model.blocks[layer].experts->capacity_factor = factor;
            config.model.blocks[layer].experts->min_capacity = 1;
        }
        check_divided(config, corpus);
    }
    config.optimizer.max_grad_norm = 0.01;
    for (const Recompute recompute : {Recompute::activation, Recompute::block}) {
        config.recompute = recompute;
        check_divided(config, corpus);
    }
    check_divided(with_experts(gated_model(), twelve_experts(1)), tiny_corpus(4000, gated_model().vocab));
}

TEST_CASE("experts that ranks divide have the same bits with ZeRO-1, and again") {
    TrainerConfig config = with_experts(tiny_config(4, 13, kBatch).model, twelve_experts(2));
    config.expert_ranks = possible_expert_ranks().size() > 2 ? 2 : all_ranks().size();  // of 4 ranks: two hold the same
    config.optimizer.max_grad_norm = 0.01;
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer plain = on_ranks(config, corpus), again = on_ranks(config, corpus);
    config.zero = 1;
    Trainer zero = on_ranks(config, corpus);
    for (int step = 0; step < 4; ++step) {
        plain.step();
        again.step();
        zero.step();
    }
    CHECK((all_parameters<float>(again) == all_parameters<float>(plain)));
    CHECK((all_parameters<float>(zero) == all_parameters<float>(plain)));
}

TEST_CASE("what goes to experts and back are the rows that chose an expert elsewhere, and nothing more") {
    for (const int divisor : possible_expert_ranks()) {
        TrainerConfig config = with_experts(tiny_config(4, 13, kBatch).model, twelve_experts(2));
        config.expert_ranks = divisor;
        Trainer trainer = on_ranks(config, tiny_corpus(4000, config.model.vocab));
        for (int step = 1; step <= 2; ++step) {
            const std::int64_t before = trainer.expert_bytes_sent();
            trainer.step();
            // Out and back, forward and backward. What comes back is sent by the others, so all ranks are counted
            // together.
            std::int64_t counted[2] = {rows_sent(trainer, {all_ranks().rank() % divisor, divisor}),
                                       trainer.expert_bytes_sent() - before};
            all_ranks().all_reduce(std::span(counted));
            CHECK((counted[0] > 0) == (divisor > 1));
            CHECK(counted[1] == 4 * counted[0] * config.model.width * static_cast<std::int64_t>(sizeof(float)));
        }
    }
}

TEST_CASE("ranks whose experts nobody chose train as the others do") {
    TrainerConfig config = with_experts(tiny_config(4, 13, kBatch).model, twelve_experts(1));
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    config.expert_ranks = all_ranks().size();
    Trainer many = on_ranks(config, corpus, all_ranks(), DType::f64);
    config.expert_ranks = 1;
    config.micro_batch_size = config.batch_size / all_ranks().size();
    Trainer one(config, corpus, Backend{Device::cpu, DType::f64, 1});
    for (int step = 0; step < 2; ++step) {
        for (Trainer* trainer : {&many, &one})  // logits are equal, and of equals the first expert is chosen
            for (const Parameter& parameter : trainer->model().parameters().all())
                if (parameter.name.ends_with("gate.weight")) std::ranges::fill(parameter.value.elements<double>(), 0.0);
        const StepResult a = one.step(), b = many.step();
        CHECK(b.loss == Approx(a.loss).epsilon(1e-10));
        CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-9));
    }
    for (const ExpertLoad& load : many.expert_loads()) CHECK(load.load[0] == 1);
    CHECK(distance_to_whole<double>(many, one) < 1e-9);
}

TEST_CASE("a rank plans its own experts alone") {
    TrainerConfig config = with_experts(tiny_config(4, 13, kBatch).model, twelve_experts(2));
    const auto weights = [&](int expert_ranks) {
        config.expert_ranks = expert_ranks;
        std::int64_t bytes = 0;
        for (const PlannedBuffer& buffer : plan_memory(config, Backend{}, RankOf{1, 4}).buffers)
            if (buffer.region == Region::parameters && buffer.name.find("experts") != std::string::npos)
                bytes += buffer.bytes;
        return bytes;
    };
    CHECK(weights(2) == weights(1) / 2);
    CHECK(weights(4) == weights(1) / 4);
}

TEST_CASE(
    "experts that ranks divide have room for what their capacity lets through, and for fewer samples without it") {
    TrainerConfig config = with_experts(tiny_config(4, 13, kBatch).model, twelve_experts(2));
    const auto room = [&](double factor) {
        for (const std::size_t layer : {1u, 3u}) config.model.blocks[layer].experts->capacity_factor = factor;
        for (const PlannedBuffer& buffer : plan_memory(config, Backend{}, RankOf{1, 4}).buffers)
            if (buffer.name == "h.1.experts.received") return buffer.bytes / (config.model.width * 4);
        return std::int64_t{0};
    };
    config.expert_ranks = 4;
    const std::int64_t slots = kBatch * 13 * 2;
    CHECK(room(0) == 4 * slots);
    CHECK(room(1) == slots);
    CHECK(room(1.5) == slots * 3 / 2);
    CHECK(room(0.1) == slots);  // three samples of each of four ranks
    CHECK(room(100) == 4 * slots);

    config.expert_ranks = all_ranks().size();
    config.micro_batch_size = 5;
    for (const std::size_t layer : {1u, 3u}) config.model.blocks[layer].experts->capacity_factor = 0.2;
    Trainer trainer = on_ranks(config, tiny_corpus(4000, config.model.vocab));
    const std::int64_t B = trainer.samples_at_once();
    CHECK(B == std::max(1, 5 / all_ranks().size()));
    trainer.step();
    const std::vector<std::int32_t> token(static_cast<std::size_t>(B * 13), 3);  // all rows choose alike
    trainer.model().load(trainer.exec(), {B, 13, token.data(), token.data()});
    CHECK_NOTHROW(trainer.model().evaluate(trainer.exec(), B, 13));
}

TEST_CASE("ranks that cannot divide experts are refused") {
    const TrainerConfig dense = tiny_config(4, 13, kBatch);
    TrainerConfig config = with_experts(dense.model, twelve_experts(1));
    const auto refused = [](TrainerConfig wrong, int expert_ranks, int ranks) {
        wrong.expert_ranks = expert_ranks;
        try {
            require_expert_ranks(wrong, ranks);
        } catch (const deft::Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(refused(config, 1, 5).empty());
    CHECK(refused(config, 4, 8).empty());
    CHECK_THAT(refused(config, 3, 8), ContainsSubstring("train.expert_ranks = 3 does not divide 8 ranks"));
    CHECK_THAT(refused(config, 0, 8), ContainsSubstring("does not divide"));
    CHECK_THAT(refused(config, 8, 8), ContainsSubstring("12 experts of a layer cannot be divided among 8 ranks"));
    CHECK_THAT(refused(dense, 2, 8), ContainsSubstring("has no experts"));
}

TEST_CASE("experts that ranks divide are saved whole, and gone on with by them and by one rank") {
    TransformerConfig mixtral = gated_model();
    for (BlockConfig& block : mixtral.blocks)
        block.experts = ExpertsConfig{.count = 12, .top = 2, .capacity_factor = 0, .aux_weight = 0};
    REQUIRE(huggingface_counterpart(mixtral).names == WeightNames::mixtral);
    TrainerConfig foreign = tiny_config(4, 13, kBatch);
    foreign.model = mixtral;
    for (TrainerConfig config : {with_experts(tiny_config(4, 13, kBatch).model, twelve_experts(2)), foreign}) {
        const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
        for (const int divisor : possible_expert_ranks())
            for (const int zero : {0, 1}) {
                INFO(divisor << " of " << all_ranks().size() << " ranks divide the experts, zero = " << zero);
                const SharedFolder folder;
                config.expert_ranks = divisor;
                config.zero = zero;
                Trainer whole = on_ranks(config, corpus), again = on_ranks(config, corpus);
                for (int step = 0; step < 3; ++step) whole.step();
                save_checkpoint(whole, folder / "c", {}, Tokenizer::bytes());
                load_checkpoint(again, folder / "c");
                for (int step = 0; step < 2; ++step) {
                    whole.step();
                    again.step();
                }
                CHECK((all_parameters<float>(again) == all_parameters<float>(whole)));

                TrainerConfig of_one = config;
                of_one.expert_ranks = 1;
                Trainer alone(of_one, corpus, 1);
                load_checkpoint(alone, folder / "c");
                const std::string own = "of_rank" + std::to_string(all_ranks().rank());
                std::filesystem::create_directories(folder / own);
                save_checkpoint(alone, folder / own / "c", {}, Tokenizer::bytes());
                CHECK(verify_checkpoint(folder / own / "c").at("sha256") ==
                      verify_checkpoint(folder / "c").at("sha256"));
                for (int step = 0; step < 2; ++step) alone.step();
                CHECK(distance_to_whole<float>(whole, alone) < 1e-3);
            }
    }
}
