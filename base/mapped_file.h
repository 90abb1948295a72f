#pragma once
// A file mapped into memory for reading.

#include <cstddef>
#include <filesystem>
#include <span>

namespace deft {

class MappedFile {
 public:
    // An empty file maps to no bytes. Errors: io.
    explicit MappedFile(const std::filesystem::path& file);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace deft
