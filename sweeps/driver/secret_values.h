#pragma once
// The place of a name's value in a line, in the forms of programs, settings and shells.

#include <cstddef>
#include <string_view>

#include "sweeps/driver/secret_names.h"

namespace deft::sweeps {

// A part of a text; length 0: none.
struct TextSpan {
    std::size_t begin = 0, length = 0;
};

// A character of tokens as services give them out.
bool is_token_character(char c);

// A variable, a command or a field of a format alone: $NAME, ${NAME}, $(command), {name}.
bool is_reference(std::string_view text);

// The secret that `rest`, a line from a name's end on, gives to the name: NAME=value, name: "value", name("value").
TextSpan value_after(std::string_view rest, NameOf name);
// The word that follows an option such as --password, or a name in a .netrc.
TextSpan next_word(std::string_view rest, NameOf name);
// The value at the beginning of `rest`, as of -pVALUE.
TextSpan glued_word(std::string_view rest, NameOf name);
// Whether a line ends right after a name, so that the value is alone in the next one.
bool awaits_value(std::string_view rest);
// The value that is alone in a line of a program, a setting or a diff.
TextSpan value_alone(std::string_view line, NameOf name);

}  // namespace deft::sweeps
