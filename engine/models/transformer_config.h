#pragma once
// Configuration of a transformer. Defaults are those of GPT-2 (Radford et al. 2019).

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/nn/block.h"
#include "engine/nn/class_head.h"
#include "engine/nn/embedding.h"
#include "engine/nn/head.h"

namespace deft::engine {

// The extents that the plan of a training step depends on.
struct ModelExtents {
    std::int64_t seqlen = 0;  // full length
    std::int64_t layers = 0;
};

struct TransformerConfig {
    std::int64_t width = 64;       // C: of the stream
    std::int64_t max_seqlen = 64;  // T at most
    std::int64_t vocab = 257;      // V; 0: a model of images
    double init_std = 0.02;
    InputConfig input;
    std::vector<BlockConfig> blocks;                  // one a layer
    std::optional<NormSpec> final_norm = NormSpec{};  // after the last block; none: blocks that end with a norm
    std::optional<HeadConfig> head = HeadConfig{};    // none: a model of images or of labels
    std::optional<ClassHeadConfig> class_head = {};

    std::int64_t layers() const { return static_cast<std::int64_t>(blocks.size()); }
    ModelExtents extents() const { return {max_seqlen, layers()}; }
    std::int64_t heads() const { return blocks.empty() ? 0 : blocks.front().attention.heads; }  // of the first layer
    // The widest head's size, which decides whether a backend can run the model.
    std::int64_t head_size() const;
    // No position attends to a later one.
    bool is_causal() const;
    bool operator==(const TransformerConfig&) const = default;
};

// Equal blocks of GPT-2's kind: feed-forward parts four times as wide as the stream.
TransformerConfig gpt2_config(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t max_seqlen,
                              std::int64_t vocab, double init_std = 0.02);

// Whether it is one of those, without dropout and with the eps of those.
bool is_plain_gpt2(const TransformerConfig& config);

}  // namespace deft::engine
