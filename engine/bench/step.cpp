#include "engine/bench/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/median.h"
#include "base/stopwatch.h"
#include "engine/bench/zipf_tokens.h"
#include "engine/train/trainer.h"
#include "kernels/cuda/products.h"

namespace deft::engine {

std::vector<StepBench> standard_step_benches() {
    return {{gpt2_config(4, 128, 4, 128, 8192), 16},
            {gpt2_config(6, 256, 8, 256, 8192), 8},
            {gpt2_config(12, 768, 12, 256, 50257), 2}};
}

StepBench bench_of_sizes(const std::vector<std::int64_t>& sizes) {
    if (sizes.size() != 6)
        throw Error(ErrorKind::config, fmt::format("a model of {} sizes", sizes.size()),
                    "name six: layers, width, heads, vocabulary, length, batch", "nothing was timed");
    if (sizes[1] % sizes[2] != 0)
        throw Error(ErrorKind::config, fmt::format("{} heads do not divide a width of {}", sizes[2], sizes[1]),
                    "choose a width that is a multiple of the heads", "nothing was timed");
    return {gpt2_config(sizes[0], sizes[1], sizes[2], sizes[4], sizes[3]), sizes[5]};
}

std::vector<std::int64_t> sizes_of(const StepBench& bench) {
    const TransformerConfig& model = bench.model;
    return {model.layers(), model.width, model.heads(), model.vocab, model.max_seqlen, bench.batch_size};
}

StepBench gpt2_124m_bench(std::int64_t batch_size) {
    return {gpt2_config(12, 768, 12, 1024, 50257), batch_size};
}

TokenCorpus random_corpus(const StepBench& bench) {
    const std::int64_t size = 64 * bench.batch_size * bench.model.max_seqlen;
    return corpus_of_tokens(zipf_tokens<std::int32_t>(size + 1, static_cast<std::int32_t>(bench.model.vocab), 1));
}

namespace {

std::uint32_t random_word(std::int64_t i) {
    return kernels::philox_u32(1, kernels::RandomPurpose::tests, 0, 0, static_cast<std::uint64_t>(i), 0);
}

// Words without meaning after the special tokens.
std::shared_ptr<const WordPiece> numbered_words(std::int64_t vocab) {
    std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (std::int64_t i = 5; i < vocab; ++i) fmt::format_to(std::back_inserter(text), "w{}\n", i);
    return std::make_shared<const WordPiece>(parse_vocab_txt(text, "vocab.txt"), WordPieceRules{});
}

// length_of(i): tokens of the i-th sentence; `sentences`: of a document.
template <class LengthOf>
SentenceCorpus random_sentences(const StepBench& bench, std::int64_t sentences, const LengthOf& length_of) {
    constexpr std::int32_t kSpecial = 5;
    const std::int64_t size = 64 * bench.batch_size * bench.model.max_seqlen;
    std::int64_t end = 0;  // of the last sentence
    SentenceCorpus corpus;
    for (std::int64_t i = 0; end < size; ++i) {
        corpus.sentence_start.push_back(end += length_of(i));
        if (i % sentences == sentences - 1) corpus.document_start.push_back(corpus.sentences());
    }
    if (corpus.document_start.back() != corpus.sentences()) corpus.document_start.push_back(corpus.sentences());
    const auto words = static_cast<std::int32_t>(bench.model.vocab - kSpecial);
    std::vector<std::int32_t> tokens = zipf_tokens<std::int32_t>(end, words, 1);
    for (std::int32_t& token : tokens) token += kSpecial;
    const TokenCorpus all = corpus_of_tokens(std::move(tokens));
    corpus.tokens = all.tokens;
    corpus.owner = all.owner;
    return corpus;
}

std::shared_ptr<const ImageSamples> random_images(const StepBench& bench) {
    constexpr std::int64_t kMostBytes = 32 << 20, kMostBatches = 64;
    const PatchConfig& shape = *bench.model.input.patches;
    ImageSamples samples;
    ImageSet& images = samples.images;
    images = {.channels = shape.channels,
              .height = shape.height,
              .width = shape.width,
              .classes = bench.model.class_head->classes,
              .pixels = {},
              .labels = {}};
    const std::int64_t batch_bytes = bench.batch_size * images.image_pixels();
    const std::int64_t count = bench.batch_size * std::clamp<std::int64_t>(kMostBytes / batch_bytes, 1, kMostBatches);
    for (std::int64_t i = 0; i < count * images.image_pixels(); ++i)
        images.pixels.push_back(static_cast<std::uint8_t>(random_word(i)));
    for (std::int64_t i = 0; i < count; ++i)
        images.labels.push_back(static_cast<std::int32_t>(random_word(i) % static_cast<std::uint32_t>(images.classes)));
    // The variance of a uniform pixel, a number in [0, 1].
    const auto channels = static_cast<std::size_t>(images.channels);
    samples.augmentation.channels = {std::vector<double>(channels, 0.5),
                                     std::vector<double>(channels, std::sqrt(1.0 / 12))};
    return std::make_shared<const ImageSamples>(std::move(samples));
}

}  // namespace

TrainingData random_training_data(const StepBench& bench) {
    if (bench.model.input.patches) return random_images(bench);
    if (bench.model.is_causal()) return random_corpus(bench);
    constexpr std::int64_t kShortest = 5, kLongest = 30, kSentences = 20;
    const std::int64_t size = 64 * bench.batch_size * bench.model.max_seqlen;
    const auto length_of = [&](std::int64_t i) {
        return kShortest + random_word(size + i) % (kLongest - kShortest + 1);
    };
    return std::make_shared<const BertSamples>(random_sentences(bench, kSentences, length_of),
                                               numbered_words(bench.model.vocab),
                                               SampleShape{.seqlen = bench.model.max_seqlen}, MaskingRule{}, 1);
}

TrainingData full_training_data(const StepBench& bench) {
    const SampleShape shape{.seqlen = bench.model.max_seqlen, .short_probability = 0};
    // Two sentences of half the room, and what is left of it: documents have as many as fill their samples.
    constexpr std::int64_t kSentences = 24;
    const std::int64_t half = shape.room() / 2, rest = shape.room() - 2 * half;
    const auto length_of = [&](std::int64_t i) { return rest > 0 && i % 3 == 2 ? rest : half; };
    return std::make_shared<const BertSamples>(random_sentences(bench, kSentences, length_of),
                                               numbered_words(bench.model.vocab), shape, MaskingRule{}, 1);
}

TrainingData blank_training_data(const TransformerConfig& model) {
    if (model.input.patches) {
        const PatchConfig& shape = *model.input.patches;
        ImageSamples samples;
        samples.images = {.channels = shape.channels,
                          .height = shape.height,
                          .width = shape.width,
                          .classes = model.class_head->classes,
                          .pixels = {},
                          .labels = {0}};
        samples.images.pixels.resize(static_cast<std::size_t>(samples.images.image_pixels()));
        const auto channels = static_cast<std::size_t>(shape.channels);
        samples.augmentation.channels = {std::vector<double>(channels, 0.5), std::vector<double>(channels, 1)};
        return std::make_shared<const ImageSamples>(std::move(samples));
    }
    if (!model.is_causal()) return full_training_data({model, 1});
    return corpus_of_tokens(std::vector<std::int32_t>(static_cast<std::size_t>(model.max_seqlen) + 1, 0));
}

double tokens_of_step(const TrainerConfig& config, const TrainingData& data) {
    const std::int64_t T = config.model.max_seqlen, samples = sample_count(data, T);
    const auto* bert = std::get_if<std::shared_ptr<const BertSamples>>(&data);
    std::int64_t tokens = 0;
    for (std::int64_t i = 0; i < samples; ++i) tokens += bert != nullptr ? (*bert)->real_length(i) : T;
    return static_cast<double>(config.batch_size * tokens) / static_cast<double>(samples);
}

std::vector<StepArm> padding_arms(const StepBench& bench, const TrainingData& data) {
    StepArm padded{"padded", trainer_config_of(bench)}, full{"no padding", trainer_config_of(bench), true};
    padded.config.packs_samples = false;
    const double tokens = tokens_of_step(full.config, data);
    full.config.batch_size = full.config.micro_batch_size =
        std::max<std::int64_t>(1, std::llround(tokens / static_cast<double>(bench.model.max_seqlen)));
    return {padded, full};
}

TrainerConfig trainer_config_of(const StepBench& bench) {
    TrainerConfig config;
    config.model = bench.model;
    config.batch_size = config.micro_batch_size = bench.batch_size;
    config.budget_layer_tokens = std::int64_t{1} << 60;
    config.learning_rate = {1e-4, 0, 0, std::int64_t{1} << 60, Decay::constant};
    config.optimizer.weight_decay = 0.1;
    config.optimizer.max_grad_norm = 1;
    return config;
}

std::vector<StepArm> step_arms(const StepBench& bench) {
    const TrainerConfig baseline = trainer_config_of(bench);
    const std::int64_t layers = bench.model.layers(), half = bench.model.max_seqlen / 2;
    const Pacing always_half{half, half};
    std::vector<StepArm> arms = {{"baseline", baseline}};
    if (layers > 2) {
        arms.push_back({"random-LTD", baseline});
        arms.back().config.techniques.dropping = random_ltd(layers, always_half);
    }
    if (bench.model.input.patches) return arms;
    arms.push_back({"seqtru", baseline});
    arms.back().config.techniques.seqtru = always_half;
    return arms;
}

double step_flops(const TrainerConfig& config) {
    const StepPlan plan = plan_step(config, 0);
    return static_cast<double>(plan.rows) * sample_flops(model_size(config.model).flops, config.techniques, plan);
}

namespace {

// The variance of the logits of a normalised row, at random initialization.
double logit_variance(const TransformerConfig& model) {
    return static_cast<double>(model.width) * model.init_std * model.init_std;
}

}  // namespace

double expected_first_loss(const TransformerConfig& model) {
    const double of_classes = model.class_head ? std::log(static_cast<double>(model.class_head->classes)) : 0;
    const double of_tokens = model.head ? std::log(static_cast<double>(model.vocab)) : 0;
    return of_tokens + of_classes + logit_variance(model) / 2;
}

double first_loss_tolerance(const StepBench& bench) {
    const double of_loss = 0.05 * expected_first_loss(bench.model);
    if (!bench.model.class_head || bench.model.head) return of_loss;
    return std::max(of_loss, 4 * std::sqrt(logit_variance(bench.model) / static_cast<double>(bench.batch_size)));
}

StepTime time_steps(const StepBench& bench, const Backend& backend, int min_steps, double min_seconds) {
    const TrainerConfig config = trainer_config_of(bench);
    Trainer trainer(config, random_training_data(bench), backend);

    trainer.work_ahead(true);  // as a trial does
    for (int i = 0; i < 2; ++i) trainer.step();
    std::vector<double> seconds;
    StepTime result;
    const Clock::time_point start = Clock::now();
    while (static_cast<int>(seconds.size()) < min_steps || seconds_since(start) < min_seconds) {
        const Clock::time_point before = Clock::now();
        result.loss = trainer.step().loss;
        seconds.push_back(seconds_since(before));
    }
    result.seconds = median(seconds);
    result.flops = step_flops(config);
    if (const kernels::cuda::Products* const products = trainer.exec().cuda.products)
        result.products = products->log.records();
    return result;
}

double gemm_rate(int threads) {
    constexpr std::int64_t rows = 1024, out = 3072, in = 768;
    Arena arena;
    const auto tensors = plan_and_commit(arena, [](Arena& a) {
        return std::vector<Tensor>{a.add(Region::activations, "y", DType::f32, {rows, out}),
                                   a.add(Region::activations, "x", DType::f32, {rows, in}),
                                   a.add(Region::activations, "w", DType::f32, {out, in})};
    });
    Exec exec = make_exec({Device::cpu, DType::f32, threads}, arena);
    for (const Tensor& tensor : tensors)
        for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.as<float>()[i] = static_cast<float>(i % 17) - 8;
    double best = 0;
    for (int round = 0; round < 20; ++round) {
        const Clock::time_point start = Clock::now();
        linear_forward(exec, tensors[0], {}, tensors[1], tensors[2], {}, Activation::none);
        best = std::max(best, 2.0 * rows * out * in / seconds_since(start));
    }
    return best;
}

}  // namespace deft::engine
