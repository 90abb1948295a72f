#pragma once
// The result on each document of a scored task, as the results database keeps it.

#include <string>
#include <vector>

namespace deft::reporting {

struct ScoredItem {
    std::string document, chosen, gold;
    bool is_right = false, is_cut = false;    // cut: its prompt lost its front to the model's length
    double chosen_score = 0, gold_score = 0;  // log-likelihoods, which may be infinite or no number
};

// A line a document of "document chosen gold right cut ll_chosen ll_gold".
// Errors: database, for a line that is none, with its number.
std::vector<ScoredItem> parse_items(const std::string& task, const std::string& items);

}  // namespace deft::reporting
