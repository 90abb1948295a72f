#pragma once
// Accepted answers: which of them are asked for, and how much of one a predicted text gives.

#include <string>
#include <string_view>
#include <vector>

namespace deft::experiments {

// Sorted by code point, without those that begin with the last one kept: the model that prints "Onion rings" has
// printed "Onion" first.
std::vector<std::string> without_prefixed(std::vector<std::string> answers);

// As SQuAD compares: lower case, without ASCII punctuation and the words a, an and the, spaces collapsed.
std::string normalised_answer(std::string_view text);

// The largest over the answers; 0 where there are none. Of equal normalised texts: 1, else 0.
double exact_match(std::string_view predicted, const std::vector<std::string>& answers);
// Over the normalised texts' words, counted as often as they occur; of two empty texts 1, of one 0.
double answer_f1(std::string_view predicted, const std::vector<std::string>& answers);

}  // namespace deft::experiments
