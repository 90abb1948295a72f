#pragma once
// Results of each document of a task, and of its prompt under a model too short for it.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/tokenizer.h"
#include "experiments/evaluation/metrics.h"
#include "experiments/evaluation/prompt.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

struct Item {
    std::int64_t document = 0;          // index in the order of the file, once its records are unnested and sorted
    std::int64_t chosen = 0, gold = 0;  // choices; of last_word both 0
    bool right = false;                 // by the headline metric where it is an accuracy, else by acc
    bool cut = false;                   // the context of some choice lost its beginning
    double chosen_log_likelihood = 0, gold_log_likelihood = 0;
};

// The part of a document's contexts that the model sees, for the choice that leaves least room for it.
struct PromptCut {
    bool cut = false;
    std::int64_t shots = 0;  // whole ones that are left
};

// requests: the document's own, encoded.
PromptCut prompt_cut(const engine::Tokenizer& tokenizer, const Document& document, std::span<const Request> requests,
                     std::int64_t max_seqlen);

// One for each document, sorted by `document`. scores: one for each request of each document; cuts: one a document.
std::vector<Item> items_of(const Task& task, std::span<const Document> documents, std::span<const Score> scores,
                           std::span<const PromptCut> cuts);

// A line an item: document, chosen, gold, right (1 or 0), cut (1 or 0), both log-likelihoods to their last bit, parted
// by spaces. What the results database keeps.
std::string items_text(std::span<const Item> items);

}  // namespace deft::experiments
