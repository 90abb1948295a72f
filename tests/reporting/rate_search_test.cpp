// The search of the learning rate as it was stored: which rate is the best, and how it is reported.

#include "reporting/analysis/search/rate_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/json.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Trial searched(const char* recipe, double budget, double rate, std::int64_t seed, double loss) {
    const std::string axes = canonical_json({{"train.budget_fraction", budget}, {"train.learning_rate", rate}});
    Trial trial = a_finished_trial(recipe, axes.c_str(), seed, loss);
    trial.stage = results_db::kSearchStage;
    trial.device_seconds = 10;
    trial.usd = 0.25;
    return trial;
}

Trial ended_badly(Trial trial, const char* state, const char* fail_class) {
    trial.state = state;
    trial.fail_class = fail_class;
    trial.scores.clear();
    return trial;
}

// Two rows at three rates, with two seeds.
std::vector<Trial> whole_search() {
    std::vector<Trial> trials;
    const auto add = [&](const char* recipe, double rate, double one, double two) {
        trials.push_back(searched(recipe, 0.5, rate, 8, one));
        trials.push_back(searched(recipe, 0.5, rate, 9, two));
    };
    add("plain", 1e-3, 3.0, 3.2);
    add("plain", 2e-3, 2.9, 3.1);
    add("plain", 4e-3, 2.7, 3.5);
    add("ltd", 1e-3, 3.0, 3.0);
    add("ltd", 2e-3, 2.8, 3.0);
    add("ltd", 4e-3, 2.5, 2.7);
    return trials;
}

Results sweep_with(std::vector<Trial> search) {
    Results sweep = a_sweep_of({a_finished_trial("plain", kHalfBudget, 1, 3.0)});
    sweep.searched = std::move(search);
    return sweep;
}

}  // namespace

TEST_CASE("Of each row the rate with the best mean over seeds is taken") {
    const std::vector<Trial> trials = whole_search();
    const std::vector<SearchedRow> rows = searched_rows(trials);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name() == "plain[budget_fraction=0.5]");
    CHECK(rows[0].axes == Json{{"train.budget_fraction", 0.5}});
    REQUIRE(rows[0].best == 1u);  // means 3.1, 3.0, 3.1
    CHECK(rows[0].rates[1].rate == 2e-3);
    CHECK(std::abs(*rows[0].rates[1].value - 3.0) < 1e-12);
    CHECK(std::abs(*rows[0].rates[1].spread - std::sqrt(0.02)) < 1e-12);
    CHECK(!rows[0].is_at_end());
    REQUIRE(rows[1].best == 2u);
    CHECK(rows[1].is_at_end());
}

TEST_CASE("Rates ascend whatever the order of trials, and the smaller of two equally good ones is taken") {
    std::vector<Trial> trials = {searched("plain", 1, 4e-3, 8, 2.5), searched("plain", 1, 1e-3, 8, 2.5),
                                 searched("plain", 1, 2e-3, 8, 2.6)};
    const std::vector<SearchedRow> rows = searched_rows(trials);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].rates[0].rate == 1e-3);
    CHECK(rows[0].rates[2].rate == 4e-3);
    CHECK(rows[0].best == 0u);
    CHECK(rows[0].is_at_end());
    CHECK(!rows[0].rates[0].spread);
    // Where more is better, more is.
    for (Trial& trial : trials) trial.scores = {a_score("validation", "acc", trial.scores.front().value)};
    CHECK(searched_rows(trials)[0].best == 1u);
    // Bits a byte are compared where they are there.
    for (Trial& trial : trials) trial.scores.push_back(a_validation("bits_per_byte", 5 - trial.scores.front().value));
    CHECK(searched_rows(trials)[0].best == 1u);
}

