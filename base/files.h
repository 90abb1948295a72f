#pragma once
// Files: written whole or not at all, read, mapped, locked.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace deft {

// Writes a temporary file beside `file`, syncs it, renames it over `file` and syncs the folder.
// Errors: io (full disk, no right to write); `file` is then what it was before.
void write_file_atomically(const std::filesystem::path& file, std::string_view bytes);

// Brings what is in `from` to the disk, then gives the file its name: after a power cut `to` is the old file or whole.
// Errors: io; `to` is then what it was before.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

// Errors: io.
std::string read_file(const std::filesystem::path& file);

// Reads a plain, gzip (.gz) or zstd (.zst) file whole, decompressed. Errors: io, for truncated or damaged data too.
std::string read_text_file(const std::filesystem::path& file);

// `file`, or the same with .gz or .zst behind it: the first that is there, or nothing.
std::optional<std::filesystem::path> find_text_file(const std::filesystem::path& file);

// Makes the folder and its parents. Errors: io, with what to mend.
void make_folder(const std::filesystem::path& folder);

// A file mapped into memory for reading.
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

// One process at a time: an exclusive lock on a file, waited for, and gone with the process that held it.
class FileLock {
 public:
    // Makes the file where it is absent. Errors: io.
    explicit FileLock(const std::filesystem::path& file);

 private:
    Descriptor file_;
};

}  // namespace deft
