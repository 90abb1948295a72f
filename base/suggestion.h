#pragma once
// What an unknown word was meant to be.

#include <string>
#include <string_view>
#include <vector>

namespace deft {

// The candidate nearest to `word` in edit distance, or empty where none is near enough to be meant.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// How to mend an unknown word: "did you mean X?", or `otherwise` where nothing known is near enough.
std::string suggestion(std::string_view word, const std::vector<std::string>& known, const std::string& otherwise);

// As above; otherwise all that is known, as in "known: a, b".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace deft
