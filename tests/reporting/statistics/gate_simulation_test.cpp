// The gate on times, on noise like a shared machine's: how often it is wrong, and what it sees.

#include <array>
#include <cstdio>
#include <random>

#include "reporting/analysis/statistics/paired_verdict.h"
#include "tests/catch.h"
#include "tests/reporting/statistics/machine_noise.h"

using namespace deft::reporting;

namespace {

struct GateEnd {
    Verdict verdict;
    std::size_t pairs;  // measured, in all launches
};

// As a check does it: pairs until the rule has enough.
PairedDecision measured_until_enough(Machine machine, double ratio, const PairedRule& rule,
                                     std::size_t& pairs_measured) {
    std::vector<TimedPair> pairs;
    PairedDecision decision = paired_verdict(pairs, rule);
    while (decision.pairs_wanted != 0) {
        while (pairs.size() < decision.pairs_wanted) pairs.push_back(machine.pair(ratio));
        decision = paired_verdict(pairs, rule);
    }
    pairs_measured += pairs.size();
    return decision;
}

GateEnd gate(double ratio, const PairedRule& rule, const NoiseModel& noise, unsigned seed) {
    GateEnd outcome{};
    const PairedDecision first = measured_until_enough(Machine(noise, 2 * seed), ratio, rule, outcome.pairs);
    outcome.verdict = first.verdict;
    if (wants_confirmation(first))
        outcome.verdict =
            confirmed(first, measured_until_enough(Machine(noise, 2 * seed + 1), ratio, rule, outcome.pairs));
    return outcome;
}

struct GateRates {
    std::array<double, 4> share{};  // by Verdict
    double pairs = 0;               // a gate, on average

    double of(Verdict verdict) const { return share[static_cast<std::size_t>(verdict)]; }
};

GateRates gate_rates(double ratio, int gates, unsigned seed, const NoiseModel& noise = {}) {
    const PairedRule rule;
    GateRates rates;
    for (int i = 0; i < gates; ++i) {
        const GateEnd outcome = gate(ratio, rule, noise, seed * 1000003u + static_cast<unsigned>(i));
        rates.share[static_cast<std::size_t>(outcome.verdict)] += 1.0 / gates;
        rates.pairs += static_cast<double>(outcome.pairs) / gates;
    }
    std::printf("seed %u, ratio %.3f: better %.4f same %.4f worse %.4f unclear %.4f, %.1f pairs\n", seed, ratio,
                rates.of(Verdict::better), rates.of(Verdict::same), rates.of(Verdict::worse),
                rates.of(Verdict::unclear), rates.pairs);
    return rates;
}

}  // namespace

// Measured over 1000 gates (drift 2.5%, neighbour 6%, own error 1%, spikes of 10 to 40% in 3%), confirmed:
//   ratio      1.00   1.01   1.02   1.03   1.05
//   worse      0.000  0.000  0.462  1.000  1.000
//   same       0.999  0.949  0.002  0.000  0.000
//   pairs        34     60     95     52     49
TEST_CASE("the gate on a noisy machine is right about equal code, and sees 3%") {
    const unsigned seed = std::random_device{}() % 1000;
    const int gates = 500;
    const GateRates equal = gate_rates(1, gates, seed);
    CHECK(equal.of(Verdict::worse) + equal.of(Verdict::better) <= 1.0 / gates);
    CHECK(equal.of(Verdict::same) > 0.97);
    CHECK(gate_rates(1.01, gates, seed).of(Verdict::worse) <= 1.0 / gates);
    CHECK(gate_rates(1.03, gates, seed).of(Verdict::worse) > 0.97);
    CHECK(gate_rates(1.05, gates, seed).of(Verdict::worse) > 0.99);
    CHECK(gate_rates(1 / 1.03, gates, seed).of(Verdict::better) > 0.97);
}

TEST_CASE("on a machine with too much noise the gate says so instead of guessing") {
    NoiseModel noise;
    noise.white = 0.15;
    const GateRates equal = gate_rates(1, 300, std::random_device{}() % 1000, noise);
    CHECK(equal.of(Verdict::worse) + equal.of(Verdict::better) <= 2.0 / 300);
    CHECK(equal.of(Verdict::unclear) > 0.9);
}

// Why base and head must alternate: the same rule on one arm after the other.
TEST_CASE("no test repairs times that were not taken side by side") {
    const unsigned seed = std::random_device{}();
    int wrong = 0;
    for (unsigned i = 0; i < 200; ++i) {
        Machine machine({}, seed + i);
        std::vector<TimedPair> pairs(24);
        for (TimedPair& pair : pairs) pair.base = machine.time(1);
        for (TimedPair& pair : pairs) pair.head = machine.time(1);
        PairedRule rule;
        rule.looks = {24};
        wrong += wants_confirmation(paired_verdict(pairs, rule));
    }
    std::printf("seed %u: of 200 blocked comparisons of equal code %d are called better or worse\n", seed, wrong);
    CHECK(wrong > 20);
}
