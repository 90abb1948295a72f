#include "kernels/bench/cache_sizes.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

namespace deft::kernels {

namespace {

std::string first_word(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string word;
    in >> word;
    return word;
}

// "32768K"
std::optional<std::int64_t> size_of(const std::string& text) {
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
    if (digits == 0 || digits > 9 || text.size() > digits + 1) return std::nullopt;
    const std::int64_t number = std::stoll(text.substr(0, digits));
    if (digits == text.size()) return number;
    if (text[digits] == 'K') return number << 10;
    if (text[digits] == 'M') return number << 20;
    return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> cache_bytes(int level, const std::filesystem::path& described) {
    for (int index = 0; index < 8; ++index) {
        const std::filesystem::path cache = described / ("index" + std::to_string(index));
        if (first_word(cache / "level") != std::to_string(level) || first_word(cache / "type") == "Instruction")
            continue;
        if (const auto size = size_of(first_word(cache / "size")); size && *size > 0) return size;
    }
    constexpr std::array kNames = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    if (level < 1 || level > 3) return std::nullopt;
    const long bytes = sysconf(kNames[static_cast<std::size_t>(level - 1)]);
    return bytes > 0 ? std::optional<std::int64_t>(bytes) : std::nullopt;
}

std::int64_t last_level_cache_bytes() {
    return cache_bytes(3).value_or(std::int64_t{32} << 20);
}

}  // namespace deft::kernels
