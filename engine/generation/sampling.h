#pragma once
// Which token a text goes on with, of the logits of all.

#include <cstdint>
#include <span>
#include <vector>

namespace deft::engine {

struct SamplingConfig {
    double temperature = 0;  // logits are divided by it; 0: greedy, the largest logit, of equal ones the lowest id
    std::int64_t top_k = 0;  // only the top_k largest logits may be drawn (Fan et al. 2018); 0: all
    double top_p = 1;        // and of those the fewest of the largest probabilities that add up to it, at least one
                             // (Holtzman et al. 2020, "nucleus sampling"); 1: all
    std::uint64_t seed = 0;
    std::int64_t tokens = 0;  // ids below it may be drawn: a padded vocabulary has more than its tokenizer; 0: all
};

struct Choice {
    std::int32_t token = 0;
    double log_probability = 0;  // of the token as the model has it: at temperature 1, among all tokens
};

// Draws tokens; allocates nothing after its construction.
class TokenSampler {
 public:
    // Errors: config, for a temperature that is negative or not finite, a negative top_k, a top_p outside (0, 1].
    TokenSampler(const SamplingConfig& config, std::int64_t vocab);

    // logits (vocab). The draw depends on the seed, the number of the sample and the token's position in its text
    // alone. Errors: data, for logits that are not finite.
    Choice choose(std::span<const float> logits, std::int64_t sample, std::int64_t position);

 private:
    std::int32_t draw(std::span<const float> logits, float highest, double uniform);

    SamplingConfig config_;
    std::vector<float> weight_;            // (vocab): probabilities up to a factor
    std::vector<std::int32_t> candidate_;  // (vocab): ids, those that may be drawn first
};

}  // namespace deft::engine
