#pragma once
// How urgently a position's token is kept: a 32-bit key a position, the smallest kept first, the lower position where
// keys are equal. Every backend selects by these keys, so that every backend keeps the same tokens.

#include <cstdint>

#include "kernels/philox.h"

namespace deft::kernels {

inline constexpr std::uint32_t kFirstKept = 0, kLastKept = 0xFFFFFFFFu;

// Rules of every selection: padding is kept last, lower positions first, so that the first min(K, length) kept
// rows are a sample's real tokens; the first positions (a [CLS] token) are kept before all others.
struct KeepRules {
    std::int64_t keep_first = 0;           // positions
    const std::int32_t* length = nullptr;  // (B) real tokens of each sample; null: all are
};

// random-LTD (Yao et al. 2022, section 3: a uniformly random subset for each layer). Row l B + b is sample b in layer
// l.
struct RandomKeys {
    std::uint64_t seed, step;
    const std::int32_t* layer_id;  // (layers)
    const std::int64_t* draw;      // (B): each sample's number among the run's draws, however a batch is split
    std::int64_t B;
    KeepRules rules;

    // The keys of one row.
    struct Row {
        std::uint64_t seed, step, draw;
        std::uint32_t layer;
        std::int64_t keep_first, real;

        DEFT_HOST_DEVICE std::uint32_t operator[](std::int64_t t) const {
            const std::uint32_t drawn =
                philox_u32(seed, RandomPurpose::token_drop, step, layer, draw, static_cast<std::uint32_t>(t));
            return t >= real ? kLastKept : t < keep_first ? kFirstKept : drawn;
        }
    };
    DEFT_HOST_DEVICE Row row(std::int64_t number, std::int64_t T) const {
        const std::int64_t b = number % B;
        return {seed,
                step,
                static_cast<std::uint64_t>(draw[b]),
                static_cast<std::uint32_t>(layer_id[number / B]),
                rules.keep_first,
                rules.length == nullptr ? T : rules.length[b]};
    }
};

// The entries of the vocabulary with the highest importance first; row b is sample b. Importance is not negative, and
// infinite for an entry that is always kept.
struct ImportanceKeys {
    const float* importance;    // (V)
    const std::int32_t* token;  // (B, T), or of packed samples one after the other
    KeepRules rules;
    const std::int32_t* start = nullptr;  // (B): where each packed sample starts; null: none are packed

    struct Row {
        const float* importance;
        const std::int32_t* token;  // (T)
        std::int64_t keep_first, real;

        DEFT_HOST_DEVICE std::uint32_t operator[](std::int64_t t) const {
            if (t >= real) return kLastKept;
            if (t < keep_first) return kFirstKept;
            // Bits of floats that are not negative are in their order.
            return ~__builtin_bit_cast(std::uint32_t, importance[token[t]]);
        }
    };
    DEFT_HOST_DEVICE Row row(std::int64_t b, std::int64_t T) const {
        return {importance, token + (start == nullptr ? b * T : start[b]), rules.keep_first,
                rules.length == nullptr ? T : rules.length[b]};
    }
};

}  // namespace deft::kernels
