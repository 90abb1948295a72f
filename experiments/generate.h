#pragma once
// Text that a trained model goes on with.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/generation/sampling.h"
#include "experiments/evaluate_checkpoint.h"

namespace deft::experiments {

struct GenerationRequest {
    std::string prompt;         // empty: a text from its beginning, after the end-of-document token
    std::int64_t tokens = 128;  // of each text at most; it ends sooner with the mark that ends a document, and where
                                // the model's positions end
    std::int64_t samples = 1;
    engine::SamplingConfig sampling;
};

struct GeneratedText {
    std::vector<std::int32_t> tokens;       // the mark at its end among them
    std::vector<double> log_probabilities;  // of each, see engine::Choice
    std::string text;                       // the exact bytes, valid UTF-8 or not
    bool has_ended = false;                 // with the mark
};

struct Generation {
    std::int64_t prompt_tokens = 0;
    std::vector<GeneratedText> texts;
    bool met_length = false;  // the model's positions ended before the tokens that were asked for
    double prefill_seconds = 0, decode_seconds = 0;  // of the prompt with the first token, and of the tokens after it
    std::int64_t decoded_tokens = 0;                 // of all texts, in decode_seconds
    std::string graphs_note;                         // which steps a GPU did not record, and why; empty: none

    double prefill_rate() const;  // tokens a second
    double decode_rate() const;   // likewise; 0 where there was one token
};

// Called with the bytes of each token of the first text as it is made.
using OnText = std::function<void(std::string_view bytes)>;

// The model was loaded for as many samples: load_generator(). Errors: config, for a prompt that leaves no room in the
// model's positions, and as engine::TokenSampler; data, for a model whose logits are not finite.
Generation generate(TrainedModel& trained, const GenerationRequest& request, const OnText& on_text = {});

}  // namespace deft::experiments
