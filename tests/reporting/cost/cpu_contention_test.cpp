// Trials that had less of their thread than others, for what ran beside them.

#include "reporting/analysis/cost/cpu_contention.h"

#include "reporting/analysis/comparison/comparison.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/attempts.h"
#include "tests/reporting/table_parts.h"

using namespace deft;
using namespace deft::reporting;
using results_db::AttemptRow;
using results_db::Shape;

namespace {

const Shape kOneThread{"cpu", 1, 1, 1};

AttemptRow computing(double cpu_seconds, const Shape& shape = kOneThread) {
    AttemptRow attempt = an_attempt_on(shape, {10, 0, 0, 0, 0});
    attempt.cpu_seconds = cpu_seconds;
    return attempt;
}

Trial having(const char* recipe, std::int64_t seed, const std::vector<AttemptRow>& attempts) {
    Trial trial = a_finished_trial(recipe, "{}", seed, 2.5, 2000);
    for (const AttemptRow& attempt : attempts) add_attempt(trial, attempt);
    return trial;
}

std::optional<double> share_of_one(const std::vector<AttemptRow>& attempts) {
    const Results sweep = a_sweep_of({having("plain", 1, attempts)});
    return computing_share(rows_of(sweep).front());
}

}  // namespace

TEST_CASE("the share of its time that a row computed, over its seeds and what counts of their attempts") {
    const Results sweep = a_sweep_of({having("plain", 1, {computing(9)}), having("plain", 2, {computing(6)})});
    CHECK(*computing_share(rows_of(sweep).front()) == Approx(0.75));
    AttemptRow lost = computing(1);
    lost.counts = false;
    CHECK(*share_of_one({lost, computing(8)}) == Approx(0.8));
    AttemptRow waited = computing(6);
    waited.waited_seconds = 4;
    CHECK(*share_of_one({waited}) == Approx(1));
    AttemptRow older = computing(5);
    older.held_seconds.reset();
    older.own_seconds = 8;
    CHECK(*share_of_one({older}) == Approx(0.625));
    CHECK(*share_of_one({computing(10.2)}) == 1);
}

TEST_CASE("of several threads, of ranks, of a GPU and of what was not measured no share is known") {
    for (const Shape& shape :
         {Shape{"cpu", 2, 1, 1}, Shape{"cpu", 1, 2, 1}, Shape{"cuda", 1, 1, 1}, Shape{"cpu", 1, 1, 2}})
        CHECK_FALSE(share_of_one({computing(5, shape)}));
    CHECK_FALSE(share_of_one({computing(0)}));
    CHECK_FALSE(share_of_one({an_attempt_on(kOneThread, {10, 0, 0, 0, 0})}));
    CHECK_FALSE(share_of_one({}));
}

TEST_CASE(
    "a row under other CPU contention than its baseline has no ratio of times or dollars, and the note names it") {
    const auto table_of = [](double plain, double cl, double other) {
        Results sweep = a_sweep_of({having("plain", 1, {computing(plain)}), having("cl", 1, {computing(cl)}),
                                    having("other", 1, {computing(other)})});
        for (Trial& trial : sweep.trials) trial.usd = 0.5;
        return comparison_table(sweep, {"plain", "", "", ""});
    };
    for (const auto& [plain, cl] : {std::pair{9.9, 5.0}, {5.0, 9.9}}) {
        const Table table = table_of(plain, cl, plain);
        CHECK(cell(table, 0, "train\ntime") == "2.00s 1.00x");
        CHECK(cell(table, 1, "train\ntime") == "2.00s contention");
        CHECK(cell(table, 1, "cost") == "$0.50 contention");
        CHECK(cell(table, 2, "train\ntime") == "2.00s 1.00x");
        CHECK(cell(table, 2, "cost") == "$0.50 1.00x");
        CHECK_THAT(all_notes(table), ContainsSubstring(plain < cl ? ": cl for 99%, against plain for 50%."
                                                                  : ": cl for 50%, against plain for 99%."));
    }
    // A row that computed less than the most of the others, and as much as its baseline, is not marked, and not named.
    const Table alike = table_of(9.0, 9.0, 9.9);
    CHECK(cell(alike, 1, "train\ntime") == "2.00s 1.00x");
    CHECK_THAT(all_notes(alike), !ContainsSubstring("Held up"));
    const Table beyond = table_of(8.8, 8.5, 9.9);
    CHECK(cell(beyond, 2, "train\ntime") == "2.00s contention");
    CHECK_THAT(all_notes(beyond),
               ContainsSubstring(": other for 99%, against plain for 88%.") && !ContainsSubstring("cl for"));
}
