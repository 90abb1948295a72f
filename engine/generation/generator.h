#pragma once
// A text continued by a model: the prompt in one pass, then a row of each sample a token, from a cache of keys and
// values.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/arena.h"
#include "engine/generation/sampling.h"
#include "engine/models/transformer.h"

namespace deft::engine {

// The cache of a model, planned: (layers, 2, samples, T, kv_heads head_size). Call inside a plan.
KeyValueCache plan_cache(Arena& arena, const TransformerConfig& config, DType dtype, std::int64_t samples,
                         std::int64_t T);

// Batches of max_seqlen tokens for which a model must be planned to generate this number of samples at once.
std::int64_t planned_batch(const TransformerConfig& config, std::int64_t samples);

struct GenerationConfig {
    std::int64_t samples = 1;
    std::int64_t length = 0;  // of a text at most, prompt and what follows; 0: the model's
    SamplingConfig sampling = {};
    std::int32_t end = -1;  // the token after which a sample is at its end; -1: none
};

// Samples that go on from one prompt. All memory is there once it is made; the model and the Exec must outlive it.
class Generator {
 public:
    // The model is planned for planned_batch() or more. Errors: config, as require_generates() and TokenSampler, and
    // for a length beyond the model's; memory.
    Generator(Transformer& model, Exec& exec, const Backend& backend, const GenerationConfig& config);
    Generator(const Generator&) = delete;
    Generator& operator=(const Generator&) = delete;

    // Restarts: reads the prompt, once for all samples. Errors: config, for one that is empty, that leaves no room for
    // a token, or with a token outside the vocabulary.
    void begin(std::span<const std::int32_t> prompt);

    // One token more of each sample, (samples); of one that was at its end, its last token again, which counts for
    // nothing. At its end is a sample whose token is config.end. Errors: data, as TokenSampler::choose().
    std::span<const Choice> step();

    // Whether a sample has come to its end.
    bool has_ended(std::int64_t sample) const { return ended_.at(static_cast<std::size_t>(sample)) != 0; }
    // Whether all have ended, or no room is left.
    bool is_done() const;
    std::int64_t length() const { return config_.length; }

    // How steps started on a GPU.
    StepGraphs& graphs() { return cache_.graphs; }

    // The logits of the last draw: (1, vocab) after begin(), or (samples, vocab).
    const Tensor& logits() const { return asked_; }

 private:
    // Row of the logits, as float on the host.
    std::span<const float> row(std::int64_t sample) const;
    void read_logits();

    Transformer& model_;
    Exec& exec_;
    GenerationConfig config_;
    TokenSampler sampler_;
    Arena arena_;
    KeyValueCache cache_;
    Tensor logits_, asked_;           // (samples, vocab), and what of it the last pass wrote
    std::vector<std::byte> staging_;  // a GPU's logits
    std::vector<float> host_logits_;  // (samples, vocab), of what is not float on the host
    const float* rows_ = nullptr;     // asked_, as float on the host
    std::vector<std::int32_t> last_;  // (samples): the tokens that go in next
    std::vector<Choice> choices_;     // (samples)
    std::vector<char> ended_;         // (samples)
    std::int64_t tokens_ = 0;         // of each text so far
    bool has_logits_ = false;         // of what comes next
};

}  // namespace deft::engine
