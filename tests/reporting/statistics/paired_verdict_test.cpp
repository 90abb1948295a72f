#include "reporting/analysis/statistics/paired_verdict.h"

#include <cmath>

#include "base/error.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

using Pairs = std::vector<TimedPair>;

Pairs pairs_of(std::size_t count, double ratio) {
    return Pairs(count, TimedPair{0.003, 0.003 * ratio});
}

Pairs& append(Pairs& to, const Pairs& more) {
    to.insert(to.end(), more.begin(), more.end());
    return to;
}

}  // namespace

// Equal ratios have an interval of no width: the margin of 2% alone decides.
TEST_CASE("the four verdicts on times") {
    const PairedRule rule;
    const PairedDecision worse = paired_verdict(pairs_of(24, 1.05), rule);
    CHECK(worse.verdict == Verdict::worse);
    CHECK(worse.pairs_wanted == 0);
    REQUIRE(worse.evidence);
    CHECK(worse.evidence->pairs == 24);
    CHECK(worse.evidence->ratio == Approx(1.05));
    CHECK(worse.evidence->interval.low == Approx(1.05));
    CHECK(worse.evidence->p_value == Approx(3 * 2 / std::pow(2.0, 24)));  // no average at most 0, three looks
    CHECK(paired_verdict(pairs_of(24, 1 / 1.05), rule).verdict == Verdict::better);
    CHECK(paired_verdict(pairs_of(24, 1), rule).verdict == Verdict::same);
    CHECK(paired_verdict(pairs_of(24, 1.015), rule).verdict == Verdict::same);

    Pairs undecided = pairs_of(12, 1.05);
    append(undecided, pairs_of(12, 0.97));
    CHECK(paired_verdict(undecided, rule).verdict == Verdict::unclear);
}

TEST_CASE("the names of the verdicts are the database's") {
    CHECK(std::string(name(Verdict::better)) == "better");
    CHECK(std::string(name(Verdict::same)) == "same");
    CHECK(std::string(name(Verdict::worse)) == "worse");
    CHECK(std::string(name(Verdict::unclear)) == "unclear");
}

// Spread evenly over 10% either way of 1.018, so neither at the margin nor inside it.
TEST_CASE("an undecided comparison asks for twice the pairs, and ends unclear") {
    const PairedRule rule;
    Pairs twelve;
    for (int i = 0; i < 12; ++i) append(twelve, pairs_of(1, 1.018 * std::exp(0.2 * (i - 5.5) / 11)));
    Pairs pairs = twelve;
    const PairedDecision nothing_yet = paired_verdict(pairs, rule);
    CHECK(nothing_yet.verdict == Verdict::unclear);
    CHECK(nothing_yet.pairs_wanted == 24);
    CHECK_FALSE(nothing_yet.evidence);
    const std::pair<std::size_t, std::size_t> wanted[] = {{24, 48}, {48, 96}, {96, 0}};
    for (const auto& [count, next] : wanted) {
        while (pairs.size() < count) append(pairs, twelve);
        const PairedDecision decision = paired_verdict(pairs, rule);
        CHECK(decision.verdict == Verdict::unclear);
        CHECK(decision.pairs_wanted == next);
        REQUIRE(decision.evidence);
        CHECK(decision.evidence->pairs == count);
        if (next != 0) {  // more pairs, but not enough for the next look: nothing new is said
            Pairs some_more = pairs;
            append(some_more, pairs_of(5, 1.5));
            CHECK(paired_verdict(some_more, rule).evidence->ratio == decision.evidence->ratio);
            CHECK(paired_verdict(some_more, rule).pairs_wanted == next);
        }
    }
}

TEST_CASE("the first look that decides holds, whatever was measured after it") {
    Pairs pairs = pairs_of(24, 1.05);
    append(pairs, pairs_of(72, 0.9));
    const PairedDecision decision = paired_verdict(pairs, PairedRule{});
    CHECK(decision.verdict == Verdict::worse);
    CHECK(decision.evidence->pairs == 24);
}

// Among the 300 averages, the 210 of the twenty quiet pairs are equal; at 24 pairs and a third of 1% the interval
// leaves out 50 at either end, and no more than 47 are lower: the two spikes' own 3 and their 44 with the others.
TEST_CASE("spikes in either arm do not turn a verdict") {
    Pairs pairs = pairs_of(20, 1.05);
    for (double spike : {0.7, 0.75, 1.4, 1.3}) pairs.push_back({0.003, 0.003 * spike});
    CHECK(paired_verdict(pairs, PairedRule{}).verdict == Verdict::worse);
    Pairs same = pairs_of(20, 1.001);
    for (double spike : {0.7, 0.75, 1.4, 1.3}) same.push_back({0.003, 0.003 * spike});
    CHECK(paired_verdict(same, PairedRule{}).verdict == Verdict::same);
}

TEST_CASE("a worse is confirmed by fresh pairs or becomes unclear") {
    const PairedRule rule;
    const PairedDecision worse = paired_verdict(pairs_of(24, 1.05), rule);
    const PairedDecision same = paired_verdict(pairs_of(24, 1), rule);
    const PairedDecision better = paired_verdict(pairs_of(24, 0.9), rule);
    CHECK(wants_confirmation(worse));
    CHECK(wants_confirmation(better));
    CHECK_FALSE(wants_confirmation(same));
    CHECK(confirmed(worse, worse) == Verdict::worse);
    CHECK(confirmed(worse, same) == Verdict::unclear);
    CHECK(confirmed(worse, better) == Verdict::unclear);
    CHECK(confirmed(better, better) == Verdict::better);
    CHECK(confirmed(same, worse) == Verdict::same);  // nothing was asked, so the answer counts for nothing
}

TEST_CASE("identical code widens the margin") {
    CHECK(margin_above_noise(0.02, {0.99, 1.01}) == Approx(0.02));
    CHECK(margin_above_noise(0.02, {0.99, 1.04}) == Approx(0.04));
    CHECK(margin_above_noise(0.02, {0.8, 1.04}) == Approx(0.25));
}

TEST_CASE("rules and times that make no sense are refused") {
    PairedRule rule;
    CHECK_THROWS_AS(paired_verdict(Pairs{{0, 1}}, rule), Error);
    CHECK_THROWS_AS(paired_verdict(Pairs{{1, std::nan("")}}, rule), Error);
    rule.looks = {};
    CHECK_THROWS_AS(paired_verdict(Pairs{}, rule), Error);
    rule.looks = {24, 24};
    CHECK_THROWS_AS(paired_verdict(Pairs{}, rule), Error);
    rule.looks = {9};  // 2/2^8 is below 1%, so nine pairs can decide alone,
    CHECK_NOTHROW(paired_verdict(Pairs{}, rule));
    rule.looks = {9, 18, 36};  // and not as one of three looks
    CHECK_THROWS_AS(paired_verdict(Pairs{}, rule), Error);
    rule.looks = {24};
    rule.alpha = 0;
    CHECK_THROWS_AS(paired_verdict(Pairs{}, rule), Error);
    rule.alpha = 0.01;
    rule.margin = 0;
    CHECK_THROWS_AS(paired_verdict(Pairs{}, rule), Error);
}
