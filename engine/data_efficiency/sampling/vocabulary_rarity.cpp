#include "engine/data_efficiency/sampling/vocabulary_rarity.h"

#include "engine/data_efficiency/sampling/metric.h"

namespace deft::engine {

std::vector<std::int64_t> vocabulary_rarity(const TokenCorpus& corpus, std::int64_t seqlen, std::int32_t vocab) {
    return metric_values(packed_samples(corpus, seqlen, vocab), built_in_metric("voc"));
}

}  // namespace deft::engine
