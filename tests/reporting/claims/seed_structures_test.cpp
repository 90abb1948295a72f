// Claims where seeds are not independent draws: one seed that moves all recipes alike, fine-tuning seeds that nest in
// pretraining seeds; and the count of seeds that a verdict lacks.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "reporting/analysis/claims/claims_check.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;

namespace {

constexpr double kLevel = 0.05;
constexpr int kCases = 5;

// "tech is no worse than base by one", of the validation loss.
PublishedTable a_table(ContrastMethod method) {
    Claim claim;
    claim.id = claim.statement = "no_worse";
    claim.kind = ClaimKind::no_worse;
    claim.method = method;
    claim.of = {"tech", 1};
    claim.against = ClaimedRow{"base", 1};
    claim.proxy.quantity = parse_quantity("task:validation loss", {});
    claim.proxy.better = "lower";
    claim.proxy.margin = 1;
    claim.paper.not_judged = "too dear";
    PublishedTable table;
    table.name = "a_table";
    table.claims = {claim};
    return table;
}

std::string recipe(int row) {
    return row == 0 ? "base" : row == 1 ? "tech" : fmt::format("other{}", row);
}

struct Rates {
    double holds = 0, fails = 0;
};

// The number of sweeps in which the claim holds and fails. `trials(tech)`: those of one sweep whose technique is worse
// by that much.
template <class Trials>
Rates rates_of(ContrastMethod method, int sweeps, const Trials& trials) {
    const PublishedTable table = a_table(method);
    Rates rates;
    for (int i = 0; i < sweeps; ++i) {
        Results sweep = a_sweep_of(trials());
        sweep.scale = "proxy";
        const Outcome outcome = check_claims(table, sweep, {}).front().judged.finding.outcome;
        rates.holds += outcome == Outcome::holds;
        rates.fails += outcome == Outcome::fails;
    }
    rates.holds /= sweeps;
    rates.fails /= sweeps;
    return rates;
}

struct World {
    std::mt19937_64 random;
    std::normal_distribution<double> normal = {};

    double draw() { return normal(random); }

    // Losses of deviation 1, of which `shared` of the variance comes from the seed and is the same in all recipes.
    std::vector<Trial> correlated(int seeds, double shared, double tech_is_worse_by) {
        std::vector<Trial> trials;
        for (int seed = 1; seed <= seeds; ++seed) {
            const double of_seed = std::sqrt(shared) * draw();
            for (int row = 0; row < kCases; ++row)
                trials.push_back(a_finished_trial(
                    recipe(row).c_str(), kFullBudget, seed,
                    50 + (row == 1 ? tech_is_worse_by : 0) + of_seed + std::sqrt(1 - shared) * draw()));
        }
        return trials;
    }

