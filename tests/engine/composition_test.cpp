// Lengths, routing and batches together: what a step takes, and that nothing is lost on the way.

#include <algorithm>
#include <map>
#include <random>

#include "engine/data_efficiency/techniques.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"

using namespace deft::engine;

namespace {

using Pairs = std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t>;

// The inputs of the last micro-batch with their targets, padding left out.
void add_pairs(Pairs& pairs, Trainer& trainer, std::int64_t rows, std::int64_t T) {
    const auto token = values<std::int32_t>(trainer.model().token.view({rows, T}));
    const auto target = values<std::int32_t>(trainer.model().target.view({rows, T}));
    for (std::size_t i = 0; i < token.size(); ++i)
        if (target[i] >= 0) ++pairs[{token[i], target[i]}];
}

TrainerConfig reshaped(std::int64_t length, std::int64_t seqlen = 13, std::int64_t batch = 6) {
    TrainerConfig config = tiny_config(4, seqlen, batch);
    config.techniques.seqres = Pacing{length, length, 1, 0, 1};
    return config;
}

}  // namespace

TEST_CASE("reshaped samples lose no token and repeat none", "[reference-defect]") {
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    for (const std::int64_t length : {1, 2, 5, 7, 12, 13}) {
        INFO("length " << length);
        TrainerConfig config = reshaped(length), whole = tiny_config(4, 13, 6);
        config.seed = whole.seed = seed;
        const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab, seed);
        Trainer cut(config, corpus, 1), plain(whole, corpus, 1);
        const StepPlan plan = cut.accumulate_gradients().plan;
        plain.accumulate_gradients();
        CHECK(plan.samples == 6);
        CHECK(plan.tokens == 6 * 13);
        CHECK(plan.rows == (6 * 13 + length - 1) / length);
        if (plan.rows * length <= 6 * 13) {  // all rows at once
            Pairs of_cut, of_plain;
            add_pairs(of_cut, cut, plan.rows, length);
            add_pairs(of_plain, plain, 6, 13);
            CHECK(of_cut == of_plain);
        }
        cut.update();
        CHECK(cut.counts().input_tokens == 6 * 13);
        CHECK(cut.counts().layer_tokens == 6 * 13);
        CHECK(cut.unique_tokens() == 6 * 13);
    }
}

TEST_CASE("a reshaped step is the same in any micro-batches") {
    TrainerConfig config = reshaped(5);  // 16 rows of 5, the last with two tokens of padding
    config.techniques.dropping = random_ltd(4, {3, 3, 1, 0, 1});
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    config.micro_batch_size = 7;  // 18 rows at once
    Trainer whole(config, corpus, 1);
    const StepResult a = whole.accumulate_gradients();
    for (const std::int64_t micro : {1, 2, 6}) {
        config.micro_batch_size = micro;
        Trainer split(config, corpus, 1);
        const StepResult b = split.accumulate_gradients();
        CHECK(b.loss == Approx(a.loss).epsilon(1e-6));
        CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-5));
    }
}

TEST_CASE("a reshaped step at full length is a plain step, bit for bit") {
    TrainerConfig config = reshaped(13), plain = tiny_config(4, 13, 6);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer a(config, corpus, 1), b(plain, corpus, 1);
    for (int step = 0; step < 3; ++step) CHECK(a.step().loss == b.step().loss);
    CHECK(all_parameters<float>(a) == all_parameters<float>(b));
}

TEST_CASE("a variable batch takes as many samples as have its tokens, and scales the rate") {
    Techniques techniques;
    techniques.seqtru = Pacing{16, 64, 16, 3, 1};
    techniques.variable_batch = VariableBatch{512, 1, 20};
    // d(1) = 32, d(2) = 48, d(3) = 64; 512 tokens are 16, 10 and 8 samples.
    CHECK(plan_step({64, 4}, techniques, 0, 8).samples == 16);
    CHECK(plan_step({64, 4}, techniques, 0, 8).tokens == 512);
    CHECK(plan_step({64, 4}, techniques, 0, 8).learning_rate_scale == 2.0);
    CHECK(plan_step({64, 4}, techniques, 1, 8).samples == 10);
    CHECK(plan_step({64, 4}, techniques, 2, 8).learning_rate_scale == 1.0);
    techniques.variable_batch->scaling = LearningRateScaling::square_root;
    CHECK(plan_step({64, 4}, techniques, 0, 8).learning_rate_scale == Approx(std::sqrt(2.0)));
    techniques.variable_batch->scaling = LearningRateScaling::none;
    CHECK(plan_step({64, 4}, techniques, 0, 8).learning_rate_scale == 1.0);
    techniques.variable_batch->max_samples = 12;
    CHECK(plan_step({64, 4}, techniques, 0, 8).samples == 12);
    techniques.variable_batch->min_samples = 11;
    CHECK(plan_step({64, 4}, techniques, 2, 8).samples == 11);
    const LargestStep largest = largest_step({64, 4}, techniques, 8);
    CHECK(largest.samples == 12);
    CHECK(largest.tokens == 11 * 64);
    CHECK(largest.least_seqlen == 32);
}

