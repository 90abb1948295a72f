#pragma once
// Labelled texts as samples: rows of one or two texts, each with its class or its value, as fine-tuning takes them
// (Devlin et al. 2019, section 4.1).

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/data/wordpiece/wordpiece.h"

namespace deft::engine {

// Tokens of a record's texts, without special ones.
struct TextPair {
    std::span<const std::int32_t> a;
    std::optional<std::span<const std::int32_t>> b;
};

// Rows as classification_row() makes them, one after the other. Immutable once it is shared.
class LabelledSamples {
 public:
    // Rows are at most `longest` tokens long. classes: number of classes; 0: samples have values. Errors: config,
    // for a `longest` under 2.
    LabelledSamples(const WordPieceVocabulary& vocabulary, std::int64_t longest, std::int64_t classes);

    // Errors: config, for a text without tokens, a class that there is none of, or a value that is not finite.
    void add_class(const TextPair& texts, std::int32_t label);
    void add_value(const TextPair& texts, float value);

    std::int64_t size() const { return static_cast<std::int64_t>(start_.size()) - 1; }
    std::int64_t longest() const { return longest_; }
    std::int64_t classes() const { return classes_; }
    bool has_values() const { return classes_ == 0; }
    std::int32_t pad() const { return special_.pad; }
    std::int64_t length(std::int64_t sample) const;  // of its row
    std::int64_t cut(std::int64_t sample) const;     // tokens of its texts and separators that the row has no room for

    // The tokens of a sample's row.
    std::span<const std::int32_t> tokens(std::int64_t sample) const { return row(tokens_, sample); }
    std::span<const std::int32_t> types(std::int64_t sample) const { return row(types_, sample); }
    // The labels or values of all samples; one of the two is empty.
    const std::vector<std::int32_t>& labels() const { return labels_; }
    const std::vector<float>& values() const { return values_; }

 private:
    void add_row(const TextPair& texts);
    std::span<const std::int32_t> row(const std::vector<std::int32_t>& of_all, std::int64_t sample) const;

    WordPieceVocabulary special_;  // without its tokens
    std::int64_t longest_, classes_;
    std::vector<std::int32_t> tokens_, types_;  // of all rows
    std::vector<std::int64_t> start_{0};        // (samples + 1)
    std::vector<std::int32_t> cut_;             // (samples)
    std::vector<std::int32_t> labels_;          // (samples), of classes
    std::vector<float> values_;                 // (samples), of values
};

}  // namespace deft::engine
