#pragma once
// Whole lines of a growing file from a byte offset, in constant memory.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace deft::results_db {

class LineReader {
 public:
    // Errors: io, where the file cannot be read or is shorter than the offset.
    LineReader(const std::filesystem::path& file, std::int64_t offset);
    ~LineReader();
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    // The next line without its newline, valid until the next call; false where none is whole. Errors: io.
    bool next(std::string_view& line);
    // Just after the last line that next() gave.
    std::int64_t offset() const { return offset_; }

 private:
    std::string path_;
    int file_ = -1;
    std::int64_t offset_ = 0;
    std::string buffer_;
    std::size_t begin_ = 0;    // of the next line in the buffer
    std::size_t scanned_ = 0;  // no newline between begin_ and here
};

}  // namespace deft::results_db