TEST_CASE("the largest step of a batch ramp is its last") {
    Techniques techniques;
    techniques.batch_ramp = Pacing{2, 12, 2, 40, 1};
    const LargestStep whole = largest_step({64, 4}, techniques, 12);
    CHECK(whole.samples == 12);
    CHECK(whole.tokens == 12 * 64);
    CHECK(whole.least_seqlen == 64);
    techniques.seqtru = Pacing{16, 64, 16, 3, 1};  // full long before the ramp is
    const LargestStep cut = largest_step({64, 4}, techniques, 12);
    CHECK(cut.samples == 12);
    CHECK(cut.tokens == 12 * 64);
    CHECK(cut.least_seqlen == 32);
    techniques.seqtru.reset();
    techniques.seqres = Pacing{24, 64, 8, 50, 1};  // the ramp's end comes before the full length
    const LargestStep reshaped = largest_step({64, 4}, techniques, 12);
    CHECK(reshaped.samples == 12);
    CHECK(reshaped.tokens >= 12 * 64);
    CHECK(reshaped.least_seqlen == 24);
}

TEST_CASE("a batch ramp ends at the whole batch and draws each sample once an epoch") {
    TrainerConfig config = tiny_config(4, 13, 6);
    config.techniques.batch_ramp = Pacing{2, 6, 2, 4, 1};
    const TokenCorpus corpus = tiny_corpus(13 * 40 + 1, config.model.vocab);  // 40 samples
    Trainer trainer(config, corpus, 1);
    const std::int64_t expected[] = {2, 2, 4, 4, 6, 6, 6, 6};  // 2 + 4 t / 4, rounded down to a multiple of 2
    std::int64_t samples = 0;
    for (const std::int64_t size : expected) {
        CHECK(trainer.step().plan.samples == size);
        samples += size;
        CHECK(trainer.counts().samples == samples);
        CHECK(trainer.unique_tokens() == 13 * samples);  // no sample twice
    }
}

TEST_CASE("every technique at once: resumed anywhere, the same bits", "[reference-defect]") {
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    TrainerConfig config = tiny_config(4, 13, 6);
    config.seed = seed;
    config.budget_layer_tokens = 2600;
    config.techniques.seqtru = Pacing{4, 13, 1, 9, 1};
    config.techniques.dropping = random_ltd(4, {3, 13, 1, 12, 1});
    config.techniques.variable_batch = VariableBatch{60, 2, 9};
    config.micro_batch_size = 2;
    std::mt19937 random(seed);
    std::vector<std::int64_t> a_values, b_values;
    for (int i = 0; i < 60; ++i) {
        a_values.push_back(static_cast<std::int64_t>(random() % 20));
        b_values.push_back(static_cast<std::int64_t>(random() % 20));
    }
    for (const auto& [name, difficulty] : {std::pair{"a", &a_values}, {"b", &b_values}}) {
        SampleCurriculum& metric = config.curricula.emplace_back();
        metric.pacing = {10, 100, 1, 11, 2};
        metric.index = index_of_values(*difficulty);
        metric.name = name;
    }
    const TokenCorpus corpus = tiny_corpus(13 * 60 + 1, config.model.vocab);
    Trainer whole(config, corpus, 2);
    std::vector<double> losses;
    while (!whole.done()) losses.push_back(whole.step().loss);
    REQUIRE(losses.size() >= 50);
    // A state after k steps, handed to a new trainer.
    Trainer before(config, corpus, 1);
    for (std::size_t k = 0; k < losses.size(); ++k) {
        Trainer after(config, corpus, 1);
        const auto& from = before.model().parameters();
        for (std::size_t p = 0; p < from.all().size(); ++p) {
            const Parameter& parameter = from[p];
            const Parameter& to = after.model().parameters()[p];
            std::copy_n(parameter.value.as<float>(), parameter.value.numel(), to.value.as<float>());
            std::copy_n(from.first_moment(parameter).as<float>(), parameter.value.numel(),
                        after.model().parameters().first_moment(to).as<float>());
            std::copy_n(from.second_moment(parameter).as<float>(), parameter.value.numel(),
                        after.model().parameters().second_moment(to).as<float>());
        }
        after.restore(before.counts(), before.unique_tokens_by_sample());
        REQUIRE(after.step().loss == losses[k]);
        before.step();
    }
    CHECK(before.done());
}

