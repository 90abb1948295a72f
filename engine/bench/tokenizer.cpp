#include "engine/bench/tokenizer.h"

#include "base/stopwatch.h"

namespace deft::engine {

namespace {

template <class Encoder>
double encoding_rate(Encoder encoder, std::string_view text) {
    std::vector<std::int32_t> tokens;
    tokens.reserve(text.size());
    const Clock::time_point start = Clock::now();
    encoder.encode(text, tokens);
    return static_cast<double>(text.size()) / seconds_since(start);
}

}  // namespace

double tokenizer_rate(const Tokenizer& tokenizer, std::string_view text) {
    return encoding_rate(Encoder(tokenizer), text);
}

double tokenizer_rate(const std::shared_ptr<const WordPiece>& wordpiece, std::string_view text) {
    return encoding_rate(WordPieceEncoder(wordpiece), text);
}

}  // namespace deft::engine
