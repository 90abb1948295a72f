#include "engine/generation/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "engine/core/exec.h"
#include "engine/nn/block_stack.h"
#include "kernels/ceil_div.h"

namespace deft::engine {

namespace {

GenerationConfig with_length(GenerationConfig config, const TransformerConfig& model) {
    require_generates(model);
    if (config.length == 0) config.length = model.max_seqlen;
    if (config.samples < 1 || config.length < 1 || config.length > model.max_seqlen)
        throw Error(ErrorKind::config,
                    fmt::format("{} texts of {} tokens from a model that knows {} positions", config.samples,
                                config.length, model.max_seqlen),
                    fmt::format("ask for at least one text, of 1 to {} tokens", model.max_seqlen));
    return config;
}

}  // namespace

KeyValueCache plan_cache(Arena& arena, const TransformerConfig& config, DType dtype, std::int64_t samples,
                         std::int64_t T) {
    KeyValueCache cache;
    cache.samples = samples;
    cache.T = T;
    cache.position.resize(static_cast<std::size_t>(samples));
    cache.lengths.resize(static_cast<std::size_t>(samples));
    cache.length = arena.add(Region::activations, "lengths", DType::i32, {samples});
    for (std::size_t i = 0; i < config.blocks.size(); ++i) {
        const AttentionConfig& attention = config.blocks[i].attention;
        const std::int64_t columns = attention.kv_heads * attention.head_size(config.width);
        const std::string name = block_prefix(static_cast<std::int64_t>(i));
        cache.layers.push_back({arena.add(Region::activations, name + "keys", dtype, {samples, T, columns}),
                                arena.add(Region::activations, name + "values", dtype, {samples, T, columns})});
    }
    return cache;
}

std::int64_t planned_batch(const TransformerConfig& config, std::int64_t samples) {
    return kernels::ceil_div(samples, config.max_seqlen);
}

Generator::Generator(Transformer& model, Exec& exec, const Backend& backend, const GenerationConfig& config)
    : model_(model),
      exec_(exec),
      config_(with_length(config, model.config())),
      sampler_(config.sampling, model.config().vocab),
      arena_(backend.device) {
    const std::int64_t samples = config_.samples, V = model.config().vocab;
    cache_ = plan_and_commit(arena_, [&](Arena& arena) {
        logits_ = arena.add(Region::activations, "next_logits", backend.dtype, {samples, V});
        return plan_cache(arena, model.config(), backend.dtype, samples, config_.length);
    });
    const auto count = static_cast<std::size_t>(samples);
    if (backend.device != Device::cpu) staging_.resize(static_cast<std::size_t>(logits_.bytes()));
    if (backend.device != Device::cpu || backend.dtype != DType::f32)
        host_logits_.resize(static_cast<std::size_t>(logits_.numel()));
    last_.resize(count);
    choices_.resize(count);
    ended_.resize(count);
}

void Generator::begin(std::span<const std::int32_t> prompt) {
    const auto P = static_cast<std::int64_t>(prompt.size());
    if (P == 0 || P >= config_.length)
        throw Error(ErrorKind::config,
                    fmt::format("a prompt of {} tokens, where prompt and text have {} positions", P, config_.length),
                    fmt::format("give a prompt of 1 to {} tokens", config_.length - 1));
    cache_.held = 0;
    asked_ = logits_.view({1, model_.config().vocab});
    model_.next_logits(exec_, cache_, prompt, asked_);
    read_logits();
    std::fill(ended_.begin(), ended_.end(), 0);
    tokens_ = P;
}

bool Generator::is_done() const {
    return tokens_ >= config_.length || std::find(ended_.begin(), ended_.end(), 0) == ended_.end();
}

std::span<const Choice> Generator::step() {
    if (is_done()) throw std::logic_error("a text that is at its end is asked for more");
    if (!has_logits_) {
        asked_ = logits_;
        model_.next_logits(exec_, cache_, last_, asked_);
        read_logits();
    }
    for (std::size_t i = 0; i < choices_.size(); ++i) {
        if (ended_[i] != 0) continue;
        const auto sample = static_cast<std::int64_t>(i);
        choices_[i] = sampler_.choose(row(sample), sample, tokens_);
        last_[i] = choices_[i].token;
        ended_[i] = last_[i] == config_.end;
    }
    has_logits_ = false;
    ++tokens_;
    return choices_;
}

std::span<const float> Generator::row(std::int64_t sample) const {
    const std::int64_t V = model_.config().vocab, at = asked_.dim(0) == 1 ? 0 : sample;
    return {rows_ + at * V, static_cast<std::size_t>(V)};
}

void Generator::read_logits() {
    const void* bytes = host_bytes(exec_, asked_, staging_);
    const auto count = static_cast<std::size_t>(asked_.numel());
    if (asked_.dtype == DType::f32) {
        rows_ = static_cast<const float*>(bytes);
    } else {
        for (std::size_t i = 0; i < count; ++i)
            host_logits_[i] = asked_.dtype == DType::f64
                                  ? static_cast<float>(static_cast<const double*>(bytes)[i])
                                  : kernels::to_float(static_cast<const kernels::bf16*>(bytes)[i]);
        rows_ = host_logits_.data();
    }
    has_logits_ = true;
}

}  // namespace deft::engine