TEST_CASE("the statistics of sampling are those of its draws, resumed or not") {
    TrainerConfig config = tiny_config(4, 13, 6);
    config.techniques.seqtru = Pacing{5, 13, 1, 8, 1};
    std::vector<std::int64_t> difficulty;
    for (std::int64_t i = 0; i < 47; ++i) difficulty.push_back(i * 7 % 47);
    SampleCurriculum& metric = config.curricula.emplace_back();
    metric.pacing = {20, 100, 1, 10, 1};
    metric.index = index_of_values(difficulty);
    metric.name = "mine";
    const TokenCorpus corpus = tiny_corpus(13 * 47 + 1, config.model.vocab);
    Trainer trainer(config, corpus, 1), resumed(config, corpus, 1);

    std::vector<std::int64_t> times(47, 0);
    for (std::int64_t step = 0; step < 14; ++step) {
        const StepPlan plan = trainer.step().plan;
        if (step == 6) resumed.restore(trainer.counts(), trainer.unique_tokens_by_sample());
        if (step > 6) resumed.step();
        const std::int64_t percent = step + 1 < 10 ? 20 + 8 * (step + 1) : 100;
        CHECK(trainer.sampling().pool == 47 * percent / 100);
        CHECK(plan.samples == 6);
    }
    std::int64_t tenths[10] = {}, sizes[10] = {};
    for (std::int64_t rank = 0; rank < 47; ++rank) ++sizes[rank * 10 / 47];
    const SamplingStatistics statistics = trainer.sampling();
    double draws = 0;
    for (std::size_t i = 0; i < 10; ++i) {
        tenths[i] = trainer.counts().draws_by_tenth[i];
        CHECK(statistics.epochs[i] == static_cast<double>(tenths[i]) / static_cast<double>(sizes[i]));
        draws += static_cast<double>(tenths[i]);
    }
    CHECK(draws == 14 * 6);
    CHECK(statistics.epochs[0] > statistics.epochs[9]);  // the easiest came first
    CHECK(statistics.drawn == 84);
    const auto longest = trainer.unique_tokens_by_sample();
    CHECK(statistics.repeated == 84 - std::count_if(longest.begin(), longest.end(), [](auto n) { return n > 0; }));
    CHECK(trainer.counts().cut_tokens == 84 * 13 - trainer.counts().input_tokens);
    CHECK(trainer.counts().draws_by_tenth == resumed.counts().draws_by_tenth);
    CHECK(resumed.sampling().repeated == statistics.repeated);
}

TEST_CASE("one, two, three and eight ranks see the same global batch") {
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    SampleCurriculum metric;
    metric.pacing = {1, 100, 1, 40, 2};
    std::mt19937 random(seed);
    std::vector<std::int64_t> difficulty;
    for (int i = 0; i < 500; ++i) difficulty.push_back(static_cast<std::int64_t>(random() % 90));
    metric.index = index_of_values(difficulty);
    const std::int64_t batch = 24, steps = 60;
    const auto draws_before = [=](std::int64_t step) { return step * batch; };
    const Sampler whole(seed, admit({&metric, 1}, steps), steps, draws_before);
    for (const std::int64_t ranks : {1, 2, 3, 8})
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            const Sampler own(seed, admit({&metric, 1}, steps), steps, draws_before);  // a process of its own
            const std::int64_t share = batch / ranks;
            std::vector<Sampler::Draw> draws(static_cast<std::size_t>(share));
            for (const std::int64_t step : {59, 0, 17, 40}) {  // any order, any prefetch
                const std::int64_t first = step * batch + rank * share;
                own.fill(first, draws);
                for (std::int64_t i = 0; i < share; ++i)
                    REQUIRE(draws[static_cast<std::size_t>(i)].sample == whole.sample_at(first + i));
            }
        }
}
