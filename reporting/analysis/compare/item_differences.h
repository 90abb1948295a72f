#pragma once
// Two trained models on the same documents. What is found is of these two checkpoints: the items of a test set say
// nothing of how another seed of either recipe would have turned out.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/compare/score_differences.h"
#include "reporting/analysis/results/results.h"
#include "reporting/analysis/statistics/item_tests.h"

namespace deft::reporting {

// One task.
struct ItemDifference {
    std::string task;
    std::int64_t shots = 0;
    ItemTest right;                      // as shares of documents, by McNemar's exact test
    double a = 0, b = 0;                 // shares that were right
    std::size_t only_a = 0, only_b = 0;  // documents that one alone got right
    std::optional<ItemTest>
        gold;               // log-likelihood of the correct answer, by the paired t; empty where one is not finite
    double adjusted_p = 1;  // of `right`, over the comparison's tasks (Holm)
    ScoreVerdict verdict = ScoreVerdict::none;
    std::string why;  // there is none; empty: there is
};

// The stored items of a trial's score, as results_db::Reader::items_of_score(); empty: none.
using ItemsOf = std::function<std::string(const Trial&, const Score&)>;

// One entry per task that both were scored by and whose items are kept. Errors: database, for damaged items.
std::vector<ItemDifference> item_differences(const Trial& a, const Trial& b, const ItemsOf& items, double level = 0.05);

}  // namespace deft::reporting
