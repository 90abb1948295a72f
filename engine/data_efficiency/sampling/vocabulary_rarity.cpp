#include "engine/data_efficiency/sampling/vocabulary_rarity.h"

#include <cmath>

namespace deft::engine {

std::vector<std::int64_t> vocabulary_rarity(const TokenCorpus& corpus, std::int64_t seqlen, std::int32_t vocab) {
    const std::int64_t samples = corpus.samples(seqlen);
    std::vector<std::int64_t> count(static_cast<std::size_t>(vocab), 0);  // (V)
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < samples; ++i)
        for (std::int64_t t = 0; t <= seqlen; ++t) ++count[static_cast<std::size_t>(corpus.tokens[i * seqlen + t])];
    for (std::int64_t& c : count) {
        if (c == 0) c = 1;  // never asked for here; as the published code has it
        total += c;
    }
    std::vector<double> nats(count.size());  // (V), -ln p
    for (std::size_t v = 0; v < count.size(); ++v)
        nats[v] = -std::log(static_cast<double>(count[v]) / static_cast<double>(total));
    std::vector<std::int64_t> rarity;
    rarity.reserve(static_cast<std::size_t>(samples));
    for (std::int64_t i = 0; i < samples; ++i) {
        double sum = 0;
        for (std::int64_t t = 0; t <= seqlen; ++t) sum += nats[static_cast<std::size_t>(corpus.tokens[i * seqlen + t])];
        rarity.push_back(static_cast<std::int64_t>(sum));
    }
    return rarity;
}

}  // namespace deft::engine
