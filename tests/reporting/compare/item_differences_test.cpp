// Two checkpoints, document by document.

#include "reporting/analysis/compare/item_differences.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "reporting/analysis/scores/scored_items.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Trial scored_trial(const char* name, const std::vector<const char*>& tasks) {
    Trial trial = a_finished_trial(name, "{}", 1, 1);
    for (const char* task : tasks) trial.scores.push_back(a_score(task, "acc", 0.5));
    return trial;
}

// A document a digit: right where it is 1; the gold answer's log-likelihood rises by `gold` a document.
std::string items_text(const std::string& rights, double gold) {
    std::string text;
    for (std::size_t i = 0; i < rights.size(); ++i)
        text += fmt::format("{} {} 2 {} 0 -1.5 {}\n", i, rights[i] == '1' ? 2 : 1, rights[i], -5 + gold * double(i));
    return text;
}

}  // namespace

TEST_CASE("items are read as they are stored, and damaged ones refused with their line") {
    const std::vector<ScoredItem> items = parse_items("quiz", "7 1 2 0 1 -1.5 -inf\n8 2 2 1 0 -0.5 -0.5\n");
    REQUIRE(items.size() == 2);
    CHECK(items[0].document == "7");
    CHECK(items[0].chosen == "1");
    CHECK(items[0].gold == "2");
    CHECK_FALSE(items[0].is_right);
    CHECK(items[0].is_cut);
    CHECK(items[0].chosen_score == -1.5);
    CHECK(std::isinf(items[0].gold_score));
    CHECK(items[1].is_right);
    CHECK_THROWS_WITH(parse_items("quiz", "7 1 2 0 1 -1.5 -1\n8 2 2\n"),
                      ContainsSubstring("line 2 of the items of quiz"));
    CHECK_THROWS_AS(parse_items("quiz", "7 1 2 0 1 -1.5 x\n"), Error);
}

// Computed by hand: nine documents that B alone has right, one that A alone has: McNemar 22 / 1024; twice that for two
// tasks.
TEST_CASE("two checkpoints are distinguished by the documents that only one of them has right") {
    const Trial a = scored_trial("a", {"quiz", "words"}), b = scored_trial("b", {"quiz", "words", "more"});
    const std::string of_a =
                          "1000000000"
                          "11110",
                      of_b =
                          "0111111111"
                          "11110";
    const auto items = [&](const Trial& trial, const Score& score) {
        const std::string& task = score.task;
        const bool is_a = trial.recipe == "a";
        if (task == "words") return items_text(is_a ? "1100" : "1010", is_a ? 0.5 : 0.25);
        return items_text(is_a ? of_a : of_b, 0);
    };
    const std::vector<ItemDifference> found = item_differences(a, b, items);
    REQUIRE(found.size() == 3);  // validation too, for these give it items
    const ItemDifference& quiz = found[1];
    CHECK(quiz.task == "quiz");
    CHECK(quiz.right.documents == 15);
    CHECK(quiz.a == Approx(5.0 / 15));
    CHECK(quiz.b == Approx(13.0 / 15));
    CHECK(quiz.only_a == 1);
    CHECK(quiz.only_b == 9);
    CHECK(quiz.right.p_value == Approx(22.0 / 1024));
    CHECK(quiz.gold->difference == 0);
    CHECK(quiz.adjusted_p == Approx(3 * 22.0 / 1024));
    CHECK(quiz.verdict == ScoreVerdict::unclear);
    const ItemDifference& words = found[2];
    CHECK(words.only_a == 1);
    CHECK(words.only_b == 1);
    CHECK(words.gold->difference == Approx((0 - 0.25 - 0.5 - 0.75) / 4));
    const auto only_quiz = [&](const Trial& trial, const Score& score) {
        return score.task == "quiz" ? items(trial, score) : std::string();
    };
    CHECK(item_differences(a, b, only_quiz).front().verdict == ScoreVerdict::better);
    CHECK(item_differences(b, a, only_quiz).front().verdict == ScoreVerdict::worse);
    CHECK(item_differences(a, b, only_quiz).size() == 1);
}

TEST_CASE("other documents, or the same ones asked in another way, are not compared") {
    Trial a = scored_trial("a", {"quiz"}), b = scored_trial("b", {"quiz"});
    const auto why = [&](const std::string& of_a, const std::string& of_b) {
        const std::vector<ItemDifference> found = item_differences(a, b, [&](const Trial& trial, const Score& score) {
            return score.task == "quiz" ? (trial.recipe == "a" ? of_a : of_b) : std::string();
        });
        REQUIRE(found.size() == 1);
        CHECK((found[0].verdict == ScoreVerdict::none) == !found[0].why.empty());
        return found[0].why;
    };
    const std::string two = items_text("10", 0);
    CHECK(why(two, two).empty());
    CHECK_THAT(why(two, items_text("101", 0)), ContainsSubstring("not scored on the same documents"));
    CHECK_THAT(why(two, "0 2 2 1 0 -1 -1\n5 1 2 0 0 -1 -1\n"), ContainsSubstring("not scored on the same documents"));
    CHECK_THAT(why(two, "0 2 2 1 0 -1 -1\n1 1 3 0 0 -1 -1\n"), ContainsSubstring("not scored on the same documents"));
    b.scores.back().score_key = "another";
    CHECK_THAT(why(two, two), ContainsSubstring("not scored on the same documents"));
    b.scores.back().score_key = a.scores.back().score_key;
    b.scores.back().stale = "eval: another task";
    CHECK_THAT(why(two, two), ContainsSubstring("stale by eval"));
    b.scores.back().stale.clear();
    a.stale = "code: another epoch";
    CHECK_THAT(why(two, two), ContainsSubstring("stale by code"));
}

TEST_CASE("the paired t is left out where the log-likelihood of an answer is not a number") {
    const Trial a = scored_trial("a", {"quiz"}), b = scored_trial("b", {"quiz"});
    const std::vector<ItemDifference> found =
        item_differences(a, b, [](const Trial& trial, const Score& score) -> std::string {
            if (score.task != "quiz") return {};
            return trial.recipe == "a" ? "0 2 2 1 0 -1 -1\n1 1 2 0 0 -1 -1\n" : "0 2 2 1 0 -1 -inf\n1 1 2 0 0 -1 -1\n";
        });
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].gold);
    CHECK(found[0].right.p_value == 1);
}
