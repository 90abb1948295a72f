#pragma once
// The JSON that DeepSpeed reads through hjson: comments and trailing commas are allowed.

#include <string>
#include <string_view>

namespace deft::experiments {

// The same text with blanks in place of comments (#, //, /* */) and of commas before a closing bracket. Every byte
// keeps its line and column, so errors of the JSON parser point into the file.
std::string without_comments(std::string_view text);

}  // namespace deft::experiments
