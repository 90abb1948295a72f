#pragma once
// A model's weights as safetensors files under the names of a family.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "engine/io/safetensors.h"
#include "engine/io/tensor_pieces.h"
#include "engine/io/weight_names.h"
#include "engine/models/transformer.h"

namespace deft::engine {

inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kModelIndex = "model.safetensors.index.json";

// Writes elements of the whole of a weight that ranks divide, as the next bytes of the file.
using WriteDivided = std::function<void(const Parameter&, Share elements, Layout, SafetensorsOutput&)>;

// Writes model.safetensors, or where the tensors take more than shard_bytes (0: no bound) the files
// model-00001-of-0000N.safetensors and the index that says in which of them each tensor is, as Hugging Face splits a
// model: tensors in the model's order, a file ends before the tensor that would exceed it. dtype: f32, bf16 or f16.
// write_divided: for a model whose experts ranks divide. Returns the sha256 of each file by its name. Errors: io;
// config, for a value that f16 has not.
std::map<std::string, std::string> write_weights(Exec& exec, const Transformer& model, WeightNames names, DType dtype,
                                                 const std::filesystem::path& folder, std::int64_t shard_bytes = 0,
                                                 const WriteDivided& write_divided = {});

}  // namespace deft::engine
