// Generation from a cache against whole forward passes, on models of all parts and on odd sizes.

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/generation/generator.h"
#include "tests/catch.h"
#include "tests/engine/model_parts.h"

using namespace deft::engine;

namespace {

// A model of random weights for generation, and whole forward passes of it.
struct Asked {
    Backend backend;
    Arena arena;
    std::unique_ptr<Transformer> model;
    Tensor whole;  // (1, max_seqlen, V)
    Exec exec;

    Asked(const TransformerConfig& config, DType dtype, std::int64_t samples, int threads = 1, std::uint64_t seed = 1)
        : backend{Device::cpu, dtype, threads} {
        model = plan_and_commit(arena, [&](Arena& a) {
            whole = a.add(Region::activations, "whole", dtype, {1, config.max_seqlen, config.vocab});
            return std::make_unique<Transformer>(a, config, backend, planned_batch(config, samples),
                                                 Purpose::inference);
        });
        exec = make_exec(backend, arena);
        initialise(exec, model->parameters(), seed, config.init_std, config.layers());
        // Biases and the weights of norms are not what they begin with, or none of them would be seen.
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal(0, config.init_std);
        for (const Parameter& p : model->parameters().all())
            for (std::int64_t i = 0; i < p.value.numel(); ++i)
                if (p.kind == ParameterKind::bias || p.kind == ParameterKind::norm) {
                    if (dtype == DType::f64)
                        p.value.as<double>()[i] += normal(random);
                    else
                        p.value.as<float>()[i] += static_cast<float>(normal(random));
                }
    }

    // Logits (V) after the whole text, as double.
    std::vector<double> after(const std::vector<std::int32_t>& text) {
        const auto T = static_cast<std::int64_t>(text.size()), V = model->config().vocab;
        const std::vector<std::int32_t> target(text.size(), 0);
        const std::vector<std::int32_t> of_class = {deft::kernels::kIgnoreTarget};
        model->load(exec,
                    {.B = 1, .T = T, .token = text.data(), .target = target.data(), .class_target = of_class.data()});
        model->evaluate(exec, 1, T);
        model->logits(exec, whole.view({1, T, V}), 1, T);
        const Tensor last = whole.view({T, V}).slice(T - 1);
        if (whole.dtype == DType::f64) return values<double>(last);
        const std::vector<float> of_floats = values<float>(last);
        return {of_floats.begin(), of_floats.end()};
    }

    Generator generator(const GenerationConfig& config) { return {*model, exec, backend, config}; }
};

std::vector<double> row_of(const Tensor& logits, std::int64_t row) {
    const Tensor one = logits.slice(logits.dim(0) == 1 ? 0 : row);
    if (logits.dtype == DType::f64) return values<double>(one);
    const std::vector<float> of_floats = values<float>(one);
    return {of_floats.begin(), of_floats.end()};
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

std::vector<std::int32_t> random_tokens(std::mt19937_64& random, std::int64_t n, std::int64_t vocab) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < n; ++i)
        tokens.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(vocab)));
    return tokens;
}

// Samples that go on from a prompt of P tokens to the model's length, each step's logits beside those of whole texts.
void check_against_whole_texts(Asked& asked, Asked& whole, std::int64_t P, std::int64_t samples, double temperature,
                               double tolerance, std::mt19937_64& random) {
    const TransformerConfig& config = asked.model->config();
    const std::vector<std::int32_t> prompt = random_tokens(random, P, config.vocab);
    const SamplingConfig sampling{temperature, 0, 1, random()};
    Generator generator = asked.generator({samples, 0, sampling});
    TokenSampler sampler(sampling, config.vocab);
    generator.begin(prompt);
    std::vector<std::vector<std::int32_t>> text(static_cast<std::size_t>(samples), prompt);
    while (!generator.is_done()) {
        const std::span<const Choice> choices = generator.step();
        REQUIRE(static_cast<std::int64_t>(choices.size()) == samples);
        for (std::int64_t i = 0; i < samples; ++i) {
            const auto n = static_cast<std::size_t>(i);
            INFO("prompt " << P << ", sample " << i << " of " << samples << ", token " << text[n].size());
            const std::vector<double> expected = whole.after(text[n]), got = row_of(generator.logits(), i);
            REQUIRE(largest_difference(got, expected) <= tolerance);
            const auto position = static_cast<std::int64_t>(text[n].size());
            const std::vector<float> logits(got.begin(), got.end());
            REQUIRE(choices[n].token == sampler.choose(logits, i, position).token);
            const auto likeliest = std::max_element(expected.begin(), expected.end());
            if (temperature == 0) REQUIRE(choices[n].token == likeliest - expected.begin());
            double sum = 0;
            for (const double logit : expected) sum += std::exp(logit - *likeliest);
            const double of_choice = expected[static_cast<std::size_t>(choices[n].token)] - *likeliest - std::log(sum);
            REQUIRE(std::abs(choices[n].log_probability - of_choice) < 1e-5 + 2 * tolerance);
            text[n].push_back(choices[n].token);
        }
    }
    CHECK(static_cast<std::int64_t>(text[0].size()) == config.max_seqlen);
}

