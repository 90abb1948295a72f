#include "engine/bench/tokenizer.h"

#include <chrono>

namespace deft::engine {

double tokenizer_rate(const Tokenizer& tokenizer, std::string_view text) {
    using Clock = std::chrono::steady_clock;
    Encoder encoder(tokenizer);
    std::vector<std::int32_t> tokens;
    tokens.reserve(text.size());
    const Clock::time_point start = Clock::now();
    encoder.encode(text, tokens);
    return static_cast<double>(text.size()) / std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace deft::engine
