// Initial weights: what they are drawn from, how often, and when not at all.

#include <cmath>

#include "base/json.h"
#include "engine/train/checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"
#include "tests/temporary_folder.h"

using namespace deft::engine;

TEST_CASE("initial weights are the same drawn by one thread or by three, and by their kind") {
    TrainerConfig config = tiny_config(2, 13, 2);
    config.model.vocab = 2000;  // a table that one thread does not draw in one piece
    const TokenCorpus corpus = tiny_corpus(400, 31);
    Trainer one(config, corpus, 1), three(config, corpus, 3);
    CHECK(all_parameters<float>(one) == all_parameters<float>(three));

    const auto deviation = [&](const char* name) {
        double squares = 0;
        const auto all = values<float>(parameter_of(one, name).value);
        for (const float value : all) squares += static_cast<double>(value) * static_cast<double>(value);
        return std::sqrt(squares / static_cast<double>(all.size()));
    };
    CHECK(deviation("wte.weight") == Approx(0.1).epsilon(0.02));
    CHECK(deviation("h.1.mlp.c_fc.weight") == Approx(0.1).epsilon(0.1));
    CHECK(deviation("h.1.mlp.c_proj.weight") == Approx(0.1 / std::sqrt(2.0 * 2)).epsilon(0.1));
    CHECK(deviation("ln_f.weight") == 1);
    CHECK(deviation("h.0.attn.c_attn.bias") == 0);
}

TEST_CASE("on a CPU initial weights are drawn with the trial's threads") {
    const Arena arena(Device::cpu);
    for (const int threads : {1, 3})
        CHECK(initialisation_threads(make_exec({Device::cpu, DType::f32, threads}, arena)) == threads);
}

TEST_CASE("a weight has the values of its name, whatever other weights the model has") {
    TrainerConfig config = tiny_config(2, 13, 2);
    const TokenCorpus corpus = tiny_corpus(400, 31);
    Trainer plain(config, corpus, 1);
    config.model.head->tied = false;
    config.model.blocks[0].attention.bias = false;
    config.model.blocks[1].feed_forward.hidden = 40;
    Trainer other(config, corpus, 1);
    const auto of = [](Trainer& trainer, const char* name) { return values<float>(parameter_of(trainer, name).value); };
    for (const char* name : {"wte.weight", "wpe.weight", "h.0.attn.c_attn.weight", "h.1.attn.c_proj.weight"})
        CHECK(of(plain, name) == of(other, name));
    const auto fc = of(plain, "h.1.mlp.c_fc.weight"), narrow = of(other, "h.1.mlp.c_fc.weight");
    CHECK(std::equal(narrow.begin(), narrow.end(), fc.begin()));  // element i is element i
    CHECK(of(other, "lm_head.weight") != of(other, "wte.weight"));
    CHECK(of(plain, "h.0.mlp.c_fc.weight") != fc);
    config.seed = 4;
    Trainer seeded(config, corpus, 1);
    CHECK(of(seeded, "wte.weight") != of(plain, "wte.weight"));
}

TEST_CASE("weights that come later are zeros until then, and those of a checkpoint are all that is needed") {
    const TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const deft::test::TemporaryFolder folder;
    Trainer drawn(config, corpus, 1), later(config, corpus, Backend{}, InitialWeights::later),
        resumed(config, corpus, Backend{}, InitialWeights::later);
    for (const float value : all_parameters<float>(later)) REQUIRE(value == 0);
    later.draw_initial_weights();
    CHECK(all_parameters<float>(later) == all_parameters<float>(drawn));
    drawn.step();
    save_checkpoint(drawn, folder / "c", {}, Tokenizer::bytes());
    load_checkpoint(resumed, folder / "c");
    CHECK(drawn.step().loss == resumed.step().loss);
    CHECK(all_parameters<float>(drawn) == all_parameters<float>(resumed));
}
