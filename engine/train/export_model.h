#pragma once
// A model as a folder that Hugging Face's from_pretrained() loads as it is.

#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/core/exec.h"
#include "engine/data/any_tokenizer.h"
#include "engine/models/transformer.h"

namespace deft::engine {

struct ExportOptions {
    DType dtype = DType::f32;      // of the weights: f32, bf16 or f16
    std::int64_t shard_bytes = 0;  // a file of weights is at most as long, unless one tensor is longer; 0: one file
};

// Writes config.json, the weights (engine/io/write_weights.h) and the tokenizer's files into `folder`, which is there
// and empty: vocab.json, merges.txt, tokenizer.json or vocab.txt, and tokenizer_config.json; none of bytes, which
// Hugging Face has not, and of images. Errors: config, for a model that Hugging Face has not, with what it has
// otherwise, and for a value that f16 has not; io; device.
void export_model(Exec& exec, const Transformer& model, const AnyTokenizer& tokenizer,
                  const std::filesystem::path& folder, const ExportOptions& options);

}  // namespace deft::engine
