#include "engine/generation/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/error.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/wide_vectors.h"
#include "kernels/philox.h"

namespace deft::engine {

namespace {

using kernels::cpu::vector_exp;

// weight (n) = exp((logits - highest) scale). Returns their sum.
double fill_weights(std::span<float> weight, std::span<const float> logits, float highest, float scale) {
    // In pieces, whose sums are added in double: rounding does not grow with the vocabulary.
    constexpr std::size_t kPiece = 4096;
    double total = 0;
    const kernels::cpu::WorkerScope scope;
    kernels::cpu::widest_vectors([&] {
        for (std::size_t first = 0; first < logits.size(); first += kPiece) {
            const auto n = static_cast<std::int64_t>(std::min(kPiece, logits.size() - first));
            const float* from = logits.data() + first;
            float* to = weight.data() + first;
            total += static_cast<double>(kernels::cpu::sum_of(
                n, [&](std::int64_t i) { return to[i] = vector_exp((from[i] - highest) * scale); }));
        }
    });
    return total;
}

// How many of the candidates, the largest weights first, add up to top_p of `total`. Those come first in `candidate`,
// in order; the others follow in any order.
std::size_t nucleus(std::span<std::int32_t> candidate, std::span<const float> weight, double total, double top_p) {
    const auto before = [&](std::int32_t a, std::int32_t b) {
        const float of_a = weight[static_cast<std::size_t>(a)], of_b = weight[static_cast<std::size_t>(b)];
        return of_a != of_b ? of_a > of_b : a < b;
    };
    double sum = 0;
    // Few are wanted as a rule: sorted in pieces, each four times as long as all before.
    for (std::size_t sorted = 0, next = 64; sorted < candidate.size(); sorted = next, next *= 4) {
        next = std::min(next, candidate.size());
        const auto first = candidate.begin() + static_cast<std::ptrdiff_t>(sorted);
        std::partial_sort(first, candidate.begin() + static_cast<std::ptrdiff_t>(next), candidate.end(), before);
        for (std::size_t i = sorted; i < next; ++i) {
            sum += static_cast<double>(weight[static_cast<std::size_t>(candidate[i])]);
            if (sum >= top_p * total) return i + 1;
        }
    }
    return candidate.size();
}

}  // namespace

TokenSampler::TokenSampler(const SamplingConfig& config, std::int64_t vocab)
    : config_(config), weight_(static_cast<std::size_t>(vocab)), candidate_(static_cast<std::size_t>(vocab)) {
    const auto refuse = [](const char* what, double value, const char* fix) {
        throw Error(ErrorKind::config, fmt::format("a {} of {}", what, value), fix);
    };
    if (!(config.temperature >= 0) || !std::isfinite(config.temperature))
        refuse("temperature", config.temperature, "give 0 for the likeliest token, or a number above, as 1");
    if (config.top_k < 0)
        refuse("top-k", static_cast<double>(config.top_k), "give the number of tokens to draw from, or 0 for all");
    if (!(config.top_p > 0 && config.top_p <= 1)) refuse("top-p", config.top_p, "give a number above 0, at most 1");
    if (config.tokens < 0 || config.tokens > vocab)
        throw std::logic_error("more tokens to draw than the vocabulary has");
}

// Candidates are in the order of their ids; with a top_k or top_p, in the order of their weights.
std::int32_t TokenSampler::draw(std::span<const float> logits, float highest, double uniform) {
    double total = fill_weights(std::span(weight_).first(logits.size()), logits, highest,
                                static_cast<float>(1 / config_.temperature));
    std::span<std::int32_t> candidates = std::span(candidate_).first(logits.size());
    std::iota(candidates.begin(), candidates.end(), 0);
    if (const auto k = static_cast<std::size_t>(config_.top_k); k > 0 && k < candidates.size()) {
        const auto before = [&](std::int32_t a, std::int32_t b) {
            const float of_a = logits[static_cast<std::size_t>(a)], of_b = logits[static_cast<std::size_t>(b)];
            return of_a != of_b ? of_a > of_b : a < b;
        };
        std::partial_sort(candidates.begin(), candidates.begin() + config_.top_k, candidates.end(), before);
        candidates = candidates.first(k);
        total = 0;
        for (const std::int32_t id : candidates) total += static_cast<double>(weight_[static_cast<std::size_t>(id)]);
    }
    if (config_.top_p < 1) {
        candidates = candidates.first(nucleus(candidates, weight_, total, config_.top_p));
        total = 0;
        for (const std::int32_t id : candidates) total += static_cast<double>(weight_[static_cast<std::size_t>(id)]);
    }
    double sum = 0;
    std::int32_t chosen = candidates.front();
    for (const std::int32_t id : candidates) {
        const auto weight = static_cast<double>(weight_[static_cast<std::size_t>(id)]);
        if (weight > 0) chosen = id;  // rounding of the total must not choose what has no weight
        sum += weight;
        if (sum > uniform * total) break;
    }
    return chosen;
}

Choice TokenSampler::choose(std::span<const float> logits, std::int64_t sample, std::int64_t position) {
    if (logits.size() != weight_.size()) throw std::logic_error("logits of another vocabulary than the sampler's");
    const float highest = kernels::cpu::largest(logits.data(), static_cast<std::int64_t>(logits.size()));
    const double all = fill_weights(weight_, logits, highest, 1);
    if (!std::isfinite(highest) || !std::isfinite(all))
        throw Error(ErrorKind::data, "the model's logits are not finite",
                    "name a checkpoint of training that did not diverge");
    const std::span<const float> drawable =
        config_.tokens > 0 ? logits.first(static_cast<std::size_t>(config_.tokens)) : logits;
    const float best = kernels::cpu::largest(drawable.data(), static_cast<std::int64_t>(drawable.size()));
    Choice choice;
    if (config_.temperature == 0) {
        choice.token = static_cast<std::int32_t>(std::find(drawable.begin(), drawable.end(), best) - drawable.begin());
    } else {
        const std::uint32_t word =
            kernels::philox_u32(config_.seed, kernels::RandomPurpose::generation, 0, 0,
                                static_cast<std::uint64_t>(sample), static_cast<std::uint32_t>(position));
        choice.token = draw(drawable, best, kernels::philox_uniform(word));
    }
    choice.log_probability = static_cast<double>(logits[static_cast<std::size_t>(choice.token)]) -
                             static_cast<double>(highest) - std::log(all);
    return choice;
}

}  // namespace deft::engine
