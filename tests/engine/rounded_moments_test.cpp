// Training whose moments are stored in bf16: how near it is to f32, what it saves, and what a checkpoint holds.

#include <vector>

#include "base/json.h"
#include "engine/io/safetensors.h"
#include "engine/train/checkpoint.h"
#include "engine/train/trainer.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;

namespace {

TrainerConfig with_moments(bool are_rounded, OptimizerKind kind = OptimizerKind::adamw) {
    TrainerConfig config = tiny_config();
    config.optimizer.kind = kind;
    config.optimizer.rounds_moments = are_rounded;
    return config;
}

std::int64_t planned_bytes(const TrainerConfig& config, Region region) {
    std::int64_t bytes = 0;
    for (const PlannedBuffer& buffer : plan_memory(config, Backend{}).buffers)
        if (buffer.region == region) bytes += buffer.bytes;
    return bytes;
}

}  // namespace

TEST_CASE("moments in bf16 train nearly as in f32, and not to the same bits", "[bare]") {
    for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::sgd}) {
        const TokenCorpus corpus = tiny_corpus(300, 31);
        Trainer whole(with_moments(false, kind), corpus, 1), rounded(with_moments(true, kind), corpus, 1);
        StepResult a, b;
        double first = 0;
        for (int step = 0; step < 40; ++step) {
            a = whole.step();
            b = rounded.step();
            if (step == 0) first = b.loss;
            if (step < 2) CHECK(b.loss == Approx(a.loss).epsilon(1e-6));  // an update takes moments before rounding
            REQUIRE(b.loss == Approx(a.loss).epsilon(0.02));
        }
        CHECK(b.loss < 0.9 * first);
        CHECK(b.loss != a.loss);
    }
}

TEST_CASE("moments in bf16 take half of the memory, and no other buffer changes", "[bare]") {
    for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::sgd}) {
        const TrainerConfig whole = with_moments(false, kind), rounded = with_moments(true, kind);
        CHECK(planned_bytes(rounded, Region::optimizer) * 2 == planned_bytes(whole, Region::optimizer));
        for (const Region region : {Region::parameters, Region::gradients, Region::activations})
            CHECK(planned_bytes(rounded, region) == planned_bytes(whole, region));
    }
}

TEST_CASE("a resumed run with moments in bf16 has the same bits, on any number of threads", "[bare]") {
    const TrainerConfig config = with_moments(true);
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer whole(config, corpus, 2), first(config, corpus, 1);
    for (int step = 0; step < 5; ++step) {
        whole.step();
        first.step();
    }
    save_checkpoint(first, folder / "c", {}, Tokenizer::bytes());
    const SafetensorsFile stored = read_safetensors(folder / "c" / "optimizer.safetensors");
    for (const Parameter& p : first.model().parameters().all())
        for (const char* moment : {".m", ".v"}) {
            CHECK(stored.tensors.at(p.name + moment).dtype == DType::bf16);
            CHECK(stored.tensors.at(p.name + moment).numel() == p.value.numel());
        }
    Trainer second(config, corpus, 1);
    second.step();
    load_checkpoint(second, folder / "c");
    for (int step = 0; step < 5; ++step) REQUIRE(whole.step().loss == second.step().loss);
    CHECK(all_parameters<float>(whole) == all_parameters<float>(second));
}

TEST_CASE("a checkpoint with moments of the other type is refused by its name and type", "[bare]") {
    const TokenCorpus corpus = tiny_corpus(900, 31);
    const TemporaryFolder folder;
    for (const bool are_rounded : {true, false}) {
        Trainer saved(with_moments(are_rounded), corpus, 1), other(with_moments(!are_rounded), corpus, 1);
        saved.step();
        save_checkpoint(saved, folder / "c", {}, Tokenizer::bytes());
        const std::vector<float> before = all_parameters<float>(other);
        CHECK_THROWS_WITH(load_checkpoint(other, folder / "c"),
                          ContainsSubstring(are_rounded ? "bf16, and" : "f32, and") &&
                              ContainsSubstring(are_rounded ? "f32 is wanted" : "bf16 is wanted"));
        CHECK(all_parameters<float>(other) == before);
    }
}
