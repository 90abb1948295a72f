// Labelled texts as rows of a step, and training on them.

#include <limits>
#include <map>
#include <set>

#include "base/json.h"
#include "engine/train/batches.h"
#include "engine/train/checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/finite_differences.h"
#include "tests/engine/labelled_texts.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::engine;
using namespace deft::test;

namespace {

std::vector<Sampler::Draw> labelled_draws(const std::vector<std::int64_t>& samples) {
    std::vector<Sampler::Draw> draws;
    for (const std::int64_t sample : samples) draws.push_back({sample, 0});
    return draws;
}

std::vector<float> labelled_weights_after(const TrainerConfig& config, const TrainingData& data, int threads,
                                          int steps) {
    Trainer trainer(config, data, threads);
    for (int step = 0; step < steps; ++step) trainer.step();
    return all_parameters<float>(trainer);
}

double largest_relative(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0, power = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(a[i] - b[i]));
        power += b[i] * b[i];
    }
    return largest / std::sqrt(power / static_cast<double>(b.size()));
}

}  // namespace

TEST_CASE("labelled texts become rows, cut from the end of the whole") {
    const auto vocabulary = numbered_vocabulary(9, 0)->vocabulary();
    const Ids a = {5, 6, 7}, b = {8, 9};
    LabelledSamples whole(vocabulary, 9, 2), cut(vocabulary, 7, 2), one(vocabulary, 4, 2);
    whole.add_class({a, b}, 1);
    whole.add_class({b, {}}, 0);
    CHECK(whole.size() == 2);
    const auto ids = [](std::span<const std::int32_t> row) { return Ids(row.begin(), row.end()); };
    CHECK(ids(whole.tokens(0)) == Ids{kCls, 5, 6, 7, kSep, 8, 9, kSep});
    CHECK(ids(whole.types(0)) == Ids{0, 0, 0, 0, 0, 1, 1, 1});
    CHECK(ids(whole.tokens(1)) == Ids{kCls, 8, 9, kSep});
    CHECK(ids(whole.types(1)) == Ids{0, 0, 0, 0});
    CHECK(whole.labels() == Ids{1, 0});
    CHECK(whole.cut(0) == 0);
    CHECK(whole.length(0) == 8);
    CHECK(whole.length(1) == 4);
    CHECK(whole.pad() == kPad);
    cut.add_class({a, b}, 1);
    CHECK(ids(cut.tokens(0)) == Ids{kCls, 5, 6, 7, kSep, 8, kSep});
    CHECK(cut.cut(0) == 1);
    one.add_class({a, {}}, 1);
    CHECK(ids(one.tokens(0)) == Ids{kCls, 5, 6, kSep});
    CHECK(one.cut(0) == 1);
    LabelledSamples values(vocabulary, 9, 0);
    values.add_value({a, b}, 3.5f);
    CHECK(values.values() == std::vector<float>{3.5f});
    CHECK(values.has_values());

    CHECK_THAT(refusal([&] { whole.add_class({Ids{}, {}}, 1); }), ContainsSubstring("the record's text has no tokens"));
    CHECK_THAT(refusal([&] { whole.add_class({Ids{}, b}, 1); }), ContainsSubstring("the first text has no tokens"));
    CHECK_THAT(refusal([&] { whole.add_class({a, Ids{}}, 1); }), ContainsSubstring("the second text has no tokens"));
    CHECK_THAT(refusal([&] { whole.add_class({a, b}, 2); }), ContainsSubstring("class 2 of samples that have 2"));
    CHECK_THAT(refusal([&] { whole.add_class({a, b}, -1); }), ContainsSubstring("class -1"));
    CHECK_THAT(refusal([&] { whole.add_value({a, b}, 1); }), ContainsSubstring("that have classes"));
    CHECK_THAT(refusal([&] {
                   values.add_value({a, b}, std::numeric_limits<float>::infinity());
               }),
               ContainsSubstring("value is inf"));
    CHECK_THAT(refusal([&] { LabelledSamples(vocabulary, 1, 2); }), ContainsSubstring("cannot hold [CLS] and [SEP]"));
    CHECK(whole.size() == 2);  // what was refused is not there
}

