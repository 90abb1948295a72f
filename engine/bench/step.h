#pragma once
// How long a whole training step takes: forward, backward, clip and update.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/models/transformer.h"
#include "engine/train/trainer.h"
#include "kernels/cuda/product_log.h"

namespace deft::engine {

struct StepBench {
    TransformerConfig model;  // max_seqlen is the length trained at
    std::int64_t batch_size;
    std::string name = {};  // of a model that its sizes do not identify
};

// The three sizes that the project reports: (layers, width, heads, vocabulary, length, batch) =
// (4,128,4,8192,128,16), (6,256,8,8192,256,8), (12,768,12,50257,256,2).
std::vector<StepBench> standard_step_benches();

// GPT-2 of such six sizes, and the sizes of one. Errors: config, for another number of them, and
// heads that do not divide the width.
StepBench bench_of_sizes(const std::vector<std::int64_t>& sizes);
std::vector<std::int64_t> sizes_of(const StepBench& bench);

// GPT-2 124M at length 1024.
StepBench gpt2_124m_bench(std::int64_t batch_size);

// The data of such a step: tokens by Zipf's law, 64 batches of them; for a model that looks to both sides BERT's
// samples, of sentences with 5 to 30 tokens; for a model of images random pixels and labels, 64 batches of them where
// those fit in 32 MiB, else as many as do, or one; and how.
TokenCorpus random_corpus(const StepBench& bench);
TrainingData random_training_data(const StepBench& bench);
// Samples of the model's length and kind whose values are blank: for shapes alone.
TrainingData blank_training_data(const TransformerConfig& model);
TrainerConfig trainer_config_of(const StepBench& bench);

// One way to train the same model.
struct StepArm {
    std::string name;
    TrainerConfig config;
    bool has_full_samples = false;  // it trains on full_training_data()
};

// The baseline, and what saves half of it for good: "random-LTD" keeps half the tokens in all layers but the first and
// last (not of a model with two layers), "seqtru" trains on the first half of every sample (not of images).
std::vector<StepArm> step_arms(const StepBench& bench);

// Arms of a bidirectional model, beside its baseline, which packs samples: each sample in a row of its own, padded;
// and about as many tokens in samples that have no padding.
std::vector<StepArm> padding_arms(const StepBench& bench, const TrainingData& data);

// Samples of such a model that all have its length.
TrainingData full_training_data(const StepBench& bench);

// Real tokens of a batch, on average over the data's samples.
double tokens_of_step(const TrainerConfig& config, const TrainingData& data);

// FLOPs of the first step, as sample_flops counts them.
double step_flops(const TrainerConfig& config);

// The loss of random samples before training: ln of the vocabulary or of the classes, plus half the variance of the
// logits of a normalised row; and ln of the classes of a second head.
double expected_first_loss(const TransformerConfig& model);

// How far the first loss of a batch may be from that: 5%; or, where a sample is one class and nothing else, and there
// are few samples, four standard deviations of their mean, a logit of a normalised row having the variance above.
double first_loss_tolerance(const StepBench& bench);

struct StepTime {
    double seconds = 0;                                       // median of the timed steps
    double flops = 0;                                         // of one step, as sample_flops counts
    double loss = 0;                                          // of the last step: finite, or the run was not a run
    std::vector<kernels::cuda::ProductRecord> products = {};  // of all steps on a GPU
};

// Trains on random_training_data(): two steps to warm up, then at least `min_steps` and `min_seconds`.
StepTime time_steps(const StepBench& bench, const Backend& backend, int min_steps, double min_seconds);

// FLOP/s of one large linear layer forward, 1024 x 3072 x 768: what the GEMM library gives here at its best.
double gemm_rate(int threads);

}  // namespace deft::engine
