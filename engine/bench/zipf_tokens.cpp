#include "engine/bench/zipf_tokens.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "kernels/zipf.h"

namespace deft::engine {

template <class Token>
std::vector<Token> zipf_tokens(std::int64_t count, std::int32_t vocab, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Token> id(static_cast<std::size_t>(vocab));
    std::iota(id.begin(), id.end(), Token{0});
    std::shuffle(id.begin(), id.end(), random);
    // A table of ranks takes the place of an exponential a token.
    std::vector<Token> drawn(1 << 20);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(drawn.size());
        drawn[i] = id[static_cast<std::size_t>(kernels::zipf_rank(u, vocab))];
    }
    std::vector<Token> token(static_cast<std::size_t>(count));
    for (Token& t : token) t = drawn[random() >> 44];
    return token;
}

template std::vector<std::uint16_t> zipf_tokens(std::int64_t, std::int32_t, std::uint64_t);
template std::vector<std::int32_t> zipf_tokens(std::int64_t, std::int32_t, std::uint64_t);

}  // namespace deft::engine
