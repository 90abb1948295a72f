// One sweep as several texts, each small enough to be committed.

#include <algorithm>

#include "results_db/evidence/evidence.h"
#include "results_db/store.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

std::vector<std::string> seeds_of(const Evidence& part) {
    std::vector<std::string> seeds;
    const SweepResults sweep = Reader({{"part", part.text}}).sweep("quick");
    for (const TrialRow& trial : sweep.trials) seeds.push_back(fmt::format("{} of {}", trial.seed, trial.axes_json));
    return seeds;
}

}  // namespace

TEST_CASE("the parts of a sweep give what one text gives, the first of them a trial of every row") {
    const MeasuredSweep measured({.seeds = {1, 2, 3, 4}});
    const Reader reader(measured.file());
    const std::string whole = reader.evidence("quick", 0).text;
    CHECK(reader.evidence("quick", 0, {1, 1}).text == whole);
    CHECK_THAT(whole, !ContainsSubstring("part 1 of"));
    for (const std::size_t of : {2, 3, 4}) {
        INFO(of << " parts");
        std::vector<Evidence> parts;
        std::vector<NamedEvidence> texts;
        std::int64_t trials = 0, attempts = 0;
        for (std::size_t number = 1; number <= of; ++number) {
            parts.push_back(reader.evidence("quick", 0, {number, of}));
            texts.push_back({fmt::format("part {}", number), parts.back().text});
            CHECK_THAT(evidence_note(parts.back().text), ContainsSubstring(fmt::format("part {} of {}, ", number, of)));
            CHECK(std::abs(parts.back().trials - 8.0 / static_cast<double>(of)) < 1);
            trials += parts.back().trials;
            attempts += parts.back().attempts;
        }
        CHECK(trials == 8);
        CHECK(attempts == reader.evidence("quick", 0).attempts);
        CHECK_NOTHROW(require_mergeable(parts));
        CHECK(Reader(texts).evidence("quick", 0).text == whole);
        CHECK(seeds_of(parts.front()).front().starts_with("1 of"));
        // In any order all is there.
        std::reverse(texts.begin(), texts.end());
        CHECK(Reader(texts).sweep("quick").trials.size() == 8);
    }
    const std::vector<std::string> first = seeds_of(reader.evidence("quick", 0, {1, 4}));
    REQUIRE(first.size() == 2);
    CHECK(first[0].starts_with("1 of"));
    CHECK(first[1].starts_with("1 of"));
    CHECK(first[0] != first[1]);
}

TEST_CASE("a sweep has no more parts than trials for each of its rows") {
    const MeasuredSweep measured({.seeds = {1, 2}});
    const Reader reader(measured.file());
    CHECK_THAT(refusal(
                   ErrorKind::usage, [&] { (void)reader.evidence("quick", 0, {1, 3}); }, "4 trials in 2 rows cannot be 3 parts"),
               ContainsSubstring("ask for 2 parts at most"));
    for (const std::size_t number : {0, 3}) CHECK_THROWS((void)reader.evidence("quick", 0, {number, 2}));
    CHECK_NOTHROW((void)reader.evidence("quick", 0, {2, 2}));
    // What is too long for one text says how many it may be.
    refusal(ErrorKind::usage, [&] { (void)reader.evidence("quick", 5'000); }, "write it as several: --parts ");
}

TEST_CASE("texts that do not go together are told so before they are written") {
    const MeasuredSweep measured({.seeds = {1, 2}});
    const Reader reader(measured.file());
    Evidence one = reader.evidence("quick", 0, {1, 2}), two = reader.evidence("quick", 0, {2, 2});
    CHECK_NOTHROW(require_mergeable({one, two}));
    two.text.replace(two.text.find("\"label\":\"budget"), 15, "\"label\":\"badget");
    refusal(ErrorKind::database, [&] { require_mergeable({one, two}); }, "could not be merged again");
}