TEST_CASE("labelled rows of a step, packed and padded") {
    for (const std::int64_t classes : {0, 3}) {
        const auto samples = small_labelled_texts(20, classes);
        TrainerConfig config = labelled_training(classes, 4);
        Batches packed(samples, config, Device::cpu);
        config.packs_samples = false;
        Batches padded(samples, config, Device::cpu);
        const std::vector<std::int64_t> numbers = {6, 1, 6, 8};
        for (Batches* batches : {&packed, &padded}) batches->stage(plan_step(config, 0), labelled_draws(numbers), 30);
        CHECK(sample_count(samples, 99) == 20);
        CHECK(padded.targets().classes == 4);
        CHECK(padded.targets().tokens == 0);
        const ModelInput rows = packed.rows(0, 4), wide = padded.rows(0, 4);
        CHECK(wide.target == nullptr);
        CHECK((wide.class_target == nullptr) == (classes == 0));
        CHECK((wide.value_target == nullptr) == (classes != 0));
        std::int64_t start = 0, input = 0, cut = 0;
        for (std::int64_t b = 0; b < 4; ++b) {
            const std::int64_t sample = numbers[static_cast<std::size_t>(b)], length = samples->length(sample);
            REQUIRE(wide.length[b] == length);
            CHECK(wide.draw[b] == 30 + b);
            CHECK(rows.start[b] == start);
            for (std::int64_t t = 0; t < kLongestText; ++t) {
                const auto at = static_cast<std::size_t>(t);
                CHECK(wide.token[b * kLongestText + t] == (t < length ? samples->tokens(sample)[at] : kPad));
                CHECK(wide.segment[b * kLongestText + t] == (t < length ? samples->types(sample)[at] : 0));
                if (t >= length) continue;
                CHECK(rows.token[start + t] == samples->tokens(sample)[at]);
                CHECK(rows.segment[start + t] == samples->types(sample)[at]);
                CHECK(rows.position[start + t] == t);
            }
            if (classes == 0)
                CHECK(padded.rows(b, 1).value_target[0] == samples->values()[static_cast<std::size_t>(sample)]);
            else
                CHECK(padded.rows(b, 1).class_target[0] == samples->labels()[static_cast<std::size_t>(sample)]);
            start += length;
            input += length;
            cut += samples->cut(sample);
        }
        CHECK(rows.rows() == start);
        CHECK(cut > 0);
        for (const Batches* batches : {&packed, &padded}) {
            CHECK(batches->tokens().input == input);
            CHECK(batches->tokens().cut == cut);
            CHECK(batches->tokens().padding == 4 * kLongestText - input);
            CHECK(batches->unique_tokens().count() == input - samples->length(6));
        }
    }
}

TEST_CASE("a model of other labels, another head or another length is refused labelled texts") {
    const auto batches_of = [](const TrainingData& data, const TrainerConfig& config) {
        return refusal([&] { Batches(data, config, Device::cpu); });
    };
    const auto classes = small_labelled_texts(9, 3), values = small_labelled_texts(9, 0);
    const TrainerConfig right = labelled_training(3, 4);
    CHECK(batches_of(classes, right) == "accepted");
    CHECK(batches_of(values, labelled_training(0, 4)) == "accepted");
    CHECK_THAT(batches_of(values, right), ContainsSubstring("the model predicts 3 classes, and the texts have values"));
    CHECK_THAT(batches_of(classes, labelled_training(0, 4)),
               ContainsSubstring("predicts values, and the texts have 3 classes"));
    CHECK_THAT(batches_of(classes, labelled_training(4, 4)), ContainsSubstring("predicts 4 classes"));
    TrainerConfig config = right;
    config.model.max_seqlen = 11;
    CHECK_THAT(batches_of(classes, config), ContainsSubstring("cut to 12 tokens, for a model of 11"));
    config = right;
    config.model.head = HeadConfig{};
    CHECK_THAT(batches_of(classes, config), ContainsSubstring("another head than theirs"));
    config = right;
    config.model.class_head.reset();
    CHECK_THAT(batches_of(classes, config), ContainsSubstring("for a model that takes none"));
    for (const bool reshapes : {false, true}) {
        config = right;
        (reshapes ? config.techniques.seqres : config.techniques.seqtru) = Pacing{4, 12, 1, 10};
        CHECK_THAT(batches_of(classes, config), ContainsSubstring("would cut labelled texts"));
    }
    // Other samples for a regression model.
    Trainer trainer(labelled_training(0, 4), values, 1);
    ModelInput input{.B = 1, .T = 2};
    const Ids token = {2, 3}, segment = {0, 0};
    input.token = token.data();
    input.segment = segment.data();
    CHECK_THAT(refusal([&] { trainer.model().load(trainer.exec(), input); }),
               ContainsSubstring("a regression head is given no values"));
    const float number = std::numeric_limits<float>::quiet_NaN();
    input.value_target = &number;
    CHECK_THAT(refusal([&] { trainer.model().load(trainer.exec(), input); }),
               ContainsSubstring("a sample's value is nan"));
}

