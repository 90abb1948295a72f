// A step's draws as rows of the model's input, and training on each kind of them.

#include "engine/train/batches.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "engine/train/checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/bert_corpus.h"
#include "tests/engine/tiny.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::engine;
using namespace deft::test;
using kernels::kIgnoreTarget;

namespace {

// Token t is the number t, so that sample i of 6 tokens is 6 i .. 6 i + 5.
TokenCorpus counting_corpus(std::int64_t size) {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(size));
    std::iota(tokens.begin(), tokens.end(), 0);
    return corpus_of_tokens(std::move(tokens));
}

std::vector<Sampler::Draw> draws_of(const std::vector<std::int64_t>& samples) {
    std::vector<Sampler::Draw> draws;
    for (const std::int64_t sample : samples) draws.push_back({sample, 0});
    return draws;
}

template <class Item>
std::vector<Item> first_of(const Item* items, std::int64_t count) {
    return {items, items + count};
}

Ids token_rows(const ModelInput& input) {
    return first_of(input.token, input.B * input.T);
}
Ids target_rows(const ModelInput& input) {
    return first_of(input.target, input.B * input.T);
}

// Documents of sentences over nine words, of which each is mostly followed by the same next one.
std::shared_ptr<const BertSamples> learnable_samples(std::int64_t seqlen, std::uint64_t seed = 5) {
    std::mt19937_64 random(seed);
    Documents documents(12);
    for (auto& document : documents)
        for (int s = 0; s < 6; ++s) {
            Ids sentence;
            auto word = static_cast<std::int32_t>(random() % 9);
            for (std::uint64_t i = 0; i < 2 + random() % 5; ++i) {
                sentence.push_back(kFirstWord + word);
                word = random() % 8 == 0 ? static_cast<std::int32_t>(random() % 9) : (word + 1) % 9;
            }
            document.push_back(std::move(sentence));
        }
    return std::make_shared<const BertSamples>(corpus_of(documents), numbered_vocabulary(9, 0),
                                               SampleShape{.seqlen = seqlen}, MaskingRule{.fraction = 0.3}, seed);
}

TrainerConfig bert_config(std::int64_t seqlen = 20, std::int64_t batch = 6) {
    TrainerConfig config = tiny_config(3, seqlen, batch);
    for (BlockConfig& block : config.model.blocks) block.attention.causal = false;
    config.model.vocab = 14;
    return config;
}

// With BERT's second head, and what its first has in front.
TrainerConfig two_headed_config(std::int64_t seqlen, std::int64_t batch) {
    TrainerConfig config = bert_config(seqlen, batch);
    config.model.head->transform = HeadTransform{};
    config.model.class_head = ClassHeadConfig{.pooler = true};
    return config;
}

// index (sets, B, K) of the last micro-batch, by row.
std::vector<Ids> kept_rows(const Trainer& trainer) {
    const Tensor index = trainer.kept().index;
    const std::int64_t sets = index.dim(0), B = index.dim(1), K = index.dim(2);
    std::vector<Ids> rows(static_cast<std::size_t>(B));
    for (std::int64_t set = 0; set < sets; ++set)
        for (std::int64_t b = 0; b < B; ++b) {
            const std::int32_t* kept = index.as<std::int32_t>() + (set * B + b) * K;
            rows[static_cast<std::size_t>(b)].insert(rows[static_cast<std::size_t>(b)].end(), kept, kept + K);
        }
    return rows;
}

}  // namespace