    // Deviation 1 over pretraining seeds, and 1 over the fine-tuning seeds of each. `as_units`: fine-tuning seeds pass
    // for independent ones.
    std::vector<Trial> nested(int pretrained, int finetuned, double tech_is_worse_by, bool as_units) {
        std::vector<Trial> trials;
        for (int row = 0; row < kCases; ++row)
            for (int first = 1; first <= pretrained; ++first) {
                const double of_first = draw();
                for (int second = 1; second <= finetuned; ++second) {
                    const std::int64_t seed = as_units ? first * 100 + second : second;
                    trials.push_back(a_finished_trial(recipe(row).c_str(), kFullBudget, seed,
                                                      50 + (row == 1 ? tech_is_worse_by : 0) + of_first + draw()));
                    if (!as_units) trials.back().seeds = fmt::format("{}.{}", first, second);
                }
            }
        return trials;
    }
};

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

// Four fifths of the variance is the seed's own. Measured over 20,000 sweeps of five seeds: at the margin the table's
// variance falsely calls 0.3% to hold and 0.3% to fail, seed by seed 5.0% and 5.1%; of techniques as good as the
// baseline they call 45% and 89%.
TEST_CASE("where one seed moves all recipes alike, the pooled method is too careful, and seed by seed gains power") {
    const unsigned seed = std::random_device{}();
    World world{std::mt19937_64{seed}};
    constexpr int kSweeps = 1500;
    for (const auto& [method, name] :
         {std::pair(ContrastMethod::pooled, "pooled"), std::pair(ContrastMethod::paired, "paired")}) {
        const Rates at_margin = rates_of(method, kSweeps, [&] { return world.correlated(5, 0.8, 1); });
        const Rates as_good = rates_of(method, kSweeps, [&] { return world.correlated(5, 0.8, 0); });
        std::printf("seed %u, correlated seeds, %s: false holds %.4f, false fails %.4f, power %.4f\n", seed, name,
                    at_margin.holds, at_margin.fails, as_good.holds);
        CHECK(at_margin.holds < kLevel + 0.025);  // four and a half standard errors
        CHECK(at_margin.fails < kLevel + 0.025);
        if (method == ContrastMethod::pooled) {
            CHECK(at_margin.holds + at_margin.fails < 0.02);
            CHECK(as_good.holds < 0.6);
        } else {
            CHECK(at_margin.holds > kLevel - 0.025);
            CHECK(as_good.holds > 0.7);
        }
    }
}

// Three pretraining seeds with five fine-tuning seeds each. Measured over 20,000 sweeps: at the margin 5.1% hold
// and 4.9% fail; with fine-tuning seeds as units 19% each.
TEST_CASE(
    "fine-tuning seeds nest in their pretraining seed: taken for independent ones they make claims false too often") {
    const unsigned seed = std::random_device{}();
    World world{std::mt19937_64{seed}};
    constexpr int kSweeps = 800;
    for (const bool as_units : {false, true}) {
        const Rates at_margin =
            rates_of(ContrastMethod::pooled, kSweeps, [&] { return world.nested(3, 5, 1, as_units); });
        std::printf("seed %u, nested seeds, unit: %s seed: false holds %.4f, false fails %.4f\n", seed,
                    as_units ? "fine-tuning" : "pretraining", at_margin.holds, at_margin.fails);
        for (const double rate : {at_margin.holds, at_margin.fails}) {
            if (as_units) {
                CHECK(rate > 0.12);
            } else {
                CHECK(rate < kLevel + 0.035);  // four and a half standard errors
                CHECK(rate > kLevel - 0.035);
            }
        }
    }
}

// The fewest seeds by which, in tables whose two recipes differ and spread as they seem to, half of
// all repetitions settle the claim, against what was forecast from the table. Measured: 399 of 400 forecasts within
// one.
TEST_CASE("the count of more seeds that a claim needs is right within one") {
    const unsigned seed = std::random_device{}();
    World world{std::mt19937_64{seed}};
    constexpr int kRepetitions = 3000, kTables = 40;
    constexpr std::size_t kSeeds = 3, kRecipes = 8;
    const auto recipe = [&](std::size_t seeds, double mean, double deviation) {
        std::vector<double> values;
        for (std::size_t s = 0; s < seeds; ++s) values.push_back(mean + deviation * world.draw());
        return values;
    };
    const auto terms_of = [](const std::vector<double>& head, const std::vector<double>& base) {
        std::vector<ContrastTerm> terms = {{1, {}}, {-1, {}}};
        for (std::size_t s = 0; s < head.size(); ++s) {
            terms[0].values.push_back({static_cast<std::int64_t>(s), head[s]});
            terms[1].values.push_back({static_cast<std::int64_t>(s), base[s]});
        }
        return terms;
    };
    int within_one = 0, tables = 0, bias = 0;
    while (tables < kTables) {
        std::vector<std::vector<double>> recipes;
        for (std::size_t r = 0; r < kRecipes; ++r) recipes.push_back(recipe(kSeeds, r == 0 ? 1 : 0, 1));
        const ContrastRule rule{ContrastMethod::pooled, pooled_variance(recipes)};
        const std::vector<ContrastTerm> terms = terms_of(recipes[0], recipes[1]);
        const auto forecast = more_seeds(terms, rule, 0, kLevel);
        const Contrast found = contrast(terms, rule);
        if (!forecast || *forecast == 0 || *forecast > 15 || found.estimate <= 0) continue;
        ++tables;
        const double deviation = found.standard_error * std::sqrt(kSeeds / 2.0),
                     other = std::sqrt(rule.pooled->variance);
        const auto half_settle = [&](std::size_t more) {
            std::vector<double> chances;
            for (int i = 0; i < kRepetitions; ++i) {
                std::vector<std::vector<double>> again;
                for (std::size_t r = 0; r < kRecipes; ++r)
                    again.push_back(
                        recipe(kSeeds + (r < 2 ? more : 0), r == 0 ? found.estimate : 0, r < 2 ? deviation : other));
                const ContrastRule of_these{ContrastMethod::pooled, pooled_variance(again)};
                chances.push_back(chance_above(contrast(terms_of(again[0], again[1]), of_these), 0));
            }
            return median_of(chances) <= kLevel;
        };
        const bool enough = half_settle(*forecast + 1), too_few = *forecast < 2 || !half_settle(*forecast - 2);
        within_one += enough && too_few;
        bias += enough ? 0 : 1;
        bias -= too_few ? 0 : 1;
    }
    std::printf("seed %u: of %d forecasts %d within one seed of half of the repetitions, %+d too few less too many\n",
                seed, tables, within_one, bias);
    CHECK(within_one >= kTables - 3);  // the median over repetitions has an error of its own
}
