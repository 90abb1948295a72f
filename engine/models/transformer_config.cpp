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

bool is_gpt2(const TransformerConfig& config) {
    TransformerConfig plain =
        gpt2_config(config.layers(), config.width, config.heads(), config.max_seqlen, config.vocab, config.init_std);
    plain.final_norm->eps = config.final_norm ? config.final_norm->eps : 0;
    plain.input.dropout = config.input.dropout;
    for (std::size_t i = 0; i < config.blocks.size(); ++i) {
        plain.blocks[i].norm.eps = plain.final_norm->eps;
        plain.blocks[i].dropout = config.blocks[i].dropout;
        plain.blocks[i].attention.dropout = config.blocks[i].attention.dropout;
    }
    return config == plain;
}

}  // namespace deft::engine