TEST_CASE("heads of classes and of values alone have the gradients of finite differences") {
    for (const std::int64_t classes : {0, 3})
        for (const double dropout : {0.0, 0.4})
            for (const Pooling pooling : {Pooling::first, Pooling::mean}) {
                TransformerConfig config = labelled_model(classes, dropout);
                config.class_head->pooling = pooling;
                config.class_head->pooler = pooling == Pooling::first;
                Model model(config);
                check_finite_differences(model.transformer->parameters(), 1e-9, [&] { return model.train(); });
            }
}

TEST_CASE("head dropout is separate from the model's other dropout, and off in evaluation") {
    Model with(labelled_model(0, 0.5)), without(labelled_model(0, 0));
    with.train();
    without.train();
    const auto dropped = values<double>(with.transformer->value), whole = values<double>(without.transformer->value);
    CHECK(dropped != whole);
    with.transformer->evaluate(with.exec, Model::B, Model::T);
    CHECK(values<double>(with.transformer->value) == whole);
    for (std::size_t b = 0; b < 3; ++b) {
        const double error = whole[b] - static_cast<double>(with.value_target[b]);
        CHECK(values<double>(with.transformer->class_loss)[b] == Approx(error * error));
    }
    // Another step draws differently, the same one alike.
    with.train();
    CHECK(values<double>(with.transformer->value) == dropped);
    with.draw = {6, 4, 9};
    with.train();
    CHECK(values<double>(with.transformer->value) != dropped);
}

TEST_CASE("packed labelled texts have the losses and gradients of padded ones") {
    const Backend in_double{Device::cpu, DType::f64, 1};
    for (const std::int64_t classes : {0, 3})
        for (const bool drops : {false, true}) {
            TrainerConfig config = labelled_training(classes, 7, 0.3);
            config.model.blocks.resize(4, config.model.blocks[0]);
            for (BlockConfig& block : config.model.blocks) block.dropout = block.attention.dropout = 0.2;
            config.micro_batch_size = 4;
            if (drops) config.techniques.dropping = random_ltd(4, {5, 5, 1, 0, 1});
            const auto samples = small_labelled_texts(20, classes);
            Trainer packed(config, samples, in_double);
            config.packs_samples = false;
            Trainer padded(config, samples, in_double);
            for (int step = 0; step < 4; ++step) {
                const StepResult a = packed.accumulate_gradients(), b = padded.accumulate_gradients();
                CHECK(a.loss == Approx(b.loss).epsilon(1e-12));
                CHECK(a.class_loss == a.loss);
                CHECK(a.token_loss == 0);
                CHECK(largest_relative(values<double>(packed.model().parameters().flat_gradients()),
                                       values<double>(padded.model().parameters().flat_gradients())) < 1e-10);
                packed.update();
                padded.update();
            }
            CHECK(packed.counts().input_tokens == padded.counts().input_tokens);
        }
}

