// Scores that were made under training's capacity say so in every format, and share no column with others.

#include "base/json.h"
#include "base/score_key.h"
#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/comparison/per_seed.h"
#include "reporting/analysis/scores/lm_eval.h"
#include "reporting/analysis/scores/scoring_notes.h"
#include "reporting/views/page/page.h"
#include "reporting/views/text/status.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;

namespace {

// Two rows of one loss each: one drops nothing while it is scored, one keeps to the capacity.
Results two_ways() {
    Trial plain = a_finished_trial("dropless", "{}", 1, 3), kept = a_finished_trial("dropping", "{}", 1, 3.5);
    plain.scores[0].score_key = score_key(kValidationTask, 0, 100);
    kept.scores[0].score_key = score_key(kValidationTask, 0, 100, 8);
    return a_sweep_of({plain, kept});
}

}  // namespace

TEST_CASE("a row that was scored under capacity is labelled in every format") {
    const Results sweep = two_ways();
    for (const Table& table : {comparison_table(sweep, {}), per_seed_table(sweep)})
        for (const std::string& text : {render_terminal(table, 0), render_markdown(table), render_csv(table),
                                        render_latex(table), render_json(table), render_html(table)}) {
            CHECK_THAT(text, ContainsSubstring("dropping (under capacity)"));
            CHECK_THAT(text, !ContainsSubstring("dropless (under capacity)"));
            CHECK_THAT(text, ContainsSubstring("under capacity, nats/token"));
        }
    const std::string page = render_page({sweep, {}, {}, {}});
    CHECK_THAT(page, ContainsSubstring("dropping (under capacity)"));
    CHECK_THAT(page, ContainsSubstring("<small>under capacity</small>"));
    const Json json = Json::parse(render_report_json({sweep, {}, {}, {}}));
    CHECK(json.at("trials").at(0).at("scores").at(0).at("under_capacity") == false);
    CHECK(json.at("trials").at(1).at("scores").at(0).at("under_capacity") == true);
    CHECK_THAT(render_trial(sweep.trials[1]), ContainsSubstring("split test, under capacity, step"));
    CHECK_THAT(render_trial(sweep.trials[0]), !ContainsSubstring("capacity"));
    CHECK(lm_eval_results({}, sweep.trials[1].scores).at("results").at("validation").at("alias") ==
          "validation (under capacity)");
    CHECK(lm_eval_results({}, sweep.trials[0].scores).at("results").at("validation").at("alias") == "validation");
}

TEST_CASE("scores under capacity have columns of their own and a note that names their rows") {
    const Results sweep = two_ways();
    const Table table = comparison_table(sweep, {});
    REQUIRE(table.rows.size() == 2);
    const std::size_t last = table.columns.size() - 1;
    CHECK_THAT(table.columns[last].title, ContainsSubstring("under capacity"));
    CHECK_THAT(table.columns[last - 1].title, !ContainsSubstring("capacity"));
    CHECK(table.rows[0][last - 1].value == 3.0);
    CHECK_FALSE(table.rows[0][last].value);
    CHECK_FALSE(table.rows[1][last - 1].value);
    CHECK(table.rows[1][last].value == 3.5);
    CHECK(scoring_notes(rows_of(sweep)) ==
          std::vector<std::string>{"Scored under training's capacity (eval.capacity = \"reference\"): dropping. Their "
                                   "experts drop what is beyond it, as the published models' did; other rows drop "
                                   "nothing."});
    CHECK(scoring_notes(rows_of(a_sweep_of({sweep.trials[0]}))).empty());
}

TEST_CASE("what was read off a clock is named under the table") {
    Trial trial = a_finished_trial("plain", "{}", 1, 3);
    trial.scores.front().task = "generation_time";
    trial.scores.front().measure = "ms_per_token";
    CHECK(scoring_notes(rows_of(a_sweep_of({trial}))) ==
          std::vector<std::string>{
              "Read off a clock: generation_time. It compares where all rows were scored on one kind of "
              "worker that nothing else used."});
}
