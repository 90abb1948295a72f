#pragma once
// Remembers the tokens of short pieces. A place holds the latest piece that hashed there, so memory is fixed (2 MiB) and
// any text may come; a few thousand pieces make up most of a text.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace deft::engine {

class PieceCache {
 public:
    struct Entry {
        std::array<std::uint64_t, 2> text{};  // zero-padded
        std::array<std::int32_t, 3> tokens{};
        std::uint8_t bytes = 0;  // 0: empty
        std::uint8_t count = 0;
    };

    static constexpr std::size_t kMaxBytes = sizeof(Entry::text);

    // The piece's place, for piece.size() in [1, kMaxBytes]. It holds the piece where `known` is true, else anything.
    struct Found {
        Entry& entry;
        bool known;
        std::array<std::uint64_t, 2> text;
    };
    Found find(std::string_view piece) {
        std::array<std::uint64_t, 2> text{};
        std::memcpy(text.data(), piece.data(), piece.size());
        const std::uint64_t mixed = (text[0] ^ (text[1] * 0x9FB21C651E98DF25u) ^ piece.size()) * 0x9E3779B97F4A7C15u;
        Entry& entry = entries_[(mixed ^ mixed >> 29) * 0x9E3779B97F4A7C15u >> (64 - kBits)];
        return {entry, entry.bytes == piece.size() && entry.text == text, text};
    }

    // Puts the piece's tokens there, unless they are too many.
    static void keep(const Found& found, std::string_view piece, std::span<const std::int32_t> tokens) {
        if (tokens.size() > found.entry.tokens.size()) return;
        found.entry.text = found.text;
        found.entry.bytes = static_cast<std::uint8_t>(piece.size());
        found.entry.count = static_cast<std::uint8_t>(tokens.size());
        for (std::size_t i = 0; i < tokens.size(); ++i) found.entry.tokens[i] = tokens[i];
    }

 private:
    static constexpr int kBits = 16;
    std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << kBits);
};

}  // namespace deft::engine
