// Training with experts: what a step counts of them, and what it loses beside the heads.

#include <cmath>
#include <numeric>

#include "base/files.h"
#include "base/json.h"
#include "engine/train/checkpoint.h"
#include "engine/train/debug_state.h"
#include "engine/train/foreign_weights.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"
#include "tests/temporary_folder.h"

using namespace deft::engine;

namespace {

TrainerConfig expert_config(const ExpertsConfig& experts, std::int64_t batch = 6) {
    TrainerConfig config = tiny_config(4, 13, batch);
    for (const std::size_t layer : {1u, 3u}) config.model.blocks[layer].experts = experts;
    return config;
}

std::vector<double> loads_of(const Trainer& trainer) {
    std::vector<double> all;
    for (const ExpertLoad& load : trainer.expert_loads()) {
        all.insert(all.end(), load.load.begin(), load.load.end());
        for (const double value : {load.dropped, load.entropy, load.balance_loss, load.z_loss}) all.push_back(value);
    }
    return all;
}

}  // namespace

TEST_CASE("a step reports the load of each layer of experts, and adds their losses to its own") {
    const ExpertsConfig experts{
        .count = 3, .top = 1, .capacity_factor = 0.5, .min_capacity = 1, .aux_weight = 0.3, .z_weight = 0.2};
    const TrainerConfig config = expert_config(experts);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer trainer(config, corpus, 2);
    const StepResult result = trainer.step();
    const std::vector<ExpertLoad> loads = trainer.expert_loads();
    REQUIRE(loads.size() == 2);
    CHECK(loads[0].layer == 1);
    CHECK(loads[1].layer == 3);
    double balance = 0, z = 0, dropped_choices = 0;
    for (const ExpertLoad& load : loads) {
        REQUIRE(load.load.size() == 3);
        CHECK(std::accumulate(load.load.begin(), load.load.end(), 0.0) == Approx(1));
        // 78 rows; ceil(78 x 0.5 / 3) = 13 an expert, or all that choose it.
        double kept = 0;
        for (const double share : load.load) kept += std::min(13.0, std::round(share * 78));
        CHECK(load.dropped == Approx((78 - kept) / 78));
        CHECK(load.dropped > 0);
        CHECK(load.entropy > 0);
        CHECK(load.entropy <= std::log(3.0) + 1e-6);
        balance += 0.3 * load.balance_loss;
        z += 0.2 * load.z_loss;
        dropped_choices += load.dropped * 78;
    }
    CHECK(result.balance_loss == Approx(balance));
    CHECK(result.z_loss == Approx(z));
    CHECK(result.balance_loss > 0.3);  // about 1 a layer where experts share alike
    CHECK(result.loss == Approx(result.token_loss + balance + z));
    // Each expert has 24 x 96 + 96 + 96 x 24 + 24 weights, and a row that is dropped meets none of them.
    const double of_expert = 24 * 96 + 96 + 96 * 24 + 24;
    const double planned = 6 * sample_flops(trainer.model().flops(), config.techniques, result.plan);
    CHECK(trainer.counts().flops == Approx(planned - 6 * of_expert * dropped_choices));
}

TEST_CASE("a choice that is dropped of two costs no FLOPs of an expert") {
    const ExpertsConfig experts{.count = 3, .top = 2, .capacity_factor = 0.5, .min_capacity = 1};
    const TrainerConfig config = expert_config(experts);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer trainer(config, corpus, 1);
    const StepResult result = trainer.step();
    double dropped = 0;
    for (const ExpertLoad& load : trainer.expert_loads()) {
        CHECK(load.dropped >= 0.5);  // 78 rows choose twice; ceil(156 x 0.5 / 3) = 26 an expert are 78 of 156 choices
        dropped += load.dropped * 156;
    }
    const double of_expert = 24 * 96 + 96 + 96 * 24 + 24;
    const double planned = 6 * sample_flops(trainer.model().flops(), config.techniques, result.plan);
    CHECK(trainer.counts().flops == Approx(planned - 6 * of_expert * dropped));
}

