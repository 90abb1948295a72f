#pragma once
// Templates of task files: "Question: {goal}\nAnswer:", fields of a record in braces, each through filters as in
// {ctx|strip}; {a.b} is field b of the table a, {options.0} the first item of the list options; {{ and }} are braces.

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "experiments/evaluation/filters.h"
#include "experiments/evaluation/records.h"

namespace deft::experiments {

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

// Strings stand as they are, integers in decimal, booleans as true or false. `item`, where there is one, is what
// {choice} means, and {choice.text} a field of it. Errors: config, naming task file and record, for a field that is
// missing or of another type.
std::string render(const TextTemplate& text, const Records& records, const Record& record, const Json* item = nullptr);

// The field at a dotted path. Errors as above; `place` is where the task names the field.
const Json& field_at(const Records& records, const Record& record, const std::string& path, const Place& place);

}  // namespace deft::experiments