TEST_CASE("packed rows: samples cut to the length of the step") {
    const TrainerConfig config = tiny_config(2, 6, 3);
    Batches batches(counting_corpus(6 * 9 + 1), config, Device::cpu);
    CHECK(sample_count(counting_corpus(6 * 9 + 1), 6) == 9);
    StepPlan plan = plan_step(config.model.extents(), config.techniques, 0, 3);
    batches.stage(plan, draws_of({4, 0, 8}), 30);
    ModelInput input = batches.rows(0, 3);
    CHECK(input.B == 3);
    CHECK(input.T == 6);
    CHECK(token_rows(input) == Ids{24, 25, 26, 27, 28, 29, 0, 1, 2, 3, 4, 5, 48, 49, 50, 51, 52, 53});
    CHECK(target_rows(input) == Ids{25, 26, 27, 28, 29, 30, 1, 2, 3, 4, 5, 6, 49, 50, 51, 52, 53, 54});
    CHECK(first_of(input.draw, 3) == std::vector<std::int64_t>{30, 31, 32});
    CHECK(input.length == nullptr);
    CHECK(input.segment == nullptr);
    CHECK(batches.targets().tokens == 18);
    CHECK(batches.tokens().input == 18);
    CHECK(batches.unique_tokens().count() == 18);

    TrainerConfig shorter = config;
    shorter.techniques.seqtru = Pacing{4, 6, 1, 10};
    Batches of_cut(counting_corpus(6 * 9 + 1), shorter, Device::cpu);
    plan = plan_step(shorter.model.extents(), shorter.techniques, 0, 3);
    REQUIRE(plan.seqlen == 4);
    of_cut.stage(plan, draws_of({4, 0, 8}), 0);
    input = of_cut.rows(0, 3);
    CHECK(token_rows(input) == Ids{24, 25, 26, 27, 0, 1, 2, 3, 48, 49, 50, 51});
    CHECK(target_rows(input) == Ids{25, 26, 27, 28, 1, 2, 3, 4, 49, 50, 51, 52});
    CHECK(of_cut.targets().tokens == 12);
    CHECK(of_cut.tokens().cut == 6);
    CHECK(of_cut.tokens().padding == 0);
    CHECK(of_cut.unique_tokens().count() == 12);
}

TEST_CASE("reshaped rows: samples end to end, split again, the last row padded") {
    TrainerConfig config = tiny_config(2, 6, 3);
    config.techniques.seqres = Pacing{4, 6, 1, 10};
    Batches batches(counting_corpus(6 * 9 + 1), config, Device::cpu);
    const StepPlan plan = plan_step(config.model.extents(), config.techniques, 0, 3);
    REQUIRE(plan.seqlen == 4);
    REQUIRE(plan.rows == 5);
    batches.stage(plan, draws_of({4, 0, 8}), 30);
    const ModelInput input = batches.rows(0, 5);
    CHECK(token_rows(input) == Ids{24, 25, 26, 27, 28, 29, 0, 1, 2, 3, 4, 5, 48, 49, 50, 51, 52, 53, 0, 0});
    CHECK(target_rows(input) == Ids{25, 26, 27, 28, 29, 30, 1, 2, 3, 4, 5, 6, 49, 50, 51, 52, 53, 54, -1, -1});
    CHECK(first_of(input.draw, 5) == std::vector<std::int64_t>{30, 31, 32, 33, 34});
    CHECK(batches.targets().tokens == 18);
    CHECK(batches.tokens().padding == 2);
    CHECK(batches.unique_tokens().count() == 18);
}

TEST_CASE("BERT rows: a sample each, masked by the number of its draw, with padding after it") {
    const auto samples = learnable_samples(20);
    TrainerConfig config = bert_config(20, 4);
    config.packs_samples = false;
    config.techniques.seqtru = Pacing{9, 20, 1, 10};
    CHECK(Batches(samples, config, Device::cpu).rows(0, 0).class_target == nullptr);  // the model has no class head
    config.model.class_head = ClassHeadConfig{};
    Batches batches(samples, config, Device::cpu);
    CHECK(sample_count(samples, 20) == samples->size());
    BertReader reader(*samples);
    const std::int32_t pad = samples->wordpiece()->vocabulary().pad;
    for (const std::int64_t step : {0, 10}) {
        const StepPlan plan = plan_step(config.model.extents(), config.techniques, step, 4);
        const std::int64_t T = plan.seqlen;
        REQUIRE(T == (step == 0 ? 10 : 20));
        const std::vector<Sampler::Draw> draws = draws_of({2, 7, 2, 5});
        batches.stage(plan, draws, 40 + step);
        const ModelInput input = batches.rows(0, 4);
        std::int64_t labels = 0, real = 0, cut = 0, ordered = 0;
        for (std::int64_t b = 0; b < 4; ++b) {
            const std::int64_t id = draws[static_cast<std::size_t>(b)].sample;
            BertSample sample = reader.read({id, static_cast<std::uint64_t>(40 + step + b)}, T);
            const std::int64_t length = sample.length();
            labels += length - std::count(sample.labels.begin(), sample.labels.end(), kIgnoreTarget);
            real += length;
            cut += samples->real_length(id) - length;
            CHECK(input.length[b] == length);
            CHECK(input.class_target[b] == sample.order);
            CHECK(batches.rows(b, 1).class_target[0] == sample.order);
            ordered += sample.order != kIgnoreTarget;
            CHECK(length == std::min(T, samples->real_length(id)));
            CHECK(input.draw[b] == 40 + step + b);
            const auto all = static_cast<std::size_t>(T);
            sample.tokens.resize(all, pad);
            sample.labels.resize(all, kIgnoreTarget);
            sample.types.resize(all, 0);
            CHECK(first_of(input.token + b * T, T) == sample.tokens);
            CHECK(first_of(input.target + b * T, T) == sample.labels);
            CHECK(first_of(input.segment + b * T, T) == sample.types);
        }
        CHECK(token_rows(batches.rows(0, 1)) != token_rows(batches.rows(2, 1)));  // one sample, masked otherwise
        CHECK(batches.targets().tokens == labels);
        CHECK(batches.targets().classes == ordered);
        CHECK(batches.tokens().input == real);
        CHECK(batches.tokens().cut == cut);
        CHECK(batches.tokens().padding == 4 * T - real);
    }
    std::int64_t unique = 0;
    for (const std::int64_t id : {2, 5, 7}) unique += samples->real_length(id);
    CHECK(batches.unique_tokens().count() == unique);
    CHECK(batches.unique_tokens().samples() == 3);

    config.techniques.seqtru.reset();
    config.techniques.seqres = Pacing{9, 20, 1, 10};
    CHECK_THROWS_WITH(Batches(samples, config, Device::cpu),
                      ContainsSubstring("a BERT sample cannot be cut across its special tokens"));
}

