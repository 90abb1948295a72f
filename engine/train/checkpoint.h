#pragma once
// A training run set down in a folder, so that it goes on to the same bits.
//
//   config.json              of a model that Hugging Face has too: GPT-2, BERT, ViT, Llama, Mixtral
//   model.safetensors        weights in the names and layout of Hugging Face's model (engine/io/weight_names.h);
//                            other models: deft's names after "transformer.", linear weights as (in, out)
//   optimizer.safetensors    NAME.m and NAME.v, the optimizer's moments as the engine holds them, of SGD the first
//                          alone; unique_tokens (samples) i32; router_state f32, of a token dropper that learns
//   vocab.json, merges.txt, tokenizer.json    the tokenizer, as Hugging Face reads it; absent for bytes; vocab.txt
//                          in their stead for WordPiece
//   checkpoint.json          the counts, the model's parts, the caller's additions, and the sha256 of the files above;
//                            written last

#include <filesystem>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "engine/data/any_tokenizer.h"
#include "engine/io/match_weights.h"
#include "engine/train/trainer.h"

namespace deft::engine {

// Saving and loading hold a few pieces of a tensor in memory beside the model, see engine/io/tensor_pieces.h.
//
// On several ranks all ranks save together, and rank 0 alone writes; what it fails with is thrown on all. Each
// reads by itself what it needs. The files are those of one rank: any number of ranks goes on from them.

// Made beside `folder` as "unfinished", synced, and renamed: the folder is whole or absent. An older one of that
// name is replaced. Returns the sha256 of model.safetensors, on every rank. Errors: io.
std::string save_checkpoint(Trainer& trainer, const std::filesystem::path& folder, const Json& about,
                            const AnyTokenizer& tokenizer);

// As save_checkpoint(), without optimizer.safetensors: for inference; it cannot resume. dtype: of the stored
// weights, f32 or bf16, which halves the file and rounds them to nearest.
std::string save_weights(Trainer& trainer, const std::filesystem::path& folder, const Json& about,
                         const AnyTokenizer& tokenizer, DType dtype = DType::f32);

// The same of a model that no trainer holds, with counts of 0.
std::string save_weights(Exec& exec, const Transformer& model, const std::filesystem::path& folder, const Json& about,
                         const AnyTokenizer& tokenizer, DType dtype = DType::f32);

// Its files in an empty folder that the caller makes whole, see base/whole_folder.h.
std::string write_weights_into(const std::filesystem::path& folder, Exec& exec, const Transformer& model,
                               const Json& about, const AnyTokenizer& tokenizer, DType dtype = DType::f32);

// checkpoint.json; the files that it names are not looked at. Errors: io, for one that is damaged or of another
// version.
Json read_manifest(const std::filesystem::path& folder);

enum class CheckpointFiles {
    model,  // what asking the model needs: all but optimizer.safetensors, which may be absent or damaged
    all,
};

// The manifest, after the files have been compared with its hashes. Errors: io, saying which file is damaged.
Json verify_checkpoint(const std::filesystem::path& folder, CheckpointFiles files = CheckpointFiles::all);

// Loading hashes each file once, and copies what was hashed: the files are mapped, and stay so until they are loaded.

// model.safetensors, after the files of the model have been compared with the manifest's hashes. Errors: io.
SafetensorsFile open_weights(const std::filesystem::path& folder, const Json& manifest);
// F32, BF16 or F16. Errors: config, for those of another model, which is then as before; io, for a file that is cut
// short while it is copied.
void load_weights(Exec& exec, Transformer& model, const SafetensorsFile& weights);
// Loads the weights of that checkpoint. Errors: io, for a damaged one, and as above.
void load_weights(Exec& exec, Transformer& model, const std::filesystem::path& folder);

// Weights, moments, what a token dropper has learnt and counts, found whole and those of `trainer`'s configuration.
struct OpenCheckpoint {
    SafetensorsFile weights, moments;
    MatchedWeights of_weights;
    std::vector<StoredTensor> of_moments;  // `to`: the trainer's, of this rank's elements
    Counts counts;
    Tensor unique_tokens;  // (samples) i32
};
// Changes nothing. Errors: io, for a damaged checkpoint; config, for one of another model, and for one of weights
// alone.
OpenCheckpoint open_checkpoint(Trainer& trainer, const std::filesystem::path& folder, const Json& manifest);
// Errors: io, for a file that is cut short while it is copied; device. After one the trainer is of no use.
void restore(Trainer& trainer, const OpenCheckpoint& checkpoint);

// Loads the complete state, from which the trainer resumes. Returns the `about` of save_checkpoint().
Json load_checkpoint(Trainer& trainer, const std::filesystem::path& folder);

}  // namespace deft::engine
