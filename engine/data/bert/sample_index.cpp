#include "engine/data/bert/sample_index.h"

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/philox.h"

namespace deft::engine {

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
