#pragma once
// Suggestions for an unknown word.

#include <string>
#include <string_view>
#include <vector>

namespace deft {

// The candidate nearest to `word` in edit distance, or empty where none is near enough to be meant.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// Help for an unknown word: "did you mean X?", or `otherwise` where no known word is close enough.
std::string suggestion(std::string_view word, const std::vector<std::string>& known, const std::string& otherwise);

// As above; otherwise all that is known, as in "known: a, b".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace deft
