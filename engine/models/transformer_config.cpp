#include "engine/models/transformer_config.h"

#include <algorithm>

namespace deft::engine {

std::int64_t TransformerConfig::head_size() const {
    std::int64_t widest = 0;
    for (const BlockConfig& block : blocks) widest = std::max(widest, block.attention.head_size(width));
    return widest;
}

bool TransformerConfig::is_causal() const {
    return std::all_of(blocks.begin(), blocks.end(), [](const BlockConfig& block) { return block.attention.causal; });
}

TransformerConfig gpt2_config(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t max_seqlen,
                              std::int64_t vocab, double init_std) {
    TransformerConfig config;
    config.width = width;
    config.max_seqlen = max_seqlen;
    config.vocab = vocab;
    config.init_std = init_std;
    BlockConfig block;
    block.attention.heads = block.attention.kv_heads = heads;
    block.feed_forward.hidden = 4 * width;
    config.blocks.assign(static_cast<std::size_t>(layers), block);
    return config;
}

namespace {

TransformerConfig gpt2_of_extents(const TransformerConfig& c) {
    return gpt2_config(c.layers(), c.width, c.heads(), c.max_seqlen, c.vocab, c.init_std);
}

}  // namespace

bool is_plain_gpt2(const TransformerConfig& config) {
    return config == gpt2_of_extents(config);
}

}  // namespace deft::engine