TEST_CASE("micro-batches are parts of the step, however it is split") {
    const auto samples = learnable_samples(20);
    TrainerConfig config = bert_config(20, 7);
    config.packs_samples = false;
    Batches batches(samples, config, Device::cpu);
    batches.stage(plan_step(config.model.extents(), config.techniques, 0, 7), draws_of({0, 1, 2, 3, 4, 5, 6}), 11);
    const ModelInput whole = batches.rows(0, 7);
    for (const std::int64_t at_once : {1, 2, 5}) {
        Ids token, target, segment, length;
        std::vector<std::int64_t> draw;
        for (std::int64_t first = 0; first < 7; first += at_once) {
            const ModelInput part = batches.rows(first, std::min(at_once, 7 - first));
            const std::int64_t positions = part.B * part.T;
            token.insert(token.end(), part.token, part.token + positions);
            target.insert(target.end(), part.target, part.target + positions);
            segment.insert(segment.end(), part.segment, part.segment + positions);
            length.insert(length.end(), part.length, part.length + part.B);
            draw.insert(draw.end(), part.draw, part.draw + part.B);
        }
        CHECK(token == token_rows(whole));
        CHECK(target == target_rows(whole));
        CHECK(segment == first_of(whole.segment, 7 * 20));
        CHECK(length == first_of(whole.length, 7));
        CHECK(draw == first_of(whole.draw, 7));
    }
}

TEST_CASE("the targets of a step are counted before its first micro-batch") {
    TrainerConfig config = two_headed_config(20, 6);
    keep_tokens(config, 8);
    const auto samples = learnable_samples(20);
    Trainer whole(config, samples, 1);
    const StepResult a = whole.accumulate_gradients();
    CHECK(a.token_loss == Approx(std::log(14)).epsilon(0.2));
    CHECK(a.class_loss == Approx(std::log(2)).epsilon(0.2));
    CHECK(a.loss == a.token_loss + a.class_loss);
    // The first samples have other numbers of targets than the last, so that a mean of means would differ.
    for (const std::int64_t at_once : {1, 2, 4}) {
        config.micro_batch_size = at_once;
        Trainer split(config, samples, 1);
        const StepResult b = split.accumulate_gradients();
        CHECK(b.token_loss == Approx(a.token_loss).epsilon(1e-6));
        CHECK(b.class_loss == Approx(a.class_loss).epsilon(1e-6));
        CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-5));
    }
}

