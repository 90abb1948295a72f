#include "results_db/compressed.h"

#include <fmt/format.h>
#include <zstd.h>

#include "base/error.h"

namespace deft::results_db {

namespace {

constexpr int kLevel = 3;
constexpr unsigned long long kMostBytes = 1ULL << 28;  // far above the items of any task

}  // namespace

std::vector<std::byte> compressed(const std::string& text) {
    if (text.empty()) return {};
    std::vector<std::byte> bytes(ZSTD_compressBound(text.size()));
    const std::size_t size = ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), kLevel);
    if (ZSTD_isError(size) != 0)
        throw Error(ErrorKind::memory, fmt::format("cannot compress a text: {}", ZSTD_getErrorName(size)));
    bytes.resize(size);
    return bytes;
}

std::string decompressed(std::span<const std::byte> bytes) {
    if (bytes.empty()) return {};
    const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    if (size > kMostBytes)  // errors are the largest numbers
        throw Error(ErrorKind::database, "a compressed text of the results database is damaged");
    std::string text(size, '\0');
    const std::size_t got = ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(got) != 0 || got != text.size())
        throw Error(ErrorKind::database, "a compressed text of the results database is damaged");
    return text;
}

}  // namespace deft::results_db
