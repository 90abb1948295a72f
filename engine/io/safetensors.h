#pragma once
// The safetensors file format (github.com/huggingface/safetensors, format section): an 8-byte header length, a JSON
// header, then the tensors' bytes without holes.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/sha256.h"
#include "engine/core/tensor.h"

namespace deft::engine {

struct NamedTensor {
    std::string name;
    Tensor tensor;
};

// A file of f32, bf16, f16, f64, i32, i64 and u8 tensors, written piece by piece, whole or not at all, and hashed on
// the way.
class SafetensorsOutput {
 public:
    // Writes the header. Of the tensors only names, types and shapes are looked at; names differ. Errors of all calls:
    // io.
    SafetensorsOutput(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata);

    // The next bytes of the tensors, which follow one another in the order given.
    void write(const void* bytes, std::int64_t count);
    // All bytes were written. The file is in its place once this has returned its sha256.
    std::string finish();

 private:
    void append(std::string_view bytes);

    AtomicFile file_;
    Sha256 hash_;
    std::int64_t missing_ = 0;  // bytes of tensors that are yet to be written
};

// Tensors in the host's memory, in this order, whole or not at all. Returns the file's sha256. Errors: io.
std::string write_safetensors(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors,
                              const std::map<std::string, std::string>& metadata);

// Tensors are views into the mapped file, to be read only. They are aligned to their elements in files that the class
// above wrote; another writer may not have filled its header up.
struct SafetensorsFile {
    std::shared_ptr<const MappedFile> file;
    std::map<std::string, Tensor> tensors;
    std::map<std::string, std::string> metadata;
};

// Reads the header and no tensor. Errors: io, for a truncated or malformed file, overlapping or missing bytes, an
// element type other than those above, or more than four dimensions.
SafetensorsFile read_safetensors(std::shared_ptr<const MappedFile> file);
SafetensorsFile read_safetensors(const std::filesystem::path& file);

}  // namespace deft::engine
