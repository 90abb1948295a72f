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
            [corpus, seqlen](std::int64_t sample) { return corpus.tokens.part(sample * seqlen, seqlen + 1); }};
}

SampleSource padded_samples(PaddedRows rows, std::int32_t vocab) {
    const auto count = static_cast<std::int64_t>(rows.real_length.size());
    if (rows.width < 1 || rows.width > std::numeric_limits<std::int32_t>::max() ||
        rows.tokens.size / rows.width != count || rows.tokens.size % rows.width != 0)
        throw Error(ErrorKind::config,
                    fmt::format("{} tokens are not {} rows of {}", rows.tokens.size, count, rows.width),
                    "give as many lengths as there are rows");
    for (std::int64_t row = 0; row < count; ++row)
        if (const std::int64_t length = rows.real_length[static_cast<std::size_t>(row)];
            length < 0 || length > rows.width)
            throw Error(ErrorKind::config, fmt::format("row {} has {} tokens in {} places", row, length, rows.width),
                        "give the number of tokens before the padding");
    const auto shared = std::make_shared<const PaddedRows>(std::move(rows));
    return {count, shared->width, vocab, "padded", [shared](std::int64_t sample) {
                return shared->tokens.part(sample * shared->width,
                                           shared->real_length[static_cast<std::size_t>(sample)]);
            }};
}

}  // namespace deft::engine
