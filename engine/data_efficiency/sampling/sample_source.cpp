#include "engine/data_efficiency/sampling/sample_source.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/error.h"

namespace deft::engine {

SampleSource packed_samples(const TokenCorpus& corpus, std::int64_t seqlen, std::int32_t vocab) {
    if (seqlen < 1 || seqlen >= std::numeric_limits<std::int32_t>::max())
        throw Error(ErrorKind::config, fmt::format("samples of {} tokens are not possible", seqlen),
                    "take a sample length of 1 to 2^31 - 2");
    return {corpus.samples(seqlen), seqlen + 1, vocab, "packed",
            [corpus, seqlen](std::int64_t sample, std::vector<std::int32_t>&) {
                return corpus.tokens.part(sample * seqlen, seqlen + 1);
            }};
}

SampleSource bert_samples(std::shared_ptr<const BertSamples> samples) {
    const SampleShape& shape = samples->shape();
    const std::string packing = fmt::format("bert, {}, short {}, seed {}", shape.pairs ? "pairs" : "single segments",
                                            shape.short_probability, samples->seed());
    return {samples->size(), shape.seqlen, samples->wordpiece()->vocab(), packing,
            [samples](std::int64_t sample, std::vector<std::int32_t>& scratch) -> TokenSpan {
                samples->write_whole(sample, scratch);
                return {scratch.data(), static_cast<std::int64_t>(scratch.size()), 4};
            }};
}

}  // namespace deft::engine