TEST_CASE("short BERT samples of a variable batch are more rows at once than a micro-batch has samples") {
    const auto samples = learnable_samples(20);
    for (TrainerConfig config : {bert_config(20, 6), two_headed_config(20, 6)}) {
        config.techniques.seqtru = Pacing{10, 20, 1, 4, 1};
        config.techniques.variable_batch = VariableBatch{120, 1, 0};
        Trainer trainer(config, samples, 1);
        CHECK(plan_step(config, 0).rows > config.micro_batch_size);
        TrainerConfig in_one = config;
        in_one.micro_batch_size = largest_step(config).samples;
        Trainer whole(in_one, samples, 1);
        for (int step = 0; step < 5; ++step) {
            const StepResult a = whole.step(), b = trainer.step();
            CHECK(b.token_loss == Approx(a.token_loss).epsilon(1e-5));
            CHECK(b.class_loss == Approx(a.class_loss).epsilon(1e-5));
            CHECK(b.grad_norm == Approx(a.grad_norm).epsilon(1e-4));
        }
    }
}

TEST_CASE("training on BERT samples learns them, and counts real tokens") {
    const TrainerConfig config = bert_config();
    const auto samples = learnable_samples(20);
    Trainer trainer(config, samples, 1);
    double first = 0, last = 0;
    constexpr int kSteps = 1000;
    for (int step = 0; step < kSteps; ++step) {
        const double loss = trainer.step().loss;
        if (step < 10) first += loss / 10;
        if (step >= kSteps - 10) last += loss / 10;
    }
    CHECK(first > 2.2);
    CHECK(last < 1.6);
    const Counts& counts = trainer.counts();
    CHECK(counts.layer_tokens == kSteps * 6 * 20);
    CHECK(counts.input_tokens + counts.padding_tokens == kSteps * 6 * 20);
    CHECK(counts.padding_tokens > 0);
    CHECK(counts.cut_tokens == 0);
    std::int64_t real = 0;
    for (std::int64_t id = 0; id < samples->size(); ++id) real += samples->real_length(id);
    CHECK(trainer.unique_tokens() == real);
}

TEST_CASE("training on BERT samples has the same bits for any number of threads, and after a restart") {
    TrainerConfig config = two_headed_config(20, 6);
    keep_tokens(config, 9);
    config.techniques.seqtru = Pacing{8, 20, 1, 6};
    config.micro_batch_size = 4;
    const auto samples = learnable_samples(20);
    std::vector<std::vector<float>> weights;
    for (const int threads : {1, 2, 3}) {
        Trainer trainer(config, samples, threads);
        for (int step = 0; step < 8; ++step) trainer.step();
        weights.push_back(all_parameters<float>(trainer));
    }
    CHECK(weights[1] == weights[0]);
    CHECK(weights[2] == weights[0]);

    const TemporaryFolder folder;
    Trainer before(config, samples, 1), after(config, samples, 2);
    for (int step = 0; step < 3; ++step) before.step();
    save_checkpoint(before, folder / "c", Json::object(), Tokenizer::bytes());
    load_checkpoint(after, folder / "c");
    for (int step = 3; step < 8; ++step) {
        before.step();
        after.step();
    }
    CHECK(all_parameters<float>(after) == weights[0]);
    CHECK(after.unique_tokens() == before.unique_tokens());
    CHECK(after.counts().input_tokens == before.counts().input_tokens);
}

TEST_CASE("a step without a target has no loss and no gradient") {
    // Special tokens alone, of which none is masked.
    const Documents documents(4, {{kMask, kMask}, {kMask}});
    const auto samples = std::make_shared<const BertSamples>(corpus_of(documents), numbered_vocabulary(9, 0),
                                                             SampleShape{.seqlen = 20}, MaskingRule{}, 1);
    Trainer trainer(bert_config(), samples, 1);
    const StepResult result = trainer.step();
    CHECK(result.loss == 0);
    CHECK(result.grad_norm == 0);
}

TEST_CASE("a sample that is drawn twice in a step keeps other tokens each time, however the step is split") {
    for (const bool reshaped : {false, true}) {
        TrainerConfig config = tiny_config(4, 24, 6);
        keep_tokens(config, 6);
        if (reshaped) config.techniques.seqres = Pacing{12, 24, 1, 100};
        const TokenCorpus corpus = tiny_corpus(24 + 1, config.model.vocab);
        REQUIRE(corpus.samples(24) == 1);
        Trainer whole(config, corpus, 1);
        whole.step();
        whole.accumulate_gradients();
        const std::vector<Ids> rows = kept_rows(whole);
        REQUIRE(rows.size() == (reshaped ? 12 : 6));
        for (std::size_t a = 0; a < rows.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) CHECK(rows[a] != rows[b]);
        for (const std::int64_t at_once : {1, 2, 4, 5}) {
            config.micro_batch_size = at_once;
            Trainer split(config, corpus, 1);
            split.step();
            split.accumulate_gradients();
            const std::vector<Ids> last = kept_rows(split);
            CHECK(last == std::vector<Ids>(rows.end() - static_cast<std::ptrdiff_t>(last.size()), rows.end()));
        }
    }
}