TEST_CASE("A row waits for all of its trials; a rate that diverged is out, and not waited for") {
    std::vector<Trial> trials = whole_search();
    trials[5] = ended_badly(trials[5], "failed", "nan");
    std::vector<SearchedRow> rows = searched_rows(trials);
    CHECK(rows[0].is_whole());
    CHECK(rows[0].rates[2].diverged);
    CHECK(!rows[0].rates[2].value);
    CHECK(rows[0].best == 1u);
    for (const auto& [state, why] : {std::pair{"pending", ""}, {"failed", "crash"}, {"cancelled", "user"}}) {
        trials[2] = ended_badly(trials[2], state, why);
        rows = searched_rows(trials);
        CHECK(!rows[0].is_whole());
        CHECK(!rows[0].best);
        CHECK(rows[1].best == 2u);
    }
    // Trained and not scored yet.
    trials = whole_search();
    trials[0].scores.clear();
    CHECK(!searched_rows(trials)[0].is_whole());
    // All diverged: whole, and without a best.
    for (Trial& trial : trials) trial = ended_badly(trial, "failed", "nan");
    CHECK(searched_rows(trials)[0].is_whole());
    CHECK(!searched_rows(trials)[0].best);
}

TEST_CASE("No table of a sweep counts the trials of its search") {
    Results sweep = a_sweep_of({});
    sweep.trials = whole_search();
    sweep.trials.insert(sweep.trials.begin() + 3, a_finished_trial("plain", kHalfBudget, 1, 3.0));
    sweep.trials.push_back(a_finished_trial("ltd", kHalfBudget, 1, 3.0));
    split_search_trials(sweep);
    REQUIRE(sweep.trials.size() == 2);
    CHECK(sweep.trials[0].recipe == "plain");
    CHECK(sweep.trials[1].recipe == "ltd");
    CHECK(sweep.searched.size() == 12);
    CHECK(sweep.searched.front().recipe == "plain");
}

TEST_CASE("The table of a search shows every rate, the best, and what it took") {
    const std::optional<Table> table = rate_search_table(sweep_with(whole_search()));
    REQUIRE(table);
    REQUIRE(table->columns.size() == 5);
    CHECK(table->columns[2].title == "0.002");
    CHECK(table->columns[4].title == "chosen");
    CHECK_THAT(table->caption, ContainsSubstring("loss ↓"));
    REQUIRE(table->rows.size() == 2);
    CHECK(table->rows[0][2].text == "3.000 ± 0.141");
    CHECK(table->rows[0][2].is_best);
    CHECK(!table->rows[0][1].is_best);
    CHECK(table->rows[0][4].text == "0.002");
    CHECK(table->rows[1][4].text == "0.004 (end)");
    const std::string notes = fmt::format("{}", fmt::join(table->notes, "\n"));
    CHECK_THAT(notes, ContainsSubstring("seeds 8, 9 of the search alone"));
    CHECK_THAT(notes, ContainsSubstring("12 trials: 12.0 GFLOP, 2 min 00 s of device time, $3.00"));
    CHECK_THAT(notes, ContainsSubstring("at the end of its list for ltd[budget_fraction=0.5]:"));
    CHECK(!rate_search_table(sweep_with({})));
}

TEST_CASE("Rows that share a search pay for it once, and a search without a price has no sum") {
    std::vector<Trial> trials = whole_search();
    for (std::size_t i = 6; i < 12; ++i) trials[i].config_hash = trials[i - 6].config_hash;
    trials[1].usd.reset();
    const std::optional<Table> table = rate_search_table(sweep_with(trials));
    REQUIRE(table);
    CHECK_THAT(table->notes[1], ContainsSubstring("6 trials: 6.00 GFLOP, 1 min 00 s of device time. "));
    // A rate that one row alone was tried at.
    trials = whole_search();
    trials.push_back(searched("plain", 0.5, 8e-3, 8, 5.0));
    const std::optional<Table> wider = rate_search_table(sweep_with(trials));
    REQUIRE(wider->columns.size() == 6);
    CHECK(wider->rows[1][4].text == "-");
    CHECK(wider->rows[0][4].text == "5.000");
}

TEST_CASE("Verdicts name the recipes whose rate is at the end of its list") {
    const Results sweep = sweep_with(whole_search());
    CHECK(rate_at_end_note(sweep, {"plain"}).empty());
    CHECK_THAT(rate_at_end_note(sweep, {"plain", "ltd"}), ContainsSubstring("ltd[budget_fraction=0.5]"));
    CHECK(rate_at_end_note(a_sweep_of({}), {}).empty());
}
