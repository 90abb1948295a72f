#include "engine/bench/profile.h"

#include <map>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"

using namespace deft;
using namespace deft::engine;

TEST_CASE("a profile names every op of a step, with its work") {
    TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer trainer(config, corpus, 1);
    const StepProfile profile = profile_steps(trainer, 3);
    CHECK(trainer.counts().steps == 5);  // two to warm up

    std::map<std::string, int> calls;
    std::map<std::string, double> flops, bytes;
    double ops = 0;
    for (const ProfiledOp& op : profile.ops) {
        calls[op.op] += op.calls;
        ops += op.seconds;
        flops[op.op] += op.flops;
        bytes[op.op] += op.bytes;
        CHECK(op.seconds > 0);
        CHECK(op.bytes > 0);
    }
    const TransformerConfig& m = config.model;
    const std::int64_t micro_batches = config.batch_size / config.micro_batch_size;
    CHECK(calls["embedding_forward"] == micro_batches);
    CHECK(calls["linear_forward"] == 4 * m.layers() * micro_batches);
    CHECK(calls["linear_backward_input"] == 4 * m.layers() * micro_batches);
    CHECK(calls["linear_backward_weight"] == 4 * m.layers() * micro_batches);
    CHECK(calls["attention_backward"] == m.layers() * micro_batches);
    CHECK(calls["head_loss_train"] == micro_batches);
    CHECK(calls["sum_of_squares"] == 1);
    CHECK(calls["square_root"] == 1);
    // 2 rows C (3 C + C + 4 C + 4 C) a layer.
    const auto rows = static_cast<double>(config.batch_size * config.model.max_seqlen);
    CHECK(flops["linear_forward"] == 2 * rows * 12 * static_cast<double>(m.width * m.width * m.layers()));
    // 6 x 13 rows of 3 heads, 24 columns together: 13 queries see 1, 2, ... 13 keys. Queries, keys, values and
    // output 78 x 24, statistics 6 x 3 x 13. Four layers.
    CHECK(flops["attention_forward"] == 4 * 2 * (2 * 6 * 24 * 91));
    CHECK(flops["attention_backward"] == 4 * 5 * (2 * 6 * 24 * 91));
    CHECK(bytes["attention_forward"] == 4 * 4 * (4 * 1872 + 234));
    CHECK(bytes["attention_backward"] == 4 * 4 * (8 * 1872 + 234));
    // 78 ids take at most all 31 rows of the tokens' table, 13 positions theirs. The head has written the gradient that
    // tokens add to.
    CHECK(flops["embedding_forward"] == 1872);
    CHECK(bytes["embedding_forward"] == 4 * (1872 + 31 * 24 + 13 * 24 + 78));
    CHECK(flops["embedding_backward"] == 2 * 1872);
    CHECK(bytes["embedding_backward"] == 4 * (1872 + 2 * 31 * 24 + 13 * 24 + 78));
    // Rows and their gradients, the weight and its gradient, losses and targets.
    CHECK(flops["head_loss_train"] == 3 * (2 * 1872 * 31));
    CHECK(bytes["head_loss_train"] == 4 * (2 * 1872 + 2 * 31 * 24 + 2 * 78));

    CHECK(profile.seconds > 0);
    CHECK(profile.outside_ops > 0);
    CHECK(ops + profile.outside_ops == Approx(profile.seconds));
    CHECK(profile.step > 2);
    for (std::size_t i = 1; i < profile.ops.size(); ++i) {
        const ProfiledOp &before = profile.ops[i - 1], &op = profile.ops[i];
        CHECK((before.phase < op.phase || (before.phase == op.phase && before.seconds >= op.seconds)));
    }
}

TEST_CASE("the ops of a profile are those of one step, where every step has shapes of its own") {
    TrainerConfig config = tiny_config();
    config.techniques.seqtru = Pacing{4, 13, 1, 9, 1};
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer trainer(config, corpus, 1);
    const StepProfile profile = profile_steps(trainer, 6);
    const std::int64_t seqlen = plan_step(config, profile.step - 1).seqlen;
    int calls = 0;
    double seconds = profile.outside_ops;
    for (const ProfiledOp& op : profile.ops) {
        seconds += op.seconds;
        if (op.op != "embedding_forward") continue;
        calls += op.calls;
        INFO(op.shape);
        CHECK(op.shape.find(std::to_string(seqlen)) != std::string::npos);
    }
    CHECK(calls == 1);
    CHECK(seconds == Approx(profile.seconds));
}

TEST_CASE("the trace of a step is Chrome's: one event an op, none longer than the step") {
    const TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer trainer(config, corpus, 1);
    const StepProfile profile = profile_steps(trainer, 1);
    const Json events = Json::parse(chrome_trace(profile, "a step")).at("traceEvents");
    REQUIRE(events.size() == profile.records.size() + 1);
    CHECK(events[0].at("name") == "a step");
    const double length = events[0].at("dur");
    double end = 0;
    for (std::size_t i = 1; i < events.size(); ++i) {
        CHECK(events[i].at("ph") == "X");
        CHECK(events[i].at("ts").get<double>() >= end);
        end = events[i].at("ts").get<double>() + events[i].at("dur").get<double>();
    }
    CHECK(end <= length);
}

TEST_CASE("a profile changes no bit of what is trained") {
    const TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer profiled(config, corpus, 1), plain(config, corpus, 1);
    profile_steps(profiled, 2);
    for (int i = 0; i < 4; ++i) plain.step();
    CHECK(profiled.step().loss == plain.step().loss);
}

TEST_CASE("a trial that ends before it is profiled says so") {
    TrainerConfig config = tiny_config();
    config.budget_layer_tokens = 1;
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer trainer(config, corpus, 1);
    CHECK_THROWS_WITH(profile_steps(trainer, 2), ContainsSubstring("ends before"));
}
