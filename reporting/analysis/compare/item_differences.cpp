#include "reporting/analysis/compare/item_differences.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "reporting/analysis/scores/scored_items.h"
#include "reporting/analysis/statistics/case_family.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

bool same_documents(const std::vector<ScoredItem>& a, const std::vector<ScoredItem>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ScoredItem& one, const ScoredItem& other) {
        return one.document == other.document && one.gold == other.gold;
    });
}

// A std::vector<bool> cannot be viewed as a span.
struct Rights {
    std::unique_ptr<bool[]> values;
    std::size_t count = 0;

    explicit Rights(const std::vector<ScoredItem>& items)
        : values(std::make_unique<bool[]>(items.size())), count(items.size()) {
        for (std::size_t i = 0; i < count; ++i) values[i] = items[i].is_right;
    }
    std::span<const bool> span() const { return {values.get(), count}; }
    double share() const {
        return static_cast<double>(std::count(values.get(), values.get() + count, true)) / static_cast<double>(count);
    }
};

std::vector<double> gold_scores(const std::vector<ScoredItem>& items) {
    std::vector<double> scores;
    for (const ScoredItem& item : items) scores.push_back(item.gold_score);
    return scores;
}

void compare_items(const std::vector<ScoredItem>& a, const std::vector<ScoredItem>& b, ItemDifference& difference) {
    const Rights of_a(a), of_b(b);
    difference.right = mcnemar(of_a.span(), of_b.span());
    difference.a = of_a.share();
    difference.b = of_b.share();
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference.only_a += a[i].is_right && !b[i].is_right;
        difference.only_b += b[i].is_right && !a[i].is_right;
    }
    const std::vector<double> gold_a = gold_scores(a), gold_b = gold_scores(b);
    if (a.size() >= 2 && all_finite(gold_a) && all_finite(gold_b)) difference.gold = paired_items(gold_a, gold_b);
}

void judge_items(std::vector<ItemDifference>& differences, double level) {
    std::vector<ItemDifference*> family;
    std::vector<double> p_values;
    for (ItemDifference& one : differences)
        if (one.why.empty()) {
            family.push_back(&one);
            p_values.push_back(one.right.p_value);
        }
    const std::vector<double> adjusted = holm(p_values);
    for (std::size_t i = 0; i < family.size(); ++i) {
        ItemDifference& one = *family[i];
        one.adjusted_p = adjusted[i];
        one.verdict = adjusted[i] > level        ? ScoreVerdict::unclear
                      : one.right.difference > 0 ? ScoreVerdict::better
                                                 : ScoreVerdict::worse;
    }
}

// One score a task and number of shots: the measures of a task have its items in common.
std::vector<const Score*> scored_tasks(const Trial& trial) {
    std::vector<const Score*> tasks;
    for (const Score& row : trial.scores)
        if (std::none_of(tasks.begin(), tasks.end(),
                         [&](const Score* known) { return known->task == row.task && known->shots == row.shots; }))
            tasks.push_back(&row);
    return tasks;
}

const Score* same_task(const Trial& trial, const Score& wanted) {
    const auto found = std::find_if(trial.scores.begin(), trial.scores.end(), [&](const Score& row) {
        return row.task == wanted.task && row.shots == wanted.shots;
    });
    return found == trial.scores.end() ? nullptr : &*found;
}

std::string why_none(const Trial& a, const Score& score_a, const Trial& b, const Score& score_b) {
    for (const std::string* stale : {&a.stale, &score_a.stale, &b.stale, &score_b.stale})
        if (!stale->empty()) return "one of the two is stale by " + *stale;
    return score_a.score_key == score_b.score_key ? "" : "the two were not scored on the same documents";
}

}  // namespace

std::vector<ItemDifference> item_differences(const Trial& a, const Trial& b, const ItemsOf& items, double level) {
    std::vector<ItemDifference> differences;
    for (const Score* score_a : scored_tasks(a)) {
        const Score* score_b = same_task(b, *score_a);
        if (score_b == nullptr) continue;
        const std::vector<ScoredItem> items_a = parse_items(score_a->task, items(a, *score_a)),
                                      items_b = parse_items(score_b->task, items(b, *score_b));
        if (items_a.empty() || items_b.empty()) continue;
        ItemDifference difference;
        difference.task = score_a->task;
        difference.shots = score_a->shots;
        difference.why = why_none(a, *score_a, b, *score_b);
        if (difference.why.empty() && !same_documents(items_a, items_b))
            difference.why = "the two were not scored on the same documents";
        if (difference.why.empty()) compare_items(items_a, items_b, difference);
        differences.push_back(std::move(difference));
    }
    judge_items(differences, level);
    return differences;
}

}  // namespace deft::reporting
