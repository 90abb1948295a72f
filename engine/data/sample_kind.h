#pragma once
// The kinds of samples that a model trains on.

namespace deft::engine {

enum class SampleKind {
    packed,    // concatenated documents in samples of equal length
    bert,      // consecutive sentences of one document, masked
    images,    // images with classes
    labelled,  // texts with their labels
};

}  // namespace deft::engine
