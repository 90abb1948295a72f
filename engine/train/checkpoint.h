#pragma once
// A training run set down in a folder, so that it goes on to the same bits.
//
//   config.json              the model's extents, as Hugging Face's GPT2LMHeadModel reads them
//   model.safetensors        weights under Hugging Face's names and layout: linear weights are (in, out)
//   optimizer.safetensors    NAME.m and NAME.v, Adam's moments as the engine holds them; unique_tokens (samples) i32;
//                          router_state f32, of a token router that learns
//   vocab.json, merges.txt, tokenizer.json    the tokenizer, as Hugging Face reads it; absent for bytes
//   checkpoint.json          the counts, what the caller adds, and the sha256 of the files above; written last

#include <filesystem>
#include <string>

#include "base/json_fwd.h"
#include "engine/data/tokenizer.h"
#include "engine/train/trainer.h"

namespace deft::engine {

// Made beside `folder` as "unfinished", synced, and renamed: the folder is whole or absent. An older one of that
// name is replaced. Returns the sha256 of model.safetensors. Errors: io.
std::string save_checkpoint(Trainer& trainer, const std::filesystem::path& folder, const Json& about,
                            const Tokenizer& tokenizer);

// Likewise without optimizer.safetensors: the model can be asked, and is not trained on from there.
std::string save_weights(Trainer& trainer, const std::filesystem::path& folder, const Json& about,
                         const Tokenizer& tokenizer);

// checkpoint.json, after the files have been compared with its hashes. Errors: io, saying which file is damaged.
Json verify_checkpoint(const std::filesystem::path& folder);

// Weights, moments, what a router has learnt, and counts. Nothing is changed unless all of it can be. Returns what
// save_checkpoint() was told `about`. Errors: io, for a damaged checkpoint; config, for one of another model, and for one
// of weights alone.
Json load_checkpoint(Trainer& trainer, const std::filesystem::path& folder);

// The weights alone. Errors: as above.
void load_weights(Exec& exec, Transformer& model, const std::filesystem::path& folder);

}  // namespace deft::engine
