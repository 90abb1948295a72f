// Whole-model equalities: finite differences, causality, batch splits, threads, token dropping.

#include <cmath>

#include "tests/engine/finite_differences.h"
#include "tests/refusal.h"

using namespace deft::engine;

namespace {

double loss_of(Trainer& trainer) {
    return trainer.accumulate_gradients().loss;
}

void check_gradients(const TrainerConfig& config) {
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer trainer(config, corpus, 1, DType::f64);
    check_finite_differences(trainer.model().parameters(), 1e-9, [&] { return loss_of(trainer); });
}

}  // namespace

TEST_CASE("gradients of the double model match finite differences") {
    check_gradients(tiny_config(2, 7, 3));
}

TEST_CASE("gradients with dropped tokens and micro-batches match finite differences") {
    TrainerConfig config = tiny_config(4, 9, 3);
    keep_tokens(config, 5);
    config.micro_batch_size = 2;
    check_gradients(config);
}

TEST_CASE("the float model computes what the double model computes") {
    TrainerConfig config = tiny_config();
    keep_tokens(config, 7);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer single(config, corpus, 2), reference(config, corpus, 1, DType::f64);
    const StepResult a = single.accumulate_gradients(), b = reference.accumulate_gradients();
    CHECK(a.loss == Approx(b.loss).epsilon(1e-6));
    CHECK(a.grad_norm == Approx(b.grad_norm).epsilon(1e-5));
    for (std::size_t i = 0; i < single.model().parameters().all().size(); ++i) {
        const auto x = values<float>(single.model().parameters()[i].grad);
        const auto y = values<double>(reference.model().parameters()[i].grad);
        double error = 0, size = 1e-30;
        for (std::size_t e = 0; e < x.size(); ++e) {
            error += (static_cast<double>(x[e]) - y[e]) * (static_cast<double>(x[e]) - y[e]);
            size += y[e] * y[e];
        }
        INFO(single.model().parameters()[i].name);
        CHECK(error / size < 1e-9);
    }
}

TEST_CASE("one batch is learnt by heart") {
    TrainerConfig config = tiny_config(3, 13, 4);
    config.optimizer.weight_decay = 0;
    const TokenCorpus corpus = tiny_corpus(4 * 13 + 1, config.model.vocab);  // as many samples as the batch
    Trainer trainer(config, corpus, 1);
    double loss = 0;
    for (int i = 0; i < 300; ++i) loss = trainer.step().loss;
    CHECK(loss < 0.02);
}

TEST_CASE("a future token does not change an earlier loss") {
    TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer trainer(config, corpus, 1);
    for (int i = 0; i < 3; ++i) trainer.step();
    Transformer& model = trainer.model();
    constexpr std::int64_t B = 2, T = 13, changed = 8;
    std::vector<std::int32_t> token, target;
    for (std::int32_t i = 0; i < B * T; ++i) {
        token.push_back(i % 31);
        target.push_back(i * 7 % 31);
    }
    model.load(trainer.exec(), {B, T, token.data(), target.data()});
    model.evaluate(trainer.exec(), B, T);
    const auto before = values<float>(model.loss.view({B, T}));
    for (std::int64_t t = changed; t < T; ++t) model.token.as<std::int32_t>()[t] = 30;
    model.evaluate(trainer.exec(), B, T);
    const auto after = values<float>(model.loss.view({B, T}));
    for (std::int64_t t = 0; t < changed; ++t)
        CHECK(before[static_cast<std::size_t>(t)] == after[static_cast<std::size_t>(t)]);
    CHECK(before[changed] != after[changed]);  // the test can fail
}

TEST_CASE("micro-batches change only rounding") {
    for (const bool dropped : {false, true}) {
        TrainerConfig config = tiny_config(4, 13, 6);
        if (dropped) keep_tokens(config, 6);
        const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
        Trainer whole(config, corpus, 1);
        const StepResult a = whole.accumulate_gradients();
        for (const std::int64_t micro : {1, 2, 4}) {
            config.micro_batch_size = micro;
            Trainer split(config, corpus, 1);
            const StepResult b = split.accumulate_gradients();
            CHECK(b.loss == Approx(a.loss).epsilon(1e-6));
            CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-5));
            const auto x = values<float>(whole.model().parameters().flat_gradients());
            const auto y = values<float>(split.model().parameters().flat_gradients());
            for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == Approx(x[i]).epsilon(1e-3).margin(1e-6));
        }
    }
}

