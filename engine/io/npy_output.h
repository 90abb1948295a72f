#pragma once
// A .npy file written piece by piece, in any order, whole or not at all.

#include <cstdint>
#include <filesystem>

#include "engine/io/number_type.h"

namespace deft::engine {

class NpyOutput {
 public:
    // Errors of all calls: io; the file is then what it was before.
    NpyOutput(const std::filesystem::path& file, NumberType type, std::int64_t count);
    ~NpyOutput();
    NpyOutput(const NpyOutput&) = delete;
    NpyOutput& operator=(const NpyOutput&) = delete;

    // Elements [first, first + count), of the file's type. May be called from several threads at once.
    void write(std::int64_t first, const void* data, std::int64_t count);
    // All elements are written. The file is in its place once this has returned.
    void finish();

 private:
    [[noreturn]] void fail(int error) const;
    void write_bytes(std::int64_t offset, const char* data, std::int64_t size);

    std::filesystem::path file_, temporary_;
    int width_;
    std::int64_t header_bytes_ = 0;
    int descriptor_ = -1;
};

}  // namespace deft::engine
