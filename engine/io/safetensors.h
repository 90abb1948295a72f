#pragma once
// The safetensors file format (github.com/huggingface/safetensors, format section): an 8-byte header length, a JSON
// header, then the tensors' bytes without holes.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/core/tensor.h"

namespace deft::engine {

struct NamedTensor {
    std::string name;
    Tensor tensor;
};

// Writes f32, f64, i32 and i64 tensors in this order, whole or not at all. Errors: io.
void write_safetensors(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata);

// A file read whole; tensors view into `bytes`.
struct SafetensorsFile {
    std::vector<char> bytes;
    std::map<std::string, Tensor> tensors;
    std::map<std::string, std::string> metadata;
};

// Errors: io, for a truncated or malformed file, overlapping or missing bytes, an element type other than those above,
// or more than four dimensions.
SafetensorsFile read_safetensors(const std::filesystem::path& file);

}  // namespace deft::engine
