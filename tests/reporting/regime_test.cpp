#include "reporting/analysis/results/regime.h"

#include "reporting/analysis/comparison/comparison.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/table_parts.h"

using namespace deft;
using namespace deft::reporting;

TEST_CASE("the regime of a run is printed beside the published one") {
    const auto notes = regime_notes("base", {1e6, 30e6, 4400, 2.5}, Regime{1.3e9, 300e9, 286102, 1});
    REQUIRE(notes.size() == 1);
    CHECK(notes[0] ==
          "Regime: base: 30 tokens per parameter, 4.40k steps, text seen 2.5 times; published: 231 tokens per "
          "parameter, 286k steps, text seen once.");
}

TEST_CASE("below twenty tokens per parameter there is a warning") {
    CHECK(regime_notes("base", {1e6, 20e6, 10, 1}, std::nullopt).size() == 1);
    const auto notes = regime_notes("base", {1e6, 19.9e6, 10, 0}, std::nullopt);
    REQUIRE(notes.size() == 2);
    CHECK(notes[0] == "Regime: base: 19.9 tokens per parameter, 10 steps, repeats of the text unknown.");
    CHECK_THAT(notes[1], ContainsSubstring("Warning: below 20 tokens per parameter"));
    CHECK(regime_notes("base", {0, 1e6, 10, 1}, std::nullopt).empty());
}

TEST_CASE("a table prints the regime of its baseline at the largest budget, by active parameters") {
    std::vector<Trial> trials;
    for (const char* axes :
         {R"({"train.budget_fraction": 0.5})", R"({"train.budget_fraction": 1})", R"({"train.budget_fraction": 1})"}) {
        const auto seed = static_cast<std::int64_t>(trials.size()) + 1;
        Trial& trial = trials.emplace_back(a_finished_trial("base", axes, seed, 3));
        trial.parameters = 80'000;
        trial.active_parameters = 40'000;
        trial.last_point->input_tokens = std::string(axes).find("0.5") == std::string::npos ? 1'000'000 : 500'000;
        trial.last_point->unique_tokens = 400'000;
    }
    const Table table = comparison_table(a_sweep_of(trials), {"base", "smoke", "", ""});
    CHECK_THAT(all_notes(table), ContainsSubstring("25 tokens per parameter, 1.00k steps, text seen 2.5 times.\n"));
}

TEST_CASE("images, labels and trained weights have no tokens per parameter") {
    Trial trial = a_finished_trial("base", "{}", 1, 3);
    trial.active_parameters = 100;
    const auto notes = [&](const char* config) {
        set_configuration(trial, config);
        return all_notes(comparison_table(a_sweep_of({trial}), {"base", "smoke", "", ""}));
    };
    CHECK_THAT(notes(R"({"data":{"samples":"packed"}})"), ContainsSubstring("Regime: base: 10 tokens per parameter"));
    for (const char* config : {R"({"data":{"samples":"images"}})", R"({"data":{"samples":"labelled"}})",
                               R"({"data":{"samples":"packed"},"start":{"from":"gpt2"}})"})
        CHECK_THAT(notes(config), !ContainsSubstring("Regime"));
}