TEST_CASE("a batch of BERT samples is learnt by heart, tokens and orders") {
    const TrainerConfig config = two_headed_config(20, 6);
    // As many samples as a step draws, each masked in one way.
    const Documents documents(1, {{6, 7, 8}, {9, 10}, {11, 12, 13}, {7, 7}, {10, 9, 8}, {6, 6}});
    const auto samples = std::make_shared<const BertSamples>(
        corpus_of(documents), numbered_vocabulary(9, 0), SampleShape{.seqlen = 20}, MaskingRule{.fraction = 0.3}, 3);
    Batches batches(samples, config, Device::cpu);
    const std::int64_t count = samples->size(), T = 20;
    REQUIRE(count >= 1);
    std::vector<Sampler::Draw> draws;
    for (std::int64_t i = 0; i < 6; ++i) draws.push_back({i % count, 0});
    batches.stage(plan_step(config.model.extents(), config.techniques, 0, 6), draws, 0);
    Arena arena;
    auto model = plan_and_commit(arena, [&](Arena& a) {
        return std::make_unique<Transformer>(a, config.model, Backend{Device::cpu, DType::f32, 1}, 6);
    });
    Exec exec = make_exec({Device::cpu, DType::f32, 1}, arena);
    initialise(exec, model->parameters(), 1, 0.1, config.model.layers());
    double norm = 1, none = 0;
    AdamW settings;
    const StepTargets targets = batches.targets();
    const double of_tokens = 1.0 / static_cast<double>(targets.tokens);
    const double of_classes = 1.0 / static_cast<double>(targets.classes);
    double token_loss = 0, class_loss = 0;
    for (std::int64_t step = 1; step <= 200; ++step) {
        settings.rates = kernels::adamw_rates(1e-2, settings.beta1, settings.beta2, step);
        model->load(exec, batches.rows(0, 6));
        model->forward_backward(exec, 6, T, {}, {}, {of_tokens, of_classes}, Accumulate::no);
        for (const ParameterTable::Group& group : model->parameters().groups())
            adamw_update(exec, group.value, {}, group.m, group.v, group.grad, make_tensor(&norm, DType::f64, {1}),
                         make_tensor(&none, DType::f64, {1}), settings);
        sum(exec, make_tensor(&token_loss, DType::f64, {1}), model->loss, Accumulate::no);
        sum(exec, make_tensor(&class_loss, DType::f64, {1}), model->class_loss, Accumulate::no);
    }
    CHECK(token_loss * of_tokens < 0.05);
    CHECK(class_loss * of_classes < 0.05);
}

TEST_CASE("a loss of orders that is not finite stops the step, though every gradient is") {
    const auto samples = learnable_samples(20);
    Trainer trainer(two_headed_config(20, 24), samples, 1);
    for (const Parameter& p : trainer.model().parameters().all())
        if (p.name == "class_head.bias") p.value.as<float>()[kSwapped] = -std::numeric_limits<float>::infinity();
    const std::vector<float> before = all_parameters<float>(trainer);
    CHECK_THROWS_WITH(trainer.step(), ContainsSubstring("training diverged at step 1"));
    CHECK(all_parameters<float>(trainer) == before);
}

TEST_CASE("FLOPs of a head for classes are of a sample, not of its rows") {
    TrainerConfig config = two_headed_config(20, 6);
    const double both = model_size(config.model).flops.rest.of(20);
    config.model.class_head.reset();
    const double one = model_size(config.model).flops.rest.of(20);
    const std::int64_t C = config.model.width;
    CHECK(both - one == Approx(static_cast<double>(6 * (C * C + C + 2 * C + 2))));
    config.model.head->transform.reset();
    CHECK(one - model_size(config.model).flops.rest.of(20) ==
          Approx(static_cast<double>(20 * 6 * (C * C + C + 2 * C))));
}