TEST_CASE("the auxiliary losses of a step are the mean of its micro-batches' by their rows") {
    const ExpertsConfig experts{.count = 4, .top = 2, .capacity_factor = 0, .aux_weight = 0.5, .z_weight = 0.1};
    TrainerConfig config = expert_config(experts, 5);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer whole(config, corpus, 1);
    const StepResult a = whole.accumulate_gradients();
    config.micro_batch_size = 2;
    Trainer split(config, corpus, 1);
    const StepResult b = split.accumulate_gradients();
    // Loads, entropy and z are means over rows, whatever the micro-batches; the balance is of each micro-batch.
    const std::vector<double> x = loads_of(whole), y = loads_of(split);
    REQUIRE(x.size() == y.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        INFO("value " << i);
        const bool is_balance = i % 8 == 6;
        CHECK(y[i] == Approx(x[i]).epsilon(is_balance ? 0.2 : 1e-5).margin(1e-9));
    }
    CHECK(b.token_loss == Approx(a.token_loss).epsilon(1e-6));
    CHECK(b.z_loss == Approx(a.z_loss).epsilon(1e-5));
    CHECK(b.balance_loss != a.balance_loss);

    // Without the balance, gradients too are those of the whole batch.
    for (const std::size_t layer : {1u, 3u}) config.model.blocks[layer].experts->aux_weight = 0;
    Trainer split_z(config, corpus, 1);
    split_z.accumulate_gradients();
    config.micro_batch_size = 5;
    Trainer whole_z(config, corpus, 1);
    whole_z.accumulate_gradients();
    const auto p = values<float>(whole_z.model().parameters().flat_gradients());
    const auto q = values<float>(split_z.model().parameters().flat_gradients());
    for (std::size_t i = 0; i < p.size(); ++i) REQUIRE(q[i] == Approx(p[i]).epsilon(1e-3).margin(1e-6));
}

TEST_CASE("experts route the rows that a layer takes, and capacity follows those") {
    const ExpertsConfig experts{.count = 2, .top = 1, .capacity_factor = 1, .min_capacity = 1};
    TrainerConfig config = expert_config(experts);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer plain(config, corpus, 1);
    const StepResult a = plain.step();
    keep_tokens(config, 13);  // of layers 1 and 2, all
    Trainer whole(config, corpus, 1);
    const StepResult b = whole.step();
    CHECK(b.loss == Approx(a.loss).epsilon(1e-6));
    CHECK(loads_of(whole) == loads_of(plain));

    config.techniques.dropping.reset();
    keep_tokens(config, 6);
    Trainer dropped(config, corpus, 1);
    dropped.step();
    const std::vector<ExpertLoad> loads = dropped.expert_loads();
    REQUIRE(loads.size() == 2);
    const auto kept_by_capacity = [](const ExpertLoad& load, double rows) {
        double kept = 0;
        for (const double share : load.load) kept += std::min(rows / 2, std::round(share * rows));
        return 1 - kept / rows;
    };
    CHECK(loads[0].dropped == Approx(kept_by_capacity(loads[0], 36)).margin(1e-12));  // 6 samples of 6 kept tokens
    CHECK(loads[1].dropped == Approx(kept_by_capacity(loads[1], 78)).margin(1e-12));
}

TEST_CASE("training with experts gives the same bits on one, two and three threads, and again") {
    const ExpertsConfig experts{.count = 5,
                                .top = 2,
                                .capacity_factor = 1,
                                .min_capacity = 1,
                                .jitter = 0.01,
                                .sampled_noise = true,
                                .z_weight = 0.001,
                                .residual = true};
    TrainerConfig config = expert_config(experts);
    config.micro_batch_size = 4;
    config.techniques.seqtru = Pacing{8, 13, 1, 6, 1};
    keep_tokens(config, 7);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    std::vector<std::vector<float>> weights;
    std::vector<std::vector<double>> loads;
    for (const int threads : {1, 2, 3, 1}) {
        Trainer trainer(config, corpus, threads);
        double first = 0, last = 0;
        for (int i = 0; i < 8; ++i) {
            const StepResult result = trainer.step();
            (i == 0 ? first : last) = result.loss;
        }
        CHECK(last < first);
        weights.push_back(all_parameters<float>(trainer));
        loads.push_back(loads_of(trainer));
    }
    for (const std::size_t i : {1u, 2u, 3u}) {
        CHECK(weights[i] == weights[0]);
        CHECK(loads[i] == loads[0]);
    }
}

