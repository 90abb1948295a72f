#pragma once
// Models that come from others and go to others: deft import and deft export.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/core/tensor.h"
#include "engine/models/transformer_config.h"

namespace deft::experiments {

// Summary of the result, for people.
struct Exchanged {
    std::string format;  // of what was read
    engine::TransformerConfig model;
    engine::DType dtype = engine::DType::f32;  // of the weights that were written
    std::string sha256;                        // of what was read
    std::string note;                          // what cannot be done with it, and why; empty: nothing
};

// Both write a folder that is whole or absent. There may be none of that name: `replace` lets one go that holds a
// model, and only that. Errors: usage, for such a folder; those of engine::open_model() and engine::import_weights();
// io; memory.

// A checkpoint folder of weights alone, under the names of the model's family. bf16 stays bf16, f16 becomes f32.
// tokenizer: as data.tokenizer, or "none"; empty: the one beside the weights, if any. A model that continues text has
// what deft eval needs to score it. Errors: also config, for weights of a head that are missing, and a tokenizer of
// another vocabulary.
Exchanged import_model(const std::filesystem::path& from, const std::filesystem::path& to, const std::string& tokenizer,
                       bool replace);

struct ExportChoice {
    std::optional<engine::DType> dtype = {};  // nothing: as the checkpoint has them
    std::int64_t shard_bytes = 0;             // see engine::ExportOptions
    bool replace = false;
};
// A folder for Hugging Face's from_pretrained(). Errors: also config, for a model that Hugging Face has not.
Exchanged export_checkpoint(const std::filesystem::path& checkpoint, const std::filesystem::path& to,
                            const ExportChoice& choice);

}  // namespace deft::experiments
