// Trials that had less of their thread than others, for what ran beside them.

#include "reporting/cost/held_up.h"

#include "reporting/comparison.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/attempts.h"
#include "tests/reporting/table_parts.h"

using namespace deft;
using namespace deft::reporting;
using results_db::AttemptRow;
using results_db::Shape;
using results_db::SweepResults;
using results_db::TrialRow;

namespace {

const Shape kOneThread{"cpu", 1, 1, 1};

AttemptRow computing(double cpu_seconds, const Shape& shape = kOneThread) {
    AttemptRow attempt = an_attempt_on(shape, {10, 0, 0, 0, 0});
    attempt.cpu_seconds = cpu_seconds;
    return attempt;
}

TrialRow having(const char* case_key, std::int64_t seed, const std::vector<AttemptRow>& attempts) {
    TrialRow trial = a_finished_trial(case_key, "{}", seed, 2.5, 2000);
    for (const AttemptRow& attempt : attempts) add_attempt(trial, attempt);
    return trial;
}

std::optional<double> share_of_one(const std::vector<AttemptRow>& attempts) {
    const SweepResults sweep = a_sweep_of({having("plain", 1, attempts)});
    return computing_share(variants_of(sweep).front());
}

}  // namespace

TEST_CASE("the share of its time that a row computed, over its seeds and what counts of their attempts") {
    const SweepResults sweep = a_sweep_of({having("plain", 1, {computing(9)}), having("plain", 2, {computing(6)})});
    CHECK(*computing_share(variants_of(sweep).front()) == Approx(0.75));
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

TEST_CASE("a row that was held up otherwise than its baseline has its time and no ratio, and a note says so") {
    const auto table_of = [](double plain, double cl) {
        return comparison_table(a_sweep_of({having("plain", 1, {computing(plain)}), having("cl", 1, {computing(cl)})}),
                                {"plain", "", "", ""});
    };
    for (const auto& [plain, cl] : {std::pair{9.9, 5.0}, {5.0, 9.9}}) {
        const Table table = table_of(plain, cl);
        CHECK(cell(table, 0, "train\ntime") == "2.00s 1.00x");
        CHECK(cell(table, 1, "train\ntime") == "2.00s held up");
        CHECK_THAT(all_notes(table),
                   ContainsSubstring("Held up: of the time that they held their thread these computed less "
                                     "than others, for what ran beside them: ") &&
                       ContainsSubstring(plain < cl ? "plain for 50%;" : "cl for 50%;") &&
                       ContainsSubstring("the rest up to 99%"));
    }
    const Table alike = table_of(9.9, 9.0);
    CHECK(cell(alike, 1, "train\ntime") == "2.00s 1.00x");
    CHECK_THAT(all_notes(alike), !ContainsSubstring("Held up"));
}
