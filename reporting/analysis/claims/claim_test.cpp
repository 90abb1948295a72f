#include "reporting/analysis/claims/claim_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace deft::reporting {

namespace {

// As terms of a contrast in which larger is better.
struct Sides {
    const std::vector<ClaimValues>& rows;
    double sign = 1;
    bool is_logarithmic = false;

    double value(double value, const std::string& row) const {
        if (!is_logarithmic) return value;
        if (!(value > 0))
            throw Error(ErrorKind::data, fmt::format("{} has the value {}, which has no ratio", row, value));
        return std::log(value);
    }
    ContrastTerm term(std::size_t row, double coefficient) const {
        ContrastTerm term{sign * coefficient, rows[row].values};
        for (SeedScore& score : term.values) score.value = value(score.value, rows[row].name);
        return term;
    }
    std::vector<ContrastTerm> difference(std::size_t of, std::size_t against) const {
        return {term(of, 1), term(against, -1)};
    }
};

bool is_ratio(ClaimKind kind) {
    return kind == ClaimKind::at_most_fraction || kind == ClaimKind::times_as_fast;
}

std::vector<ClaimPart> parts_of(const Claim& claim, const ClaimScale& scale, const Sides& sides) {
    switch (claim.kind) {
        case ClaimKind::no_worse:
            return {{sides.difference(0, 1), -scale.margin, {}, {}}};
        case ClaimKind::better:
            return {{sides.difference(0, 1), 0, {}, {}}};
        case ClaimKind::equal_within:
            return {{sides.difference(0, 1), -scale.margin, {}, {}},
                    {sides.difference(1, 0), -scale.margin, {}, {}, true}};
        case ClaimKind::best_in_column: {
            std::vector<ClaimPart> parts;
            for (std::size_t other = 1; other < sides.rows.size(); ++other)
                parts.push_back({sides.difference(0, other), -scale.margin, {}, {}});
            return parts;
        }
        case ClaimKind::at_most_fraction:  // lower is better, whatever the column says
            return {{{sides.term(1, 1), sides.term(0, -1)}, -std::log(claim.amount), {}, {}}};
        case ClaimKind::times_as_fast:
            return {{sides.difference(0, 1), std::log(claim.amount), {}, {}}};
        case ClaimKind::closes_gap:
            return {{{sides.term(0, 1), sides.term(1, -claim.amount), sides.term(2, claim.amount - 1)}, 0, {}, {}}};
    }
    return {};
}

struct Chances {
    double holds = 1, fails = 1;
};

// Each test alone may be wrong `level` of the time. All parts must hold, so that the weakest decides; any that fails
// refutes the claim, of which there are as many chances as parts. `found`: of each part.
Chances chances_of(const std::vector<ClaimPart>& parts, const std::vector<Contrast>& found) {
    double weakest = 0, least_failing = 1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        weakest = std::max(weakest, chance_above(found[i], parts[i].threshold));
        least_failing = std::min(least_failing, chance_below(found[i], parts[i].threshold));
    }
    return {weakest, std::min(1.0, least_failing * static_cast<double>(parts.size()))};
}

void find_chances(ClaimTest& test) {
    std::vector<Contrast> found, own, paired;
    for (const ClaimPart& part : test.parts) {
        found.push_back(part.found);
        own.push_back(contrast(part.terms, {ContrastMethod::welch, std::nullopt, 0}));
    }
    const Chances by_own = chances_of(test.parts, own);
    test.own_holds_by_chance = by_own.holds;
    test.own_fails_by_chance = by_own.fails;
    const Chances chances = chances_of(test.parts, found);
    test.holds_by_chance = chances.holds;
    test.fails_by_chance = chances.fails;
    try {
        for (const ClaimPart& part : test.parts)
            paired.push_back(contrast(part.terms, {ContrastMethod::paired, std::nullopt, 0}));
    } catch (const Error&) {
        return;  // other seeds
    }
    const Chances by_seed = chances_of(test.parts, paired);
    test.paired_holds_by_chance = by_seed.holds;
    test.paired_fails_by_chance = by_seed.fails;
}

// The shares s for which "it closes s of the gap" is not refuted (Fieller 1954): the contrast falls as s grows, where
// the gap is surely there.
void find_share(ClaimTest& test, const Sides& sides, const ClaimPart& part, double level) {
    const auto closing = [&](double share) {
        return contrast(std::vector{sides.term(0, 1), sides.term(1, -share), sides.term(2, share - 1)}, part.rule);
    };
    const Contrast gap = contrast(std::vector{sides.term(1, 1), sides.term(2, -1)}, part.rule);
    if (chance_above(gap, 0) > level) return;
    test.share = closing(0).estimate / gap.estimate;
    const auto end_of = [&](const auto& is_beyond, double inner, double step) {
        double outer = inner + step;
        for (int i = 0; i < 60 && !is_beyond(outer); ++i) outer += step *= 2;
        for (int i = 0; i < 80; ++i) {
            const double middle = (inner + outer) / 2;
            (is_beyond(middle) ? outer : inner) = middle;
        }
        return (inner + outer) / 2;
    };
    test.share_interval =
        Interval{end_of([&](double share) { return chance_above(closing(share), 0) <= level; }, *test.share, -0.1),
                 end_of([&](double share) { return chance_below(closing(share), 0) <= level; }, *test.share, 0.1)};
}

}  // namespace

ClaimTest test_claim(const Claim& claim, const ClaimScale& scale, const std::vector<ClaimValues>& rows,
                     const std::vector<std::vector<double>>& table, const ClaimRule& rule) {
    ClaimTest test;
    test.is_logarithmic = is_ratio(claim.kind);
    const double sign = claim.kind == ClaimKind::at_most_fraction || scale.better == "higher" ? 1 : -1;
    const Sides sides{rows, sign, test.is_logarithmic};
    std::vector<std::vector<double>> recipes = table;
    for (std::vector<double>& recipe : recipes)
        for (double& value : recipe) value = sides.value(value, "a row of the table");
    std::size_t fewest = rows.front().values.size();
    for (const ClaimValues& row : rows) fewest = std::min(fewest, row.values.size());
    test.variance = choose_variance(recipes, fewest);
    const ContrastRule by =
        claim.method == ContrastMethod::paired ? ContrastRule{claim.method, std::nullopt, 0} : test.variance.rule;
    test.parts = parts_of(claim, scale, sides);
    for (ClaimPart& part : test.parts) {
        part.rule = by;
        part.found = contrast(part.terms, by);
    }
    find_chances(test);
    if (claim.kind == ClaimKind::closes_gap) find_share(test, sides, test.parts.front(), rule.level);
    return test;
}

}  // namespace deft::reporting
