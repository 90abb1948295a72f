// Bytes that leave a rank in a step, as planned and as counted; the formulas by hand.

#include "tests/catch.h"
#include "tests/engine/small_vit.h"
#include "tests/ranks/rank_trainers.h"

using namespace deft::engine;
using namespace deft::test;

namespace {

// Bytes that this rank sent in each step are exactly those planned, and groups are as large as the engine lays them
// out.
void check_planned(TrainerConfig config, const TrainingData& data, DType dtype = DType::f32) {
    const RankOf here = all_ranks().rank_of();
    for (const int zero : {0, 1}) {
        config.zero = zero;
        const ExchangedValues exchanged = plan_memory(config, {Device::cpu, dtype, 1}, here).exchanged;
        const std::int64_t planned = planned_step_bytes(exchanged, here).all();
        CHECK((planned > 0) == (here.ranks > 1));
        Trainer trainer = on_ranks(config, data, all_ranks(), dtype);
        for (int step = 0; step < 3; ++step) {
            const std::int64_t before = trainer.bytes_sent();
            trainer.step();
            CHECK(trainer.bytes_sent() - before == planned);
        }
        std::int64_t elements = 0;
        for (const PlannedGroup& group : planned_groups(exchanged, here)) elements += group.elements;
        CHECK(elements == trainer.model().parameters().flat_gradients().numel());
    }
}

}  // namespace

TEST_CASE("a step sends the planned bytes: a GPT, in single and double, and with what a dropper counts") {
    TrainerConfig config = tiny_config(3, 13, kBatch);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    check_planned(config, corpus);
    check_planned(config, corpus, DType::f64);
    config.micro_batch_size = 1;  // gradients are summed once a step, however many micro-batches it has
    check_planned(config, corpus);
    config.techniques.dropping = bypass_on({1}, {5, 11, 1, 6, 1}, 1, {0.5, {3, 30}});
    check_planned(config, corpus);
}

TEST_CASE("a step sends the planned bytes: experts, BERT's two heads, images") {
    TrainerConfig experts = tiny_config(4, 13, kBatch);
    for (const std::size_t layer : {1u, 3u}) experts.model.blocks[layer].experts = three_experts();
    check_planned(experts, tiny_corpus(4000, experts.model.vocab));
    check_planned(bert_training(), small_samples(11));
    TrainerConfig images = small_vit_training(4, kBatch);
    images.model = small_vit(PositionsOf::learned, Pooling::first, 0.2);
    check_planned(images, small_image_samples(20));
}

TEST_CASE("a step sends the planned bytes where ranks divide the experts, and counts and rows beside them") {
    TrainerConfig config = tiny_config(4, 13, kBatch);
    for (const std::size_t layer : {1u, 3u}) config.model.blocks[layer].experts = three_experts();
    for (const std::size_t layer : {1u, 3u}) config.model.blocks[layer].experts->count = 12;
    const RankOf here = all_ranks().rank_of();
    for (int divisor = 1; divisor <= here.ranks; ++divisor) {
        if (here.ranks % divisor != 0) continue;
        config.expert_ranks = divisor;
        const ExchangedValues exchanged = plan_memory(config, Backend{}, here).exchanged;
        Trainer trainer = on_ranks(config, tiny_corpus(4000, config.model.vocab));
        for (int step = 0; step < 2; ++step) {
            const std::int64_t before = trainer.bytes_sent(), experts_before = trainer.expert_bytes_sent();
            trainer.step();
            // For each of two layers this rank sends each other one how many rows go to each of its experts.
            const std::int64_t counts = 2 * (divisor - 1) * (12 / divisor) * 4;
            CHECK(trainer.bytes_sent() - before - (trainer.expert_bytes_sent() - experts_before) ==
                  planned_step_bytes(exchanged, here, divisor).all() + counts);
        }
        std::int64_t elements = 0;
        for (const PlannedGroup& group : planned_groups(exchanged, here, divisor)) elements += group.elements;
        CHECK(elements == trainer.model().parameters().flat_gradients().numel());
    }
}

TEST_CASE("bytes of exchanges by hand, at sizes that ranks do not divide") {
    // 10 values on 4 ranks: shares of 2, 3, 2 and 3.
    CHECK(reduce_scatter_bytes(10, {0, 4}, 4) == 8 * 4);
    CHECK(reduce_scatter_bytes(10, {3, 4}, 4) == 7 * 4);
    CHECK(all_gather_bytes(10, {0, 4}, 4) == 2 * 3 * 4);
    CHECK(all_gather_bytes(10, {3, 4}, 4) == 3 * 3 * 4);
    CHECK(all_reduce_bytes(10, {3, 4}, 8) == (7 + 9) * 8);
    CHECK(all_reduce_bytes(2, {0, 4}, 8) == 2 * 8);  // which has none of the two
    for (const std::int64_t count : {0, 1, 10}) CHECK(all_reduce_bytes(count, {0, 1}, 8) == 0);
}

TEST_CASE("groups and bytes by hand, with experts on all ranks and divided") {
    ExchangedValues values;
    // A matrix of 100 and a bias of 5 that all share; four experts of 24 and their biases of 2 each.
    const auto divide_by = [&](int expert_ranks) {
        const bool is_divided = expert_ranks > 1;
        values.weights = {{100, true},
                          {5, false},
                          {4 / expert_ranks * 24, true, true, is_divided},
                          {4 / expert_ranks * 2, false, true, is_divided}};
    };
    values.sums = 7;
    values.observed = {3};
    const auto sizes = [&](int rank, int expert_ranks) {
        divide_by(expert_ranks);
        std::vector<std::int64_t> all;
        for (const PlannedGroup& group : planned_groups(values, {rank, 4}, expert_ranks))
            all.insert(all.end(), {group.elements, group.rank.rank, group.rank.ranks, group.is_divided});
        return all;
    };
    // Each is padded to a multiple of 16 elements.
    CHECK(sizes(3, 1) == std::vector<std::int64_t>{112 + 96, 3, 4, 0, 16 + 16, 3, 4, 0});
    CHECK(sizes(1, 2) == std::vector<std::int64_t>{112, 1, 4, 0, 16, 1, 4, 0, 48, 0, 2, 1, 16, 0, 2, 1});
    CHECK(sizes(2, 2) == std::vector<std::int64_t>{112, 2, 4, 0, 16, 2, 4, 0, 48, 1, 2, 1, 16, 1, 2, 1});
    CHECK(sizes(2, 4) == std::vector<std::int64_t>{112, 2, 4, 0, 16, 2, 4, 0, 32, 0, 1, 1, 16, 0, 1, 1});

    divide_by(1);
    const StepBytes whole = planned_step_bytes(values, {3, 4});
    CHECK(whole.gradients_reduced == (208 - 52 + 32 - 8) * 4);
    CHECK(whole.gathered == (52 + 8) * 3 * 4);
    CHECK(whole.sums == (7 - 2 + 2 * 3 + 3 - 1 + 1 * 3) * 8);
    divide_by(2);
    const StepBytes divided = planned_step_bytes(values, {3, 4}, 2);
    CHECK(divided.gradients_reduced == (112 - 28 + 16 - 4 + 48 - 24 + 16 - 8) * 4);
    CHECK(divided.gathered == ((28 + 4) * 3 + 24 + 8) * 4);
    CHECK(divided.sums == whole.sums);
    divide_by(4);
    CHECK(planned_step_bytes(values, {3, 4}, 4).gradients_reduced == (112 - 28 + 16 - 4) * 4);
}
