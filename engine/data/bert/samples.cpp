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
    masking_.reserve(longest);
}

const BertSample& BertReader::read(const BertDraw& draw, std::int64_t length) {
    samples_->write_unmasked(draw, length, sample_);
    sample_.labels.resize(sample_.tokens.size());
    masking_(sample_.tokens, sample_.labels, {samples_->seed(), draw.epoch, draw.sample});
    return sample_;
}

namespace {

std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

// Appends the ends of the sentence's parts, none of which is over `longest`.
void append_sentence(std::int64_t begin, std::int64_t end, std::int64_t longest, std::vector<std::int64_t>& starts) {
    const std::int64_t parts = (end - begin + longest - 1) / longest;
    for (std::int64_t part = 1; part <= parts; ++part) starts.push_back(begin + (end - begin) * part / parts);
}

// How many tokens of text the sample wants: the room, or fewer for a short one.
std::int64_t target_length(const SampleShape& shape, std::uint64_t seed, std::int64_t sample) {
    const kernels::PhiloxBlock draw =
        kernels::philox_block(seed, kernels::RandomPurpose::short_samples, 0, 0, static_cast<std::uint64_t>(sample), 0);
    if (kernels::philox_uniform(draw.word[0]) >= shape.short_probability) return shape.room();
    return 2 + static_cast<std::int64_t>(draw.word[1] * static_cast<std::uint64_t>(shape.room() - 1) >> 32);
}

// The end of the sample that begins with sentence `first` of a document that ends at `last`.
std::int64_t sample_end(const std::vector<std::int64_t>& starts, std::int64_t first, std::int64_t last,
                        const SampleShape& shape, std::int64_t target) {
    const auto tokens_until = [&](std::int64_t end) { return starts[at(end)] - starts[at(first)]; };
    const std::int64_t fewest = shape.pairs ? 2 : 1;
    std::int64_t end = first + 1;
    while (end < last && tokens_until(end + 1) <= shape.room() && (end - first < fewest || tokens_until(end) < target))
        ++end;
    const bool leaves_one = shape.pairs && end + 1 == last;
    if (!leaves_one) return end;
    if (tokens_until(last) <= shape.room()) return last;
    return end - first > fewest ? end - 1 : end;
}

}  // namespace

std::int64_t SampleIndex::sentences_of(std::int64_t sample) const {
    return sample_start[at(sample + 1)] - sample_start[at(sample)];
}

std::int64_t SampleIndex::first_token(std::int64_t sample) const {
    return sentence_start[at(sample_start[at(sample)])];
}

std::int64_t SampleIndex::tokens_of(std::int64_t sample) const {
    return first_token(sample + 1) - first_token(sample);
}

SampleIndex index_samples(const SentenceCorpus& corpus, const SampleShape& shape, std::uint64_t seed) {
    const std::int64_t segments = shape.pairs ? 2 : 1;
    if (shape.room() < segments)
        throw Error(ErrorKind::config,
                    fmt::format("a BERT sample of {} tokens has no room for text beside {} special tokens",
                                shape.seqlen, shape.special_tokens()),
                    fmt::format("give a seqlen of {} or more", shape.special_tokens() + segments));
    SampleIndex index;
    for (std::int64_t d = 0; d < corpus.documents(); ++d) {
        for (std::int64_t s = corpus.document_start[at(d)]; s < corpus.document_start[at(d + 1)]; ++s)
            append_sentence(corpus.sentence_start[at(s)], corpus.sentence_start[at(s + 1)], shape.room() / segments,
                            index.sentence_start);
        const auto last = static_cast<std::int64_t>(index.sentence_start.size()) - 1;
        while (index.sample_start.back() < last) {
            const std::int64_t target = target_length(shape, seed, index.samples());
            index.sample_start.push_back(
                sample_end(index.sentence_start, index.sample_start.back(), last, shape, target));
        }
    }
    return index;
}

}  // namespace deft::engine
