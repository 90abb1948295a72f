#pragma once
// Cost of the layers that drop tokens: the inner blocks of a model, forward and backward, without
// embedding, head and update.

#include <cstdint>
#include <memory>

#include "engine/models/transformer.h"

namespace deft::engine {

// All blocks but the first and last, each with activations of its own, as in a step of training.
class InnerLayers {
 public:
    // kept: tokens of each sample that a layer takes; below model.max_seqlen random-LTD chooses them for each
    // layer and run, and each layer gathers and scatters them. Errors: config, for a model of fewer than three layers.
    InnerLayers(const TransformerConfig& model, std::int64_t batch_size, std::int64_t kept, int threads);
    ~InnerLayers();

    // Seconds of one forward and backward pass; what a step does before and after is set up untimed.
    double run();
    double flops() const;
    // Whether the gradient that came out of the last run is finite and not zero.
    bool is_sane() const;

 private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace deft::engine