TransformerConfig odd_gpt() {
    return gpt2_config(3, 21, 3, 17, 37, 0.2);
}

TransformerConfig odd_llama() {
    TransformerConfig config = gpt2_config(3, 36, 6, 19, 41, 0.2);
    for (BlockConfig& block : config.blocks) {
        block.norm.kind = NormKind::rms;
        block.attention.kv_heads = 2;
        block.attention.bias = block.feed_forward.bias = false;
        block.attention.rope_theta = 100;
        block.feed_forward.hidden = 50;
        block.feed_forward.activation = Activation::swiglu;
    }
    config.blocks[1].attention.kv_heads = 3;  // a layer of its own kind
    config.input.positions = Positions::none;
    config.final_norm->kind = NormKind::rms;
    config.head->tied = false;
    return config;
}

std::vector<std::vector<Choice>> generate(Asked& asked, const GenerationConfig& config,
                                          const std::vector<std::int32_t>& prompt) {
    Generator generator = asked.generator(config);
    generator.begin(prompt);
    std::vector<std::vector<Choice>> texts(static_cast<std::size_t>(config.samples));
    while (!generator.is_done()) {
        std::vector<char> had_ended;
        for (std::int64_t i = 0; i < config.samples; ++i) had_ended.push_back(generator.has_ended(i) ? 1 : 0);
        const std::span<const Choice> choices = generator.step();
        for (std::size_t i = 0; i < texts.size(); ++i)
            if (had_ended[i] == 0) texts[i].push_back(choices[i]);
    }
    return texts;
}

bool are_same(const std::vector<Choice>& a, const std::vector<Choice>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Choice& x, const Choice& y) {
        return x.token == y.token && x.log_probability == y.log_probability;
    });
}

GenerationConfig drawn(std::int64_t samples, std::uint64_t seed = 11) {
    return {samples, 0, {1.0, 0, 1, seed}};
}

}  // namespace

TEST_CASE("generation from a cache is that of whole texts, for every combination of a model's parts") {
    std::mt19937_64 random(std::random_device{}());
    for (const NamedModel& named : all_models()) {
        INFO(named.name);
        for (const std::int64_t samples : {1, 3}) {
            Asked asked(named.config, DType::f64, samples), whole(named.config, DType::f64, 1);
            for (const std::int64_t P : {1, 3, 5})
                check_against_whole_texts(asked, whole, P, samples, samples == 1 ? 0 : 1.5, 1e-10, random);
        }
    }
}

TEST_CASE("generation from a cache is that of whole texts within rounding, from prompts of every length") {
    std::mt19937_64 random(std::random_device{}());
    for (const TransformerConfig& config : {odd_gpt(), odd_llama()})
        for (const std::int64_t samples : {1, 2, 7, 40}) {
            INFO("width " << config.width << ", samples " << samples);
            Asked asked(config, DType::f32, samples, 2), whole(config, DType::f32, 1);
            for (std::int64_t P = 1; P < config.max_seqlen; P += samples == 1 ? 1 : 5)
                check_against_whole_texts(asked, whole, P, samples, samples == 1 ? 0 : 1, 2e-5, random);
        }
}