TEST_CASE("an epoch shows every labelled text once, in its last step what is left of them") {
    TrainerConfig config = labelled_training(3, 4);
    config.epoch_samples = 10;
    config.budget_layer_tokens = 3 * 10 * kLongestText;
    const auto samples = small_labelled_texts(10, 3);
    const Sampler sampler = make_sampler(config, 10);
    std::vector<std::int64_t> taken;
    std::int64_t first = 0;
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
        std::map<std::int64_t, int> seen;
        for (int step = 0; step < 3; ++step) {
            const StepPlan plan = plan_step(config, 3 * epoch + step);
            taken.push_back(plan.samples);
            std::vector<Sampler::Draw> draws(static_cast<std::size_t>(plan.samples));
            sampler.fill(first, draws);
            first += plan.samples;
            for (const Sampler::Draw& draw : draws) ++seen[draw.sample];
        }
        CHECK(seen.size() == 10);
    }
    CHECK(taken == std::vector<std::int64_t>{4, 4, 2, 4, 4, 2, 4, 4, 2});
    const Counts end = run_schedule(config);
    CHECK(end.steps == 9);
    CHECK(end.samples == 30);
    CHECK(end.layer_tokens == config.budget_layer_tokens);

    Trainer trainer(config, samples, 2);
    while (!trainer.done()) {
        const StepResult result = trainer.step();
        if (result.plan.samples == 2) {
            // The mean over the two alone.
            const auto losses = values<float>(trainer.model().class_loss.view({2}));
            CHECK(result.loss == Approx((losses[0] + losses[1]) / 2).epsilon(1e-6));
        }
    }
    CHECK(trainer.counts().samples == 30);
    CHECK(trainer.counts().steps == 9);
    CHECK(trainer.sampling().repeated == 20);

    // Whole batches, one sample, fewer than a batch, and no epochs.
    const auto batches = [&](std::int64_t of_epoch, std::int64_t batch) {
        config.epoch_samples = of_epoch;
        config.batch_size = batch;
        std::vector<std::int64_t> all;
        for (std::int64_t step = 0; step < 4; ++step) all.push_back(plan_step(config, step).samples);
        return all;
    };
    using Ints = std::vector<std::int64_t>;
    CHECK(batches(8, 4) == Ints{4, 4, 4, 4});
    CHECK(batches(3, 4) == Ints{3, 3, 3, 3});
    CHECK(batches(1, 1) == Ints{1, 1, 1, 1});
    CHECK(batches(9, 4) == Ints{4, 4, 1, 4});
    CHECK(batches(0, 4) == Ints{4, 4, 4, 4});
}

TEST_CASE("epochs of whole steps pass over what is left, in each epoch something else") {
    TrainerConfig config = labelled_training(3, 4);
    config.epoch_samples = 10;
    config.whole_steps = true;
    config.budget_layer_tokens = 3 * 8 * kLongestText;
    const auto samples = small_labelled_texts(10, 3);
    const Sampler sampler = make_sampler(config, 10);
    std::set<std::vector<std::int64_t>> left_out;
    std::int64_t drawn = 0;
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
        std::set<std::int64_t> seen;
        for (int step = 0; step < 2; ++step) {
            const std::int64_t number = 2 * epoch + step;
            CHECK(plan_step(config, number).samples == 4);
            CHECK(first_draw(config, number, drawn) == 10 * epoch + 4 * step);
            std::vector<Sampler::Draw> draws(4);
            sampler.fill(first_draw(config, number, drawn), draws);
            for (const Sampler::Draw& draw : draws) CHECK(seen.insert(draw.sample).second);
            drawn += 4;
        }
        std::vector<std::int64_t> missing;
        for (std::int64_t sample = 0; sample < 10; ++sample)
            if (!seen.contains(sample)) missing.push_back(sample);
        left_out.insert(missing);
    }
    CHECK(left_out.size() > 1);
    CHECK(run_schedule(config).steps == 6);

    // The trainer trains on those, before and after a restart: of six texts in steps of four the first step of each
    // epoch.
    config.epoch_samples = 6;
    const auto few = small_labelled_texts(6, 3);
    const std::vector<float> weights = labelled_weights_after(config, few, 1, 3);
    const TemporaryFolder folder;
    Trainer before(config, few, 1), after(config, few, 1);
    before.step();
    save_checkpoint(before, folder / "c", Json::object(), Tokenizer::bytes());
    load_checkpoint(after, folder / "c");
    for (int step = 0; step < 2; ++step) after.step();
    CHECK(all_parameters<float>(after) == weights);
    CHECK(after.counts().samples == 12);
    config.whole_steps = false;
    config.epoch_samples = 0;  // draws 4 to 7 in the second step, not 6 to 9
    CHECK(labelled_weights_after(config, few, 1, 3) != weights);
    // Without whole steps a step begins where the last one ended.
    CHECK(first_draw(config, 5, 17) == 17);
    config.epoch_samples = 10;
    CHECK(first_draw(config, 5, 17) == 17);
}

