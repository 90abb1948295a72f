#pragma once
// Settings with a fixed set of values: their enumerations, and the one place where each value's name is written.

#include "base/enum_names.h"
#include "engine/core/tensor.h"
#include "engine/data/bert/sentence_corpus.h"
#include "engine/data/sample_kind.h"
#include "engine/data_efficiency/techniques.h"
#include "engine/nn/block.h"
#include "engine/optim/learning_rate.h"
#include "engine/optim/optimizer.h"
#include "kernels/types.h"

namespace deft::experiments {

using engine::SampleKind;

enum class PositionEncoding { learned, rope, none };
enum class SampleRows { packed, padded };
// automatic: by the memory that a trial may use, see chosen_recompute().
enum class RecomputeChoice { none, activation, block, automatic };
enum class RateByBudget { same, inverse };
enum class DifficultyUnit { percentile, value };
enum class GrowthPacing { linear, root, step, exponential, discrete, points, constant };
enum class SelectedWeights { last, best };
enum class ScoringCapacity { none, reference };

// Values of data.corpus and data.tokenizer with rules of their own; others are names of files or of the catalogue.
enum class BuiltInCorpus { embedded, text, indexed };
enum class BuiltInTokenizer { bytes, gpt2, bpe, bert_base_uncased };

}  // namespace deft::experiments

namespace deft {

template <>
struct EnumNames<experiments::PositionEncoding> {
    using enum experiments::PositionEncoding;
    static constexpr EnumName<experiments::PositionEncoding> all[] = {
        {learned, "learned"}, {rope, "rope"}, {none, "none"}};
};

template <>
struct EnumNames<kernels::NormKind> {
    using enum kernels::NormKind;
    static constexpr EnumName<kernels::NormKind> all[] = {{layer, "layer"}, {rms, "rms"}};
};

template <>
struct EnumNames<engine::NormPlacement> {
    using enum engine::NormPlacement;
    static constexpr EnumName<engine::NormPlacement> all[] = {{pre, "pre"}, {post, "post"}};
};

// Activations of a feed-forward sublayer.
template <>
struct EnumNames<kernels::Activation> {
    using enum kernels::Activation;
    static constexpr EnumName<kernels::Activation> all[] = {
        {gelu_tanh, "gelu_tanh"}, {gelu_erf, "gelu_erf"}, {swiglu, "swiglu"}};
};

template <>
struct EnumNames<kernels::Pooling> {
    using enum kernels::Pooling;
    static constexpr EnumName<kernels::Pooling> all[] = {{first, "first"}, {mean, "mean"}};
};

template <>
struct EnumNames<engine::SampleKind> {
    using enum engine::SampleKind;
    static constexpr EnumName<engine::SampleKind> all[] = {
        {packed, "packed"}, {bert, "bert"}, {images, "images"}, {labelled, "labelled"}};
};

template <>
struct EnumNames<engine::SentenceRule> {
    using enum engine::SentenceRule;
    static constexpr EnumName<engine::SentenceRule> all[] = {{punctuation, "punctuation"}, {lines, "lines"}};
};

template <>
struct EnumNames<experiments::SampleRows> {
    using enum experiments::SampleRows;
    static constexpr EnumName<experiments::SampleRows> all[] = {{packed, "packed"}, {padded, "padded"}};
};

template <>
struct EnumNames<experiments::RecomputeChoice> {
    using enum experiments::RecomputeChoice;
    static constexpr EnumName<experiments::RecomputeChoice> all[] = {
        {none, "none"}, {activation, "activation"}, {block, "block"}, {automatic, "auto"}};
};

template <>
struct EnumNames<experiments::RateByBudget> {
    using enum experiments::RateByBudget;
    static constexpr EnumName<experiments::RateByBudget> all[] = {{same, "same"}, {inverse, "inverse"}};
};

template <>
struct EnumNames<engine::Decay> {
    using enum engine::Decay;
    static constexpr EnumName<engine::Decay> all[] = {
        {cosine, "cosine"}, {linear, "linear"}, {constant, "constant"}, {step, "step"}};
};

template <>
struct EnumNames<engine::OptimizerKind> {
    using enum engine::OptimizerKind;
    static constexpr EnumName<engine::OptimizerKind> all[] = {{adamw, "adamw"}, {sgd, "sgd"}};
};

// Number formats of activations.
template <>
struct EnumNames<engine::DType> {
    using enum engine::DType;
    static constexpr EnumName<engine::DType> all[] = {{f32, "f32"}, {bf16, "bf16"}};
};

template <>
struct EnumNames<experiments::DifficultyUnit> {
    using enum experiments::DifficultyUnit;
    static constexpr EnumName<experiments::DifficultyUnit> all[] = {{percentile, "percentile"}, {value, "value"}};
};

template <>
struct EnumNames<experiments::GrowthPacing> {
    using enum experiments::GrowthPacing;
    static constexpr EnumName<experiments::GrowthPacing> all[] = {
        {linear, "linear"},     {root, "root"},     {step, "step"},        {exponential, "exponential"},
        {discrete, "discrete"}, {points, "points"}, {constant, "constant"}};
};

template <>
struct EnumNames<engine::LearningRateScaling> {
    using enum engine::LearningRateScaling;
    static constexpr EnumName<engine::LearningRateScaling> all[] = {
        {linear, "linear"}, {square_root, "sqrt"}, {none, "none"}};
};

template <>
struct EnumNames<experiments::SelectedWeights> {
    using enum experiments::SelectedWeights;
    static constexpr EnumName<experiments::SelectedWeights> all[] = {{last, "last"}, {best, "best"}};
};

template <>
struct EnumNames<experiments::BuiltInCorpus> {
    using enum experiments::BuiltInCorpus;
    static constexpr EnumName<experiments::BuiltInCorpus> all[] = {
        {embedded, "embedded"}, {text, "text"}, {indexed, "indexed"}};
};

template <>
struct EnumNames<experiments::BuiltInTokenizer> {
    using enum experiments::BuiltInTokenizer;
    static constexpr EnumName<experiments::BuiltInTokenizer> all[] = {
        {bytes, "bytes"}, {gpt2, "gpt2"}, {bpe, "bpe"}, {bert_base_uncased, "bert-base-uncased"}};
};

template <>
struct EnumNames<experiments::ScoringCapacity> {
    using enum experiments::ScoringCapacity;
    static constexpr EnumName<experiments::ScoringCapacity> all[] = {{none, "none"}, {reference, "reference"}};
};

}  // namespace deft
