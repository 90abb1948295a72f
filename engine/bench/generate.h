#pragma once
// How fast a model of random weights generates: its prompt, and then a token at a time.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "engine/generation/generator.h"

namespace deft::engine {

struct GenerateBench {
    std::int64_t layers = 6, width = 384, heads = 6, vocab = 50257;  // of GPT-2's kind
    std::int64_t prompt = 128, tokens = 128;
    std::int64_t samples = 1;
    int threads = 2;
};

// Errors: config, for heads that do not divide the width.
TransformerConfig model_of(const GenerateBench& bench);
// (prompt): the same every time.
std::vector<std::int32_t> prompt_of(const GenerateBench& bench);

// Leaves model.safetensors and config.json in `folder`, as Hugging Face's GPT2LMHeadModel reads them. Errors: io;
// memory.
void write_model(const GenerateBench& bench, const std::filesystem::path& folder);

// Bytes of weights that a token meets, as float: all but the table of positions, and the table of tokens' vectors once,
// for the head.
double weight_bytes(const GenerateBench& bench);

// The model of such a folder, planned once.
class GenerateRun {
 public:
    // Errors: as load_weights().
    GenerateRun(const GenerateBench& bench, const std::filesystem::path& folder);

    // Greedily generates that many tokens of each sample after the prompt; returns seconds.
    double run(std::int64_t tokens);
    // Tokens of the first sample in the last run.
    const std::vector<std::int32_t>& tokens() const { return tokens_; }

 private:
    std::vector<std::int32_t> prompt_, tokens_;
    Arena arena_;
    Exec exec_;
    std::unique_ptr<Transformer> model_;
    std::unique_ptr<Generator> generator_;
};

}  // namespace deft::engine
