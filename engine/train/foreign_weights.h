#pragma once
// Models that others trained, or deft before: what they are, where their weights lie, and how these come into a model
// of ours. A folder of Hugging Face (config.json beside model.safetensors or its shards), a file of llm.c, or a
// checkpoint folder of deft.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/any_tokenizer.h"
#include "engine/io/match_weights.h"
#include "engine/models/transformer.h"

namespace deft::engine {

// A tokenizer as far as the files beside a model describe it.
struct ImportedTokenizer {
    std::optional<Tokenizer> text;                 // vocab.json and merges.txt, or tokenizer.json
    std::optional<WordPieceVocabulary> wordpiece;  // vocab.txt
    std::optional<bool> lower_case;                // tokenizer_config.json, of vocab.txt
    std::string problem;                           // why tokenizer.json is not read; empty: it is, or there is none
};

struct ImportedModel {
    std::filesystem::path path;
    std::string format;        // for people: "BERT of Hugging Face", "llm.c", "a checkpoint of deft"
    TransformerConfig config;  // without its dropout where the files lack it
    WeightFiles weights;       // where each tensor lies; the files are mapped
    DType dtype = DType::f32;  // of the weights: bf16 or f16 where all are, else f32
    ImportedTokenizer tokenizer;
    // The hash of all that decides the model: the file's, or for a folder that of its files' names and hashes.
    std::string sha256;
};

// Reads every file once, to hash it, and no weight. Errors: io, for what is absent, malformed, truncated or, in a
// checkpoint of deft, not what was written; config, naming the setting of config.json that no model of deft has.
ImportedModel open_model(const std::filesystem::path& path);

struct ImportOptions {
    // The model's head of classes is for another task than the files': it stays as it is.
    bool new_class_head = false;
    // The tokenizer of the model's data; null: not compared.
    const AnyTokenizer* tokenizer = nullptr;
};

// The weights that were not simply copied.
struct ImportReport {
    std::vector<std::string> fresh;   // weights of heads that the files lack, or that were not wanted: as they were
    std::vector<std::string> unused;  // tensors of heads that the model lacks
    std::int64_t positions_cut = 0;   // rows of the files' table of positions after the model's last
};

// Copies the weights by name, f32, bf16 or f16 into f32. A longer table of positions is cut. Nothing is copied unless
// all fits. Errors: config, listing all parts, tensors and the tokenizer that differ, a shorter table of positions
// among them, and the tensors with values that are infinite or NaN; io; device.
ImportReport import_weights(Exec& exec, Transformer& model, const ImportedModel& from,
                            const ImportOptions& options = {});

}  // namespace deft::engine
