#pragma once
// A plain, gzip (.gz) or zstd (.zst) file read piece by piece, decompressed: for files larger than memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace deft {

class TextStream {
 public:
    // Errors of all calls: io, for a file that cannot be read and for truncated or damaged data.
    explicit TextStream(const std::filesystem::path& file);
    ~TextStream();
    TextStream(TextStream&&) noexcept;
    TextStream& operator=(TextStream&&) noexcept;

    // Fills up to `size` bytes; 0 at the end alone.
    std::size_t read(char* out, std::size_t size);
    // The next line without its line feed; false at the end. A last line may lack its line feed. Reading ends within a
    // line once it has more than `most` bytes, and goes on there.
    bool read_line(std::string& line, std::size_t most = static_cast<std::size_t>(-1));
    bool line_feed_seen() const;  // by the last read_line(); false for a last line without one

    // For progress: bytes of the stored file taken so far, and of all.
    std::int64_t stored_bytes_read() const;
    std::int64_t stored_bytes() const;

 private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace deft
