#pragma once
// The four classes of characters that GPT-2's split rules tell apart, by Unicode 14.

#include <cstdint>

namespace deft::engine {

enum class CharacterClass : std::uint8_t {
    other,   // also combining marks, unassigned code points
    letter,  // general categories L*
    number,  // general categories N*
    space,   // White_Space: U+0085 and U+00A0 are, U+001C to U+001F, U+200B and U+FEFF are not
};

CharacterClass character_class(std::uint32_t code_point);

}  // namespace deft::engine