TEST_CASE("one, two and three threads give the same bits") {
    TrainerConfig config = tiny_config(4, 37, 6);
    keep_tokens(config, 17);
    config.techniques.seqtru = Pacing{8, 37, 1, 6, 1};
    config.micro_batch_size = 4;
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    std::vector<std::vector<float>> weights;
    for (const int threads : {1, 2, 3, 1}) {
        Trainer trainer(config, corpus, threads);
        for (int i = 0; i < 8; ++i) trainer.step();
        weights.push_back(all_parameters<float>(trainer));
    }
    CHECK(weights[0] == weights[1]);
    CHECK(weights[0] == weights[2]);
    CHECK(weights[0] == weights[3]);
}

TEST_CASE("keeping every token is the plain model") {
    TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer plain(config, corpus, 1);
    const StepResult a = plain.accumulate_gradients();
    // Through the indexed path with an index that names every row.
    Trainer indexed(config, corpus, 1);
    indexed.accumulate_gradients();
    constexpr std::int64_t B = 6, T = 13, dropped = 2;
    std::vector<std::int32_t> index(dropped * B * T);
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<std::int32_t>(i % T);
    const std::vector<std::int32_t> set_of_layer = {-1, 0, 1, -1};
    const KeptTokens all{make_tensor(index.data(), DType::i32, {dropped, B, T}), set_of_layer};
    indexed.model().forward_backward(indexed.exec(), B, T, all, {}, {1.0 / (B * T)}, Accumulate::no);
    const auto loss = values<float>(indexed.model().loss.view({B, T}));
    double total = 0;
    for (const float l : loss) total += static_cast<double>(l);
    CHECK(total / (B * T) == Approx(a.loss).epsilon(1e-6));
    const auto x = values<float>(plain.model().parameters().flat_gradients());
    const auto y = values<float>(indexed.model().parameters().flat_gradients());
    for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == Approx(x[i]).epsilon(1e-3).margin(1e-6));
}

TEST_CASE("a wrong learning rate ends in a clear error, not in NaN weights") {
    TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer trainer(config, corpus, 1);
    trainer.model().parameters()[0].value.as<float>()[5] = NAN;
    for (std::int64_t i = 0; i < corpus.samples(13) * 13; ++i) {
        // The poisoned row must be read by some batch before long.
        try {
            trainer.step();
        } catch (const deft::Error& error) {
            CHECK(error.kind() == deft::ErrorKind::nonfinite);
            CHECK_THAT(error.what(), ContainsSubstring("diverged at step"));
            CHECK_THAT(error.what(), ContainsSubstring("train.learning_rate"));
            return;
        }
    }
    FAIL("NaN went unnoticed");
}

TEST_CASE("a gradient that is not finite ends training where the loss still is, and changes nothing") {
    TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer trainer(config, corpus, 1);
    const auto scale = [&](const std::string& name, float by) {
        const Tensor& value = parameter_of(trainer, name).value;
        for (std::int64_t i = 0; i < value.numel(); ++i) value.as<float>()[i] *= by;
    };
    // Forward the two cancel; backward, the gradient between them is beyond what a float holds.
    scale("h.1.ln_2.weight", 1e-36F);
    scale("h.1.mlp.c_fc.weight", 1e37F);
    scale("ln_f.weight", 1e4F);
    const StepResult result = trainer.accumulate_gradients();
    REQUIRE(std::isfinite(result.loss));
    REQUIRE_FALSE(std::isfinite(result.grad_norm));

    const std::vector<float> before = all_parameters<float>(trainer);
    CHECK_THAT(deft::test::refusal(deft::ErrorKind::nonfinite, [&] { trainer.step(); }),
               ContainsSubstring("diverged at step 1") && ContainsSubstring("gradient norm"));
    CHECK(all_parameters<float>(trainer) == before);
    CHECK(trainer.counts().steps == 0);
    for (const Parameter& p : trainer.model().parameters().all())
        for (const Tensor& moment :
             {trainer.model().parameters().first_moment(p), trainer.model().parameters().second_moment(p)})
            for (const float m : values<float>(moment)) REQUIRE(m == 0);
}
