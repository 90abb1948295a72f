#pragma once
// A model in safetensors files: model.safetensors, or several beside model.safetensors.index.json, as Hugging Face
// writes them: {"metadata": {"total_size": bytes}, "weight_map": {"tensor": "file", ...}}.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/match_weights.h"

namespace deft::engine {

// The files of an index, each once, with the tensors that must be in it. Errors: io, for an invalid index, and for
// names that lead out of the folder.
std::map<std::string, std::vector<std::string>> parse_shard_index(const std::string& text,
                                                                  const std::filesystem::path& file);

// All tensors of the folder's files, by the names of the files; `read` receives every file that was opened. Errors: io,
// for a folder with neither, a shard that is absent or damaged, a tensor that is in two shards, one that the index
// places in another file, or that it does not name.
std::map<std::string, FileTensor> open_safetensors(const std::filesystem::path& folder,
                                                   std::vector<std::shared_ptr<const MappedFile>>& read);

}  // namespace deft::engine
