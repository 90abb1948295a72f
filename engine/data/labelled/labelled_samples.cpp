#include "engine/data/labelled/labelled_samples.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "engine/data/bert/classification_row.h"

namespace deft::engine {

namespace {

WordPieceVocabulary special_tokens_of(const WordPieceVocabulary& vocabulary) {
    WordPieceVocabulary special;
    special.pad = vocabulary.pad;
    special.unk = vocabulary.unk;
    special.cls = vocabulary.cls;
    special.sep = vocabulary.sep;
    special.mask = vocabulary.mask;
    return special;
}

void require_text(std::span<const std::int32_t> text, const char* which) {
    if (text.empty())
        throw Error(ErrorKind::config, fmt::format("the {} text has no tokens", which),
                    "give it text, or take the record out");
}

}  // namespace

LabelledSamples::LabelledSamples(const WordPieceVocabulary& vocabulary, std::int64_t longest, std::int64_t classes)
    : special_(special_tokens_of(vocabulary)), longest_(longest), classes_(classes) {
    if (longest < 2)
        throw Error(ErrorKind::config, fmt::format("a row of {} tokens cannot hold [CLS] and [SEP]", longest),
                    "give a length of 2 or more");
}

void LabelledSamples::add_class(const TextPair& texts, std::int32_t label) {
    if (label < 0 || label >= classes_)
        throw Error(ErrorKind::config, fmt::format("class {} of samples that have {}", label, classes_),
                    "give each sample one of the classes");
    add_row(texts);
    labels_.push_back(label);
}

void LabelledSamples::add_value(const TextPair& texts, float value) {
    if (!has_values() || !std::isfinite(value))
        throw Error(ErrorKind::config,
                    has_values() ? fmt::format("a sample's value is {}", value)
                                 : std::string("a value of samples that have classes"),
                    "give each sample of values a number");
    add_row(texts);
    values_.push_back(value);
}

void LabelledSamples::add_row(const TextPair& texts) {
    require_text(texts.a, texts.b ? "first" : "record's");
    if (texts.b) require_text(*texts.b, "second");
    const BertSample added = classification_row(texts.a, texts.b, special_, longest_);
    const std::size_t whole = 2 + texts.a.size() + (texts.b ? texts.b->size() + 1 : 0);
    tokens_.insert(tokens_.end(), added.tokens.begin(), added.tokens.end());
    types_.insert(types_.end(), added.types.begin(), added.types.end());
    start_.push_back(static_cast<std::int64_t>(tokens_.size()));
    cut_.push_back(static_cast<std::int32_t>(whole - added.tokens.size()));
}

std::int64_t LabelledSamples::length(std::int64_t sample) const {
    return static_cast<std::int64_t>(tokens(sample).size());
}

std::int64_t LabelledSamples::cut(std::int64_t sample) const {
    return cut_[static_cast<std::size_t>(sample)];
}

std::span<const std::int32_t> LabelledSamples::row(const std::vector<std::int32_t>& of_all, std::int64_t sample) const {
    const auto i = static_cast<std::size_t>(sample);
    return std::span(of_all).subspan(static_cast<std::size_t>(start_[i]),
                                     static_cast<std::size_t>(start_[i + 1] - start_[i]));
}

}  // namespace deft::engine
