#pragma once
// A tiny GPT and a tiny corpus for whole-model tests.

#include <vector>

#include "engine/data_efficiency/token_dropping/token_bypass.h"
#include "engine/train/trainer.h"

namespace deft::engine {

inline TokenCorpus tiny_corpus(std::int64_t size, std::int64_t vocab, std::uint64_t seed = 7) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < size; ++i)
        tokens.push_back(static_cast<std::int32_t>(
            kernels::philox_u32(seed, kernels::RandomPurpose::tests, 0, 0, static_cast<std::uint64_t>(i), 0) %
            static_cast<std::uint32_t>(vocab)));
    TokenCorpus corpus = corpus_of_tokens(std::move(tokens));
    corpus.bytes = size;
    return corpus;
}

inline TrainerConfig tiny_config(std::int64_t layers = 4, std::int64_t seqlen = 13, std::int64_t batch = 6) {
    TrainerConfig config;
    config.model = gpt2_config(layers, 24, 3, seqlen, 31, 0.1);
    config.batch_size = config.micro_batch_size = batch;
    config.budget_layer_tokens = 1'000'000;
    config.learning_rate = {1e-2, 0, 0, 1'000'000, Decay::constant};
    config.optimizer.weight_decay = 0.1;
    config.optimizer.max_grad_norm = 1;
    config.seed = 3;
    return config;
}

// random-LTD that keeps a constant number of tokens in all layers but the first and last.
inline void keep_tokens(TrainerConfig& config, std::int64_t tokens) {
    config.techniques.dropping = random_ltd(config.model.layers(), {tokens, tokens, 1, 0, 1});
}

inline TokenDropping bypass_on(std::vector<std::int32_t> layers, const Pacing& kept, std::int64_t keep_first = 0,
                               TokenBypassSettings settings = {}) {
    return {kept, std::move(layers), keep_first, &token_dropper("token_bypass"),
            std::make_shared<TokenBypassSettings>(std::move(settings))};
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
    return {tensor.as<T>(), tensor.as<T>() + tensor.numel()};
}

inline const Parameter& parameter_of(Trainer& trainer, const std::string& name) {
    for (const Parameter& p : trainer.model().parameters().all())
        if (p.name == name) return p;
    throw std::logic_error("no parameter named " + name);
}

// Wherever its backend has them.
template <class T>
std::vector<T> all_parameters(Trainer& trainer) {
    std::vector<T> all;
    for (const Parameter& p : trainer.model().parameters().all()) {
        const std::vector<T> part = host_copy<T>(trainer.exec(), p.value);
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

}  // namespace deft::engine
