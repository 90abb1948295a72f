#pragma once
// llm.c's checkpoints of GPT-2 (github.com/karpathy/llm.c): int32[256] with 20240326, the version (3: float32, 5:
// bfloat16), longest sequence, vocabulary, layers, heads, width and the vocabulary as padded; then 16 tensors end to
// end, those of all layers side by side, linear weights as (out, in). The table of tokens has rows of padding after
// the vocabulary, which are not read; the head is that table.

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "engine/io/match_weights.h"
#include "engine/models/transformer_config.h"

namespace deft::engine {

inline constexpr std::int32_t kLlmcModelMagic = 20240326;

struct LlmcModel {
    TransformerConfig config;
    WeightFiles weights;  // WeightNames::plain
    DType dtype = DType::f32;
};

// Errors: io, for another magic or version, extents that make no model, and a file that is shorter or longer than they
// say.
LlmcModel read_llmc_model(std::shared_ptr<const MappedFile> file);

}  // namespace deft::engine
