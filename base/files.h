#pragma once
// Files: written atomically, read, mapped, locked.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/output_target.h"

namespace deft {

// Writes a temporary file beside `file`, syncs it, renames it over `file` and syncs the folder. Links are followed, a
// replaced file keeps its mode, and a pipe, a device or /dev/stdout gets the bytes instead of a rename.
// Errors: io (full disk, no right to write); a regular `file` is then what it was before.
void write_file_atomically(const std::filesystem::path& file, std::string_view bytes);

// A file written from beginning to end in pieces, atomically, as above. Errors of all calls: io (full disk, no
// right to write); a regular file is then what it was before.
class AtomicFile {
 public:
    explicit AtomicFile(std::filesystem::path file);
    ~AtomicFile();  // removes a file that was not finished
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(std::string_view bytes);
    // Pieces in any order, also from several threads at once.
    void write_at(std::int64_t offset, std::string_view bytes);
    // The bytes are on the disk once this has returned, and only the rename is left to finish().
    void sync();
    // The file is in its place once this has returned.
    void finish();

 private:
    [[noreturn]] void fail(int error) const;
    bool is_stream() const { return target_.stream.number() >= 0; }

    std::filesystem::path file_, temporary_;  // temporary_: empty for a stream, and after the rename
    OutputTarget target_;
    Descriptor descriptor_;
};

// Brings what is in `from` to the disk, then gives the file its name: after a power cut `to` is the old or the new
// file. Errors: io; `to` is then what it was before.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

// Flushes a folder's entries to the disk. File systems that cannot do this are not an error.
void sync_folder(const std::filesystem::path& folder);

// How to fix a write that ended with this errno; empty where unknown.
std::string fix_for_write(int error);

// Errors: io, for a path that is not a regular file. Opening a pipe or reading a device may never end, so whatever
// reads the files of a folder calls this first.
void require_regular_file(const std::filesystem::path& file);

// A regular file. Errors: io.
std::string read_file(const std::filesystem::path& file);
// A file, a pipe or a terminal that a user has named. Errors: io.
std::string read_input(const std::filesystem::path& file);

// Reads a plain, gzip (.gz) or zstd (.zst) file completely, decompressed. Errors: io, for truncated or damaged data
// too.
std::string read_text_file(const std::filesystem::path& file);

// `file`, or the same name followed by .gz or .zst: the first that exists, or nothing.
std::optional<std::filesystem::path> find_text_file(const std::filesystem::path& file);

// Makes the folder and its parents. Errors: io, with a fix.
void make_folder(const std::filesystem::path& folder);

// A file mapped into memory for reading. The mapping survives renaming or removing the file. Reading bytes that
// another program has cut off meanwhile, or that the disk cannot give, ends the process with SIGBUS.
class MappedFile {
 public:
    // An empty file maps to no bytes. Errors: io.
    explicit MappedFile(const std::filesystem::path& file);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return {data_, size_}; }
    const std::filesystem::path& path() const { return path_; }

    // Call it before each long read of a file that others may write. Errors: io, for a file that is shorter than it
    // was.
    void require_whole() const;
    // Releases the memory of those bytes: reading them again loads them from the file.
    void release(std::span<const std::byte> bytes) const;

 private:
    std::filesystem::path path_;
    Descriptor descriptor_;
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

// One process at a time: an exclusive lock on a file, waited for, and gone with the process that held it.
class FileLock {
 public:
    // Makes the file where it is absent. Errors: io.
    explicit FileLock(const std::filesystem::path& file);

    // That another process had it.
    double waited_seconds() const { return waited_seconds_; }

 private:
    Descriptor file_;
    double waited_seconds_ = 0;
};

}  // namespace deft
