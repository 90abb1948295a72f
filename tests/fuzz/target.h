#pragma once
// Shared parts of the fuzz targets. A target is one file: LLVMFuzzerTestOneInput(), as libFuzzer calls it, and seeds()
// for the driver of this folder. It fails by a crash, a sanitizer's report, or an exception other than deft::Error.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace deft::fuzz {

// Whole inputs that the reader takes, made with the writer's own functions where there are such.
std::vector<std::string> seeds();

// A folder in memory where there is such, gone at the end.
class Scratch {
 public:
    Scratch() {
        const std::filesystem::path memory = "/dev/shm";
        const bool there = ::access(memory.c_str(), W_OK) == 0;
        std::string name = ((there ? memory : std::filesystem::temp_directory_path()) / "deft_fuzz_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        path_ = name;
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::filesystem::path operator/(const char* name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

 private:
    std::filesystem::path path_;
};

inline Scratch& scratch() {
    static Scratch folder;
    return folder;
}

inline std::filesystem::path write(const char* name, std::string_view bytes) {
    const std::filesystem::path file = scratch() / name;
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file;
}

inline std::string read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string_view view(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// Several files in one input: each follows its length, u32 little-endian; the last takes the rest. Lengths
// beyond the end are cut.
inline std::vector<std::string_view> split(std::string_view input, std::size_t parts) {
    std::vector<std::string_view> files;
    while (files.size() + 1 < parts) {
        std::uint32_t length = 0;
        if (input.size() >= sizeof length) {
            std::memcpy(&length, input.data(), sizeof length);
            input.remove_prefix(sizeof length);
        }
        files.push_back(input.substr(0, length));
        input.remove_prefix(files.back().size());
    }
    files.push_back(input);
    return files;
}

inline std::string join(const std::vector<std::string>& files) {
    std::string input;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const auto length = static_cast<std::uint32_t>(files[i].size());
        if (i + 1 < files.size()) input.append(reinterpret_cast<const char*>(&length), sizeof length);
        input += files[i];
    }
    return input;
}

// Reads every byte, so that a view beyond its file is seen.
inline void touch(const void* data, std::size_t bytes) {
    const auto* first = static_cast<const unsigned char*>(data);
    const unsigned sum = std::accumulate(first, first + bytes, 0U);
    asm volatile("" : : "r"(sum));  // is used, as far as the compiler knows
}

// Reading may succeed, or be refused in the documented way.
template <class Read>
int read_or_refuse(Read read_input) {
    try {
        read_input();
    } catch (const Error&) {
    }
    return 0;
}

}  // namespace deft::fuzz
