#pragma once
// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): random numbers by key and counter,
// so that a draw depends on what it is for, never on who draws it or when.

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "kernels/device.h"

namespace deft::kernels {

// Purpose of a random number. Values are part of the reproducibility contract: never renumber.
enum class RandomPurpose : std::uint32_t {
    init = 1,                 // parameter initialisation
    sample_order = 2,         // permutation of the training samples
    token_drop = 3,           // random-LTD
    corpus = 4,               // the embedded corpus
    questions = 5,            // its questions
    draw_order = 6,           // mixing of difficulty clusters within a curriculum phase
    dropout = 7,              // which activations are dropped
    attention_dropout = 8,    // which probabilities of attention are dropped
    expert_choice = 9,        // which expert a row takes, where it is sampled
    expert_capacity = 10,     // which rows an expert keeps that has too many
    expert_jitter = 11,       // by what the values are multiplied that experts are chosen by
    sentence_pair = 20,       // BERT: where a sample parts into two segments, and whether they are swapped
    masked_tokens = 21,       // BERT: which tokens are masked, and with what
    short_samples = 22,       // BERT: which samples are short, and how short
    image_augmentation = 30,  // where an image is cropped, and whether it is flipped
    generation = 40,          // which token a text goes on with
    tests = 99,
};

struct PhiloxBlock {
    std::uint32_t word[4];
};

// Ten rounds on a 128-bit counter under a 64-bit key.
DEFT_HOST_DEVICE inline PhiloxBlock philox4x32_10(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * counter.word[0];
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * counter.word[2];
        counter = {{static_cast<std::uint32_t>(p1 >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(p1),
                    static_cast<std::uint32_t>(p0 >> 32) ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(p0)}};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

// One 32-bit draw. The purpose and layer share a word with the step's high bits left out: steps stay under 2^32,
// layers under 2^16, samples under 2^48, positions under 2^32.
DEFT_HOST_DEVICE inline PhiloxBlock philox_block(std::uint64_t seed, RandomPurpose purpose, std::uint64_t step,
                                                 std::uint32_t layer, std::uint64_t sample, std::uint32_t position) {
    const PhiloxBlock counter = {{position, static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(step),
                                  (static_cast<std::uint32_t>(sample >> 32) << 16) | (layer & 0xFFFFu)}};
    return philox4x32_10(counter, static_cast<std::uint32_t>(seed),
                         static_cast<std::uint32_t>(seed >> 32) ^ (static_cast<std::uint32_t>(purpose) << 24));
}

DEFT_HOST_DEVICE inline std::uint32_t philox_u32(std::uint64_t seed, RandomPurpose purpose, std::uint64_t step,
                                                 std::uint32_t layer, std::uint64_t sample, std::uint32_t position) {
    return philox_block(seed, purpose, step, layer, sample, position).word[0];
}

// Uniform in (0, 1), never 0 or 1.
DEFT_HOST_DEVICE inline double philox_uniform(std::uint32_t word) {
    return (word + 0.5) * (1.0 / 4294967296.0);
}

// Standard normal by Box-Muller (1958) from the first two words of a block.
inline double philox_normal(const PhiloxBlock& block) {
    return std::sqrt(-2.0 * std::log(philox_uniform(block.word[0]))) *
           std::cos(2.0 * std::numbers::pi * philox_uniform(block.word[1]));
}

}  // namespace deft::kernels
