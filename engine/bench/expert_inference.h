#pragma once
// How long a token takes of models of random weights with and without experts, and how many weights its pass reads:
// with experts those that any row of the batch chose, so that the more texts go on at once, the more of them are read
// (DeepSpeed-MoE, arXiv 2201.05596, section 5.1).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/generation/generator.h"

namespace deft::engine {

struct ExpertInferenceBench {
    std::int64_t layers = 4, width = 256, heads = 4, vocab = 8192;  // of GPT-2's kind
    std::int64_t experts = 8, top = 1;                              // in every second layer
    std::int64_t prompt = 32, tokens = 32;
    int threads = 2;
};

struct InferenceModel {
    std::string name;
    TransformerConfig config;
};

// The dense model, the same with experts, and the dense one of twice the width: four times the weights of a block, the
// quality that the paper finds equal. Errors: config, for an odd number of layers, heads that do not divide the width,
// or more experts a row than there are.
std::vector<InferenceModel> inference_models(const ExpertInferenceBench& bench);

// The weights that a pass of one token per sample reads.
struct WeightsRead {
    double bytes = 0;            // of weights, on average over the passes: the table of positions left out
    double experts_touched = 0;  // of an expert layer, on average over layers and passes; 0 without experts
};

// Texts that go on at once from one prompt, each token drawn by its probability so that the texts differ.
class InferenceRun {
 public:
    // Errors: memory.
    InferenceRun(const ExpertInferenceBench& bench, const TransformerConfig& config, std::int64_t samples);

    // Reads the prompt and draws `tokens` of each text; returns the seconds of all those after the first.
    double run();
    // The weights read for the same texts, by the choices of each layer's gate.
    WeightsRead weights_read() const;

 private:
    ExpertInferenceBench bench_;
    TransformerConfig config_;
    std::int64_t samples_;
    Arena arena_;
    Exec exec_;
    std::unique_ptr<Transformer> model_;
    std::unique_ptr<Generator> generator_;
};

}  // namespace deft::engine
