// Training on as many ranks as mpirun started, against one rank with as many micro-batches.

#include "base/json.h"
#include "engine/train/checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/bert_corpus.h"
#include "tests/engine/distance.h"
#include "tests/engine/labelled_texts.h"
#include "tests/engine/small_vit.h"
#include "tests/ranks/rank_trainers.h"

using namespace deft::engine;
using namespace deft::test;

namespace {

void check_against_one_rank(TrainerConfig config, const TrainingData& data) {
    config.batch_size = config.micro_batch_size = kBatch;
    Trainer many = on_ranks(config, data), again = on_ranks(config, data);
    config.micro_batch_size = kBatch / all_ranks().size();
    Trainer one(config, data, 1);
    for (int step = 0; step < 4; ++step) {
        const StepResult a = one.step(), b = many.step();
        again.step();
        CHECK(b.loss == Approx(a.loss).epsilon(1e-5));
        CHECK(b.token_loss == Approx(a.token_loss).epsilon(1e-5));
        CHECK(b.class_loss == Approx(a.class_loss).epsilon(1e-5));
        CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-4));
        CHECK(b.lr == a.lr);
    }
    CHECK(many.counts().flops == Approx(one.counts().flops));
    CHECK(many.counts().samples == one.counts().samples);
    CHECK(many.counts().layer_tokens == one.counts().layer_tokens);
    CHECK(many.unique_tokens() == one.unique_tokens());
    const std::vector<float> weights = all_parameters<float>(many);
    CHECK(rms_distance(weights, all_parameters<float>(one)) < 1e-3);
    CHECK((all_parameters<float>(again) == weights));
    CHECK(same_everywhere(weights));
    CHECK(same_everywhere(values<float>(many.model().parameters().flat_gradients())));
    const std::vector<ExpertLoad> loads = many.expert_loads(), expected = one.expert_loads();
    REQUIRE(loads.size() == expected.size());
    for (std::size_t i = 0; i < loads.size(); ++i) {
        CHECK(loads[i].load == expected[i].load);
        CHECK(loads[i].entropy == Approx(expected[i].entropy).epsilon(1e-5));
    }
}

}  // namespace

TEST_CASE("ranks train a GPT as one rank does, whole and with curricula and dropped tokens") {
    TrainerConfig config = tiny_config(4, 13, kBatch);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    check_against_one_rank(config, corpus);
    config.techniques.seqtru = Pacing{7, 13, 1, 3, 1};
    keep_tokens(config, 6);
    check_against_one_rank(config, corpus);
    config.techniques.dropping = bypass_on({1, 2}, {5, 11, 1, 6, 1}, 1, {0.5, {3, 30}});
    check_against_one_rank(config, corpus);
    for (BlockConfig& block : config.model.blocks) block.dropout = 0.2;
    check_against_one_rank(config, corpus);
}

TEST_CASE("ranks keep what one rank keeps of its rows, and learn alike what to drop") {
    TrainerConfig config = tiny_config(4, 13, kBatch);
    config.techniques.dropping = bypass_on({1, 2}, {5, 11, 1, 6, 1}, 1, {0.5, {3, 30}});
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer many = on_ranks(config, corpus);
    config.micro_batch_size = kBatch / all_ranks().size();
    Trainer one(config, corpus, 1);
    for (int step = 0; step < 3; ++step) {
        one.step();
        many.step();
    }
    const auto a = values<float>(one.dropper_state()), b = values<float>(many.dropper_state());
    for (std::size_t v = 0; v < a.size(); ++v) CHECK(b[v] == Approx(a[v]).epsilon(1e-4));
    CHECK(same_everywhere(b));
    if (all_ranks().rank() == all_ranks().size() - 1)  // whose rows are one rank's last micro-batch
        CHECK(values<std::int32_t>(many.kept().index) == values<std::int32_t>(one.kept().index));
}

TEST_CASE("ranks train experts as one rank does, where nothing is dropped") {
    TrainerConfig config = tiny_config(4, 13, kBatch);
    for (const std::size_t layer : {1u, 3u}) config.model.blocks[layer].experts = three_experts();
    check_against_one_rank(config, tiny_corpus(4000, config.model.vocab));
}

TEST_CASE("ranks train BERT, packed and padded, images and labelled texts as one rank does") {
    TrainerConfig bert = bert_training();
    for (const bool packs : {true, false}) {
        bert.packs_samples = packs;
        check_against_one_rank(bert, small_samples(11));
    }
    TrainerConfig images = small_vit_training(4, kBatch);
    images.model = small_vit(PositionsOf::learned, Pooling::first, 0.2);
    check_against_one_rank(images, small_image_samples(20));
    check_against_one_rank(labelled_training(3, 7, 0.2), small_labelled_texts(20, 3));
}

TEST_CASE("training on ranks that is saved goes on to the same bits, on these ranks and nearly on one") {
    TrainerConfig config = tiny_config(4, 13, kBatch);
    keep_tokens(config, 6);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer whole = on_ranks(config, corpus), first = on_ranks(config, corpus);
    for (int step = 0; step < 3; ++step) first.step();
    const SharedFolder folder;
    save_checkpoint(first, folder / "c", {}, Tokenizer::bytes());
    Trainer second = on_ranks(config, corpus), alone(config, corpus, 1);
    load_checkpoint(second, folder / "c");
    load_checkpoint(alone, folder / "c");
    for (int step = 0; step < 5; ++step) whole.step();
    for (int step = 0; step < 2; ++step) {
        second.step();
        alone.step();
    }
    CHECK((all_parameters<float>(second) == all_parameters<float>(whole)));
    CHECK(rms_distance(all_parameters<float>(alone), all_parameters<float>(whole)) < 1e-3);
}

TEST_CASE("micro-batches of ranks need not divide their rows, and rows that ranks do not divide are refused") {
    TrainerConfig config = tiny_config(2, 13, kBatch);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer whole = on_ranks(config, corpus);
    config.micro_batch_size = 5;  // of 12, 6, 4 or 3 rows
    Trainer split = on_ranks(config, corpus);
    for (int step = 0; step < 3; ++step) CHECK(split.step().loss == Approx(whole.step().loss).epsilon(1e-5));
    TrainerConfig packed = bert_training();  // whose rows are laid out by micro-batches
    packed.packs_samples = true;
    Trainer whole_bert = on_ranks(packed, small_samples(11));
    packed.micro_batch_size = 5;
    Trainer split_bert = on_ranks(packed, small_samples(11));
    for (int step = 0; step < 3; ++step) CHECK(split_bert.step().loss == Approx(whole_bert.step().loss).epsilon(1e-5));
    config.batch_size = 5;
    Trainer uneven = on_ranks(config, corpus);
    if (all_ranks().size() == 1) return;
    CHECK_THROWS_WITH(uneven.step(), ContainsSubstring("the 5 rows of step 1 cannot be divided by"));
}
