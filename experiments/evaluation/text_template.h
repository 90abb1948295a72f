#pragma once
// Templates of task files: "Question: {goal}\nAnswer:", fields of a record in braces, each through filters as in
// {ctx|strip}; {a.b} is field b of the table a, {options.0} the first item of the list options; {{ and }} are braces.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "experiments/evaluation/records.h"

namespace deft::experiments {

// The named functions that a template may pass a field through, as in {ctx|hellaswag_restore}. A new one is a function
// and a line of the table in filters.cpp.
struct Filter {
    const char* name;
    std::string (*apply)(std::string_view text);
    const char* needs = "";  // must occur in the text
};

// Null where no filter has that name.
const Filter* find_filter(std::string_view name);
std::vector<std::string> filter_names();

struct TextTemplate {
    struct Part {
        std::string literal;  // comes first
        std::string field;    // empty: none
        std::vector<const Filter*> filters;
    };
    std::vector<Part> parts;
    Place place;
};

// Errors: config at `place`, for unbalanced braces and unknown filters.
TextTemplate parse_template(const std::string& text, const Place& place);

// Strings are inserted as they are, integers in decimal, booleans as true or false. `item`, if given, is the value of
// {choice}, and {choice.text} is a field of it. Errors: config, naming task file and record, for a field that is
// missing or of another type.
std::string render(const TextTemplate& text, const Records& records, const Record& record, const Json* item = nullptr);

// The field at a dotted path. Errors as above; `place` is where the task names the field.
const Json& field_at(const Records& records, const Record& record, const std::string& path, const Place& place);

// A string as it is, everything else as JSON writes it: how a field is compared with the words of a task file.
std::string value_text(const Json& value);

// White space and words as Python counts them.

// White space as in str.isspace and \s.
bool is_whitespace(char32_t c);

// Without white space at both ends.
std::string_view strip(std::string_view text);

// Pieces of a split on runs of white space, unstripped: white space at an end adds an empty piece, "" is one piece.
std::int64_t count_whitespace_pieces(std::string_view text);

// Runs of anything but white space.
std::int64_t count_words(std::string_view text);

}  // namespace deft::experiments
