#pragma once
// A flat hash map from pairs of token ids to an index: looked up for every merge.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace deft::engine {

// Two token ids, left in the high half: pairs order by left, then right.
constexpr std::uint64_t token_pair(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
}

class PairMap {
 public:
    // `expected` entries fit without growing.
    explicit PairMap(std::size_t expected = 0) : slots_(std::bit_ceil(2 * expected + 16)) {}

    // -1 where there is none.
    std::int32_t find(std::uint64_t pair) const {
        const Slot& slot = slots_[place(pair)];
        return slot.value;
    }

    // The index already there, or `value`, now put there. value >= 0.
    std::int32_t insert(std::uint64_t pair, std::int32_t value) {
        Slot& slot = slots_[place(pair)];
        if (slot.value >= 0) return slot.value;
        slot = {pair, value};
        if (2 * ++count_ > slots_.size()) grow();
        return value;
    }

 private:
    struct Slot {
        std::uint64_t pair = 0;
        std::int32_t value = -1;
    };

    // The slot of the pair, or the empty slot where it belongs.
    std::size_t place(std::uint64_t pair) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = (pair * 0x9E3779B97F4A7C15u) >> (64 - std::countr_zero(slots_.size()));
        while (slots_[i].value >= 0 && slots_[i].pair != pair) i = (i + 1) & mask;
        return i;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.value >= 0) slots_[place(slot.pair)] = slot;
    }

    std::vector<Slot> slots_;  // a power of two, at most half full
    std::size_t count_ = 0;
};

// Remembers the tokens of short pieces. A place holds the latest piece that hashed there, so memory is fixed (2 MiB)
// and any text may come; a few thousand pieces make up most of a text.

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