TEST_CASE("a checkpoint of experts goes on to the same bits, and into a model of the same experts alone") {
    const ExpertsConfig experts{.count = 3, .top = 1, .capacity_factor = 1, .min_capacity = 1, .residual = true};
    const TrainerConfig config = expert_config(experts);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    deft::test::TemporaryFolder folder;
    Trainer trainer(config, corpus, 1);
    trainer.step();
    save_checkpoint(trainer, folder / "c", deft::Json::object(), Tokenizer::bytes());
    Trainer again(config, corpus, 1);
    load_checkpoint(again, folder / "c");
    trainer.step();
    again.step();
    CHECK(all_parameters<float>(again) == all_parameters<float>(trainer));
    CHECK(again.counts().flops == trainer.counts().flops);

    save_checkpoint(trainer, folder / "d", deft::Json::object(), Tokenizer::bytes());
    const ImportedModel saved = open_model(folder / "d");
    TrainerConfig other = config;
    other.seed = 9;
    for (const std::size_t layer : {1u, 3u})
        other.model.blocks[layer].experts->capacity_factor = 2;  // decides no weight
    Trainer fresh(other, corpus, 1);
    import_weights(fresh.exec(), fresh.model(), saved);
    CHECK(all_parameters<float>(fresh) == all_parameters<float>(trainer));

    const auto refused = [&](const TrainerConfig& wanted, const std::filesystem::path& from) {
        Trainer into(wanted, corpus, 1);
        const std::vector<float> before = all_parameters<float>(into);
        std::string said;
        try {
            import_weights(into.exec(), into.model(), open_model(from));
        } catch (const deft::Error& error) {
            said = error.what();
        }
        CHECK(all_parameters<float>(into) == before);
        return said;
    };
    const TrainerConfig dense = tiny_config();
    Trainer without(dense, corpus, 1);
    save_checkpoint(without, folder / "dense", deft::Json::object(), Tokenizer::bytes());
    CHECK_THAT(refused(dense, folder / "d"), ContainsSubstring("experts is absent"));
    CHECK_THAT(refused(config, folder / "dense"), ContainsSubstring("and absent there"));
    TrainerConfig more = config;
    more.model.blocks[3].experts->count = 4;
    CHECK_THAT(refused(more, folder / "d"), ContainsSubstring("experts is"));
    CHECK_THROWS_WITH(load_checkpoint(trainer, folder / "dense"),
                      ContainsSubstring("mlp.experts.c_fc.weight is missing"));
    CHECK_THROWS_WITH(load_checkpoint(without, folder / "d"),
                      ContainsSubstring("mlp.experts.c_fc.weight is not a weight"));
    CHECK_THROWS_WITH(write_debug_state(trainer, folder / "state"), ContainsSubstring("this model's experts draw"));
}

TEST_CASE("a checkpoint whose tensors have other experts than it claims is refused") {
    const TrainerConfig config = expert_config({.count = 3, .top = 1});
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    deft::test::TemporaryFolder folder;
    Trainer trainer(config, corpus, 1);
    save_checkpoint(trainer, folder / "c", deft::Json::object(), Tokenizer::bytes());
    deft::Json manifest = read_manifest(folder / "c");
    const auto claim = [&](std::int64_t count) {
        manifest["model"]["experts"][3]["count"] = count;
        deft::write_file_atomically(folder / "c" / "checkpoint.json", manifest.dump());
    };
    TrainerConfig more = config;
    more.model.blocks[3].experts->count = 4;
    Trainer wanted(more, corpus, 1);
    const std::vector<float> before = all_parameters<float>(wanted);
    claim(4);
    for (const char* tensor : {"c_fc.weight", "c_fc.bias", "c_proj.weight", "c_proj.bias"}) {
        const auto says =
            ContainsSubstring(std::string("h.3.mlp.experts.") + tensor + " has 3 experts, and the model has 4 there");
        CHECK_THROWS_WITH(import_weights(wanted.exec(), wanted.model(), open_model(folder / "c")), says);
        CHECK_THROWS_WITH(load_checkpoint(wanted, folder / "c"), says);
    }
    CHECK(all_parameters<float>(wanted) == before);
    // Before anybody plans memory by it.
    claim(1 << 30);
    CHECK_THROWS_WITH(open_model(folder / "c"), ContainsSubstring("a model of at least"));
    claim(3);
    import_weights(trainer.exec(), trainer.model(), open_model(folder / "c"));
}
