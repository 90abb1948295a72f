#pragma once
// Common parts of the readers of image files: the bytes of a file, and its refusal.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace deft::engine {

struct ImageFile {
    std::string name;                  // for messages
    std::span<const std::byte> bytes;  // unpacked
};

// A file that is already in memory: `content`, which must outlive it.
ImageFile image_file(const std::filesystem::path& path, const std::string& content);

// Errors: io, always.
[[noreturn]] void refuse_images(const ImageFile& file, const std::string& why, const std::string& fix);

// Errors: io, for bytes that are still packed with gzip, which no file of images begins with.
void require_unpacked(const ImageFile& file);

}  // namespace deft::engine