TEST_CASE("a text has the same bits with one, two and three threads, and whatever samples are beside it") {
    for (const TransformerConfig& config : {odd_gpt(), odd_llama()}) {
        const std::vector<std::int32_t> prompt = {3, 1, 4, 1, 5};
        Asked first(config, DType::f32, 6, 1);
        const auto expected = generate(first, drawn(6), prompt);
        for (const int threads : {2, 3}) {
            Asked asked(config, DType::f32, 6, threads);
            const auto texts = generate(asked, drawn(6), prompt);
            for (std::size_t i = 0; i < texts.size(); ++i) CHECK(are_same(texts[i], expected[i]));
        }
        const auto fewer = generate(first, drawn(2), prompt);
        for (std::size_t i = 0; i < fewer.size(); ++i) CHECK(are_same(fewer[i], expected[i]));
        CHECK_FALSE(are_same(expected[0], expected[1]));
        CHECK_FALSE(are_same(generate(first, drawn(1, 12), prompt)[0], expected[0]));
        // A generator restarts.
        Generator generator = first.generator(drawn(6));
        for (int round = 0; round < 2; ++round) {
            generator.begin(prompt);
            CHECK(generator.step()[5].token == expected[5][0].token);
            CHECK(generator.step()[5].token == expected[5][1].token);
        }
    }
}

TEST_CASE("a sample ends with its mark, and generation when all have or the length is reached") {
    Asked asked(odd_gpt(), DType::f32, 4);
    const std::vector<std::int32_t> prompt = {7, 9};
    const auto open = generate(asked, drawn(4), prompt);
    GenerationConfig config = drawn(4);
    config.end = open[2][3].token;
    const auto closed = generate(asked, config, prompt);
    for (std::size_t i = 0; i < open.size(); ++i) {
        const auto mark = std::find_if(open[i].begin(), open[i].end(),
                                       [&](const Choice& choice) { return choice.token == config.end; });
        const std::vector<Choice> until(open[i].begin(), mark == open[i].end() ? mark : mark + 1);
        CHECK(are_same(closed[i], until));
    }
    CHECK(closed[2].size() <= 4);

    GenerationConfig one = drawn(1);
    one.end = open[0][1].token;
    Generator generator = asked.generator(one);
    generator.begin(prompt);
    const bool early = generator.step()[0].token == one.end;
    CHECK(generator.is_done() == early);
    if (!early) {
        generator.step();
        CHECK(generator.is_done());
    }
    CHECK_THROWS_AS(generator.step(), std::logic_error);

    config = drawn(2);
    config.length = 5;
    CHECK(generate(asked, config, prompt)[1].size() == 3);
}

TEST_CASE("generation refuses what a model cannot do, and says why") {
    const TransformerConfig gpt = odd_gpt();
    Asked asked(gpt, DType::f32, 1);
    Generator generator = asked.generator({});
    const std::vector<std::int32_t> none, long_one(17, 1), foreign = {37};
    CHECK_THROWS_WITH(generator.begin(none), ContainsSubstring("a prompt of 0 tokens"));
    CHECK_THROWS_WITH(generator.begin(long_one), ContainsSubstring("17 positions"));
    CHECK_THROWS_WITH(generator.begin(foreign), ContainsSubstring("outside the vocabulary of 37"));
    CHECK_THROWS_WITH(asked.generator({0}), ContainsSubstring("0 texts"));
    CHECK_THROWS_WITH(asked.generator({1, 18}), ContainsSubstring("knows 17 positions"));
    CHECK_THROWS_WITH(require_generates(small_bert()), ContainsSubstring("look to later ones"));
    TransformerConfig segments = gpt, headless = gpt;
    segments.input.segments = 2;
    headless.head.reset();
    CHECK_THROWS_WITH(require_generates(segments), ContainsSubstring("segment embeddings"));
    CHECK_THROWS_WITH(require_generates(headless), ContainsSubstring("no tokens to put out"));
    asked.model->parameters()[0].value.as<float>()[5] = std::nanf("");
    generator.begin(std::vector<std::int32_t>{0});
    CHECK_THROWS_WITH(generator.step(), ContainsSubstring("not finite"));
}