TEST_CASE("labelled texts are learnt by heart, by their classes and by their values") {
    for (const std::int64_t classes : {0, 3}) {
        TrainerConfig config = labelled_training(classes, 6);
        const auto samples = small_labelled_texts(6, classes);
        Trainer trainer(config, samples, 1);
        const double first = trainer.step().loss;
        for (int step = 0; step < 300; ++step) trainer.step();
        const double last = trainer.step().loss;
        INFO(classes << " classes, from a loss of " << first << " to " << last);
        CHECK(last < 0.02);
        CHECK(first > 0.5);
        Batches batches(samples, config, Device::cpu);
        batches.stage(plan_step(config, 0), labelled_draws({5, 4, 3, 2, 1, 0}), 0);
        trainer.model().load(trainer.exec(), batches.rows(0, 6));
        trainer.model().evaluate(trainer.exec(), 6, kLongestText);
        for (std::size_t i = 0; i < 6; ++i)
            if (classes == 0)
                CHECK(trainer.model().value.as<float>()[i] == Approx(samples->values()[5 - i]).margin(0.3));
            else
                CHECK(trainer.model().class_greedy.as<std::int32_t>()[i] == 1);
    }
}

TEST_CASE("training on labelled texts has the same bits for any number of threads, recomputed, and after a restart") {
    for (const std::int64_t classes : {0, 3}) {
        TrainerConfig config = labelled_training(classes, 6, 0.1);
        config.model.blocks.resize(4, config.model.blocks[0]);
        config.micro_batch_size = 4;
        config.epoch_samples = 20;
        config.model.input.dropout = 0.1;
        for (BlockConfig& block : config.model.blocks) block.dropout = block.attention.dropout = 0.1;
        config.techniques.dropping = random_ltd(4, {3, 12, 1, 6, 1});
        const auto samples = small_labelled_texts(20, classes);
        const std::vector<float> weights = labelled_weights_after(config, samples, 1, 8);
        CHECK(labelled_weights_after(config, samples, 2, 8) == weights);
        CHECK(labelled_weights_after(config, samples, 3, 8) == weights);
        for (const Recompute recompute : {Recompute::activation, Recompute::block}) {
            TrainerConfig again = config;
            again.recompute = recompute;
            CHECK(labelled_weights_after(again, samples, 2, 8) == weights);
        }
        const TemporaryFolder folder;
        Trainer before(config, samples, 1), after(config, samples, 2);
        for (int step = 0; step < 3; ++step) before.step();  // the next one is an epoch's last
        save_checkpoint(before, folder / "c", Json::object(), Tokenizer::bytes());
        after.step();  // what is restored must not depend on what was there
        load_checkpoint(after, folder / "c");
        for (int step = 3; step < 8; ++step) CHECK(after.step().loss == before.step().loss);
        CHECK(all_parameters<float>(after) == weights);
        CHECK(after.counts().samples == before.counts().samples);
        CHECK(after.counts().samples == 40);

        // The test can fail: an epoch's incomplete step decides the weights.
        config.epoch_samples = 0;
        CHECK(labelled_weights_after(config, samples, 1, 8) != weights);
    }
}
