#include "experiments/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/stopwatch.h"
#include "engine/generation/generator.h"

namespace deft::experiments {

namespace {

std::vector<std::int32_t> prompt_tokens(const engine::Tokenizer& tokenizer, const std::string& prompt,
                                        std::int64_t positions) {
    std::vector<std::int32_t> tokens = tokenizer.encode(prompt);
    if (tokens.empty()) tokens = {tokenizer.end_of_document()};
    if (static_cast<std::int64_t>(tokens.size()) >= positions)
        throw Error(ErrorKind::config,
                    fmt::format("the prompt has {} tokens, and the model {} positions for it and what follows",
                                tokens.size(), positions),
                    fmt::format("shorten the prompt to {} tokens or fewer", positions - 1));
    return tokens;
}

// Adds what a step has made.
void add_choices(Generation& generation, std::span<const engine::Choice> choices, const engine::Tokenizer& tokenizer,
                 const OnText& on_text) {
    for (std::size_t i = 0; i < choices.size(); ++i) {
        GeneratedText& text = generation.texts[i];
        if (text.has_ended) continue;
        const engine::Choice& choice = choices[i];
        const std::string bytes = tokenizer.decode({&choice.token, 1});
        text.tokens.push_back(choice.token);
        text.log_probabilities.push_back(choice.log_probability);
        text.text += bytes;
        text.has_ended = choice.token == tokenizer.end_of_document();
        if (i == 0 && on_text) on_text(bytes);
    }
}

}  // namespace

double Generation::prefill_rate() const {
    return static_cast<double>(prompt_tokens) / prefill_seconds;
}

double Generation::decode_rate() const {
    return decoded_tokens == 0 ? 0 : static_cast<double>(decoded_tokens) / decode_seconds;
}

Generation generate(TrainedModel& trained, const GenerationRequest& request, const OnText& on_text) {
    const engine::Tokenizer& tokenizer = text_tokenizer(trained);
    const std::int64_t positions = trained.model->config().max_seqlen;
    const std::vector<std::int32_t> prompt = prompt_tokens(tokenizer, request.prompt, positions);
    const auto P = static_cast<std::int64_t>(prompt.size());
    const std::int64_t tokens = std::min(request.tokens, positions - P);
    engine::SamplingConfig sampling = request.sampling;
    sampling.tokens = tokenizer.vocab();
    engine::Generator generator(*trained.model, trained.exec, trained.backend,
                                {request.samples, P + tokens, sampling, tokenizer.end_of_document()});
    Generation generation;
    generation.prompt_tokens = P;
    generation.texts.resize(static_cast<std::size_t>(request.samples));
    for (GeneratedText& text : generation.texts) {
        text.tokens.reserve(static_cast<std::size_t>(tokens));
        text.log_probabilities.reserve(static_cast<std::size_t>(tokens));
    }
    const Clock::time_point start = Clock::now();
    generator.begin(prompt);
    const auto total = [&] {
        std::int64_t sum = 0;
        for (const GeneratedText& text : generation.texts) sum += static_cast<std::int64_t>(text.tokens.size());
        return sum;
    };
    Clock::time_point first_token = start;
    while (!generator.is_done()) {
        add_choices(generation, generator.step(), tokenizer, on_text);
        if (first_token == start) first_token = Clock::now();
    }
    generation.prefill_seconds = std::chrono::duration<double>(first_token - start).count();
    generation.decode_seconds = seconds_since(first_token);
    generation.decoded_tokens = total() - request.samples;
    generation.graphs_note = generator.graphs().note();
    generation.met_length =
        tokens < request.tokens && std::any_of(generation.texts.begin(), generation.texts.end(),
                                               [](const GeneratedText& text) { return !text.has_ended; });
    return generation;
}

}  // namespace deft::experiments
