#include "engine/data/bert/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "kernels/philox.h"

namespace deft::engine {

namespace {

// Which sentences of the corpus are A and B, and in what order they come.
struct Segments {
    TokenSpan a, b;
    std::int32_t order = kernels::kIgnoreTarget;
};

Segments segments_of(TokenSpan corpus, const SampleIndex& index, const BertDraw& draw, bool pairs, std::uint64_t seed) {
    const std::int64_t begin = index.first_token(draw.sample), count = index.tokens_of(draw.sample);
    const std::int64_t sentences = index.sentences_of(draw.sample);
    if (!pairs || sentences < 2) return {corpus.part(begin, count), {}, kernels::kIgnoreTarget};
    const kernels::PhiloxBlock block = kernels::philox_block(seed, kernels::RandomPurpose::sentence_pair, draw.epoch, 0,
                                                             static_cast<std::uint64_t>(draw.sample), 0);
    const auto in_first =
        1 + static_cast<std::int64_t>(block.word[0] * static_cast<std::uint64_t>(sentences - 1) >> 32);
    const std::int64_t first_sentence = index.sample_start[static_cast<std::size_t>(draw.sample)];
    const std::int64_t border = index.sentence_start[static_cast<std::size_t>(first_sentence + in_first)] - begin;
    Segments segments{corpus.part(begin, border), corpus.part(begin + border, count - border), kInOrder};
    if ((block.word[1] & 1) != 0) {
        std::swap(segments.a, segments.b);
        segments.order = kSwapped;
    }
    return segments;
}

void append(TokenSpan text, std::int64_t count, std::int32_t closing, std::vector<std::int32_t>& tokens) {
    for (std::int64_t t = 0; t < count; ++t) tokens.push_back(text[t]);
    tokens.push_back(closing);
}

}  // namespace

void cut_segments(std::int64_t& a, std::int64_t& b, std::int64_t room) {
    const std::int64_t half = room / 2;
    if (a + b <= room) return;
    if (b <= half)
        a = room - b;
    else if (a <= room - half)
        b = room - a;
    else
        std::tie(a, b) = std::pair(room - half, half);
}

BertSamples::BertSamples(const SentenceCorpus& corpus, std::shared_ptr<const WordPiece> wordpiece,
                         const SampleShape& shape, const MaskingRule& masking, std::uint64_t seed)
    : text_(corpus.tokens),
      owner_(corpus.owner),
      wordpiece_(std::move(wordpiece)),
      shape_(shape),
      masking_(masking),
      seed_(seed),
      index_(index_samples(corpus, shape, seed)) {
    check_masking(masking);
    const auto [least, most] = token_range(text_);
    if (least < 0 || most >= wordpiece_->vocab())
        throw Error(ErrorKind::config,
                    fmt::format("the corpus has tokens {} to {}, and its vocabulary only 0 to {}", least, most,
                                wordpiece_->vocab() - 1),
                    "name the vocab.txt that the corpus was made with");
}

std::int64_t BertSamples::real_length(std::int64_t sample) const {
    const bool pair = shape_.pairs && index_.sentences_of(sample) > 1;
    return index_.tokens_of(sample) + (pair ? 3 : 2);
}

void BertSamples::require_sample(std::int64_t sample) const {
    if (sample < 0 || sample >= size())
        throw Error(ErrorKind::usage, fmt::format("no sample {} among {}", sample, size()));
}

void BertSamples::write_unmasked(const BertDraw& draw, std::int64_t length, BertSample& out) const {
    require_sample(draw.sample);
    if (length < shape_.shortest_cut())
        throw Error(ErrorKind::config,
                    fmt::format("a length of {} tokens leaves no text beside the special tokens of a sample", length),
                    fmt::format("give a length of {} or more", shape_.shortest_cut()));
    const Segments segments = segments_of(text_, index_, draw, shape_.pairs, seed_);
    const bool pair = segments.b.size > 0;
    std::int64_t a = segments.a.size, b = segments.b.size;
    cut_segments(a, b, length - (pair ? 3 : 2));
    const WordPieceVocabulary& v = wordpiece_->vocabulary();
    out.order = segments.order;
    out.tokens.assign(1, v.cls);
    append(segments.a, a, v.sep, out.tokens);
    out.types.assign(out.tokens.size(), 0);
    if (pair) append(segments.b, b, v.sep, out.tokens);
    out.types.resize(out.tokens.size(), 1);
}

void BertSamples::write_whole(std::int64_t sample, std::vector<std::int32_t>& out) const {
    require_sample(sample);
    const Segments segments = segments_of(text_, index_, {sample, 0}, shape_.pairs, seed_);
    const WordPieceVocabulary& v = wordpiece_->vocabulary();
    out.assign(1, v.cls);
    append(segments.a, segments.a.size, v.sep, out);
    if (segments.b.size > 0) append(segments.b, segments.b.size, v.sep, out);
}

BertReader::BertReader(const BertSamples& samples)
    : samples_(&samples), masking_(samples.wordpiece(), samples.masking()) {
    const auto longest = static_cast<std::size_t>(samples.shape().seqlen);
    sample_.tokens.reserve(longest);
    sample_.types.reserve(longest);
    sample_.labels.reserve(longest);
}

const BertSample& BertReader::read(const BertDraw& draw, std::int64_t length) {
    samples_->write_unmasked(draw, length, sample_);
    sample_.labels.resize(sample_.tokens.size());
    masking_(sample_.tokens, sample_.labels, {samples_->seed(), draw.epoch, draw.sample});
    return sample_;
}

}  // namespace deft::engine
