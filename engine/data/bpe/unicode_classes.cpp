#include "engine/data/bpe/unicode_classes.h"

#include <algorithm>
#include <iterator>

namespace deft::engine {

namespace {

struct Range {
    std::uint32_t first, last;
    CharacterClass character_class;
};

constexpr Range kRanges[] = {
#include "engine/data/bpe/unicode_ranges.inc"
};

}  // namespace

CharacterClass character_class(std::uint32_t code_point) {
    const Range* after = std::upper_bound(std::begin(kRanges), std::end(kRanges), code_point,
                                          [](std::uint32_t c, const Range& range) { return c < range.first; });
    if (after == std::begin(kRanges)) return CharacterClass::other;
    const Range& range = *std::prev(after);
    return code_point <= range.last ? range.character_class : CharacterClass::other;
}

}  // namespace deft::engine
