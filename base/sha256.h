#pragma once
// SHA-256 through libcrypto, as 64 lower-case hex digits.

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace deft {

class MappedFile;

std::string sha256(std::string_view bytes);
// The hash in base64, as browsers compare it.
std::string sha256_base64(std::string_view bytes);

// Incremental hash of bytes that arrive in pieces.
class Sha256 {
 public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;
    void add(std::string_view bytes);
    std::string hex();  // once, at the end

 private:
    struct State;
    std::unique_ptr<State> state_;
};

// Errors: io, when the file cannot be read.
std::string sha256_file(const std::filesystem::path& file);
// Holds a few MiB of the file in memory at a time. Errors: io, for a file that is cut short meanwhile.
std::string sha256(const MappedFile& file);

}  // namespace deft
