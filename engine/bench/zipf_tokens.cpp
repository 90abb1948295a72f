#include "engine/bench/zipf_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace deft::engine {

// By inversion: ln(rank) is uniform.
std::vector<std::uint16_t> zipf_tokens(std::int64_t count, std::int32_t vocab, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint16_t> id(static_cast<std::size_t>(vocab));
    std::iota(id.begin(), id.end(), std::uint16_t{0});
    std::shuffle(id.begin(), id.end(), random);
    // A table of ranks takes the place of an exponential a token.
    std::vector<std::uint16_t> drawn(1 << 20);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(drawn.size());
        drawn[i] = id[static_cast<std::size_t>(std::exp(u * std::log(vocab))) - 1];
    }
    std::vector<std::uint16_t> token(static_cast<std::size_t>(count));
    for (std::uint16_t& t : token) t = drawn[random() >> 44];
    return token;
}

}  // namespace deft::engine
