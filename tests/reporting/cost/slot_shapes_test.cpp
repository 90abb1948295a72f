// Times and speeds are read only of trials of one worker shape.

#include "reporting/analysis/cost/slot_shapes.h"

#include "reporting/analysis/claims/claims_check.h"
#include "reporting/analysis/compare/equal_cost.h"
#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/comparison/per_seed.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/analysis/trace/trace.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/attempts.h"
#include "tests/reporting/table_parts.h"

using namespace deft;
using namespace deft::reporting;
using results_db::AttemptRow;

namespace {

AttemptRow on_threads(std::int64_t threads, const std::string& processor = "Example CPU") {
    return an_attempt_on({"cpu", threads, 1, 1}, {10, 0, 0, 0, 0}, processor);
}

Trial trained_on(const char* recipe, std::int64_t seed, const std::vector<AttemptRow>& attempts) {
    Trial trial = a_finished_trial(recipe, "{}", seed, 2.5, 2000);
    for (const AttemptRow& attempt : attempts) add_attempt(trial, attempt);
    return trial;
}

Table table_of(const Results& sweep) {
    return comparison_table(sweep, {"plain", "", "", ""});
}

}  // namespace

TEST_CASE("a row whose trials had several slots has no time and no speed, and the notes say which slots") {
    const Results sweep = a_sweep_of({trained_on("plain", 1, {on_threads(2)}), trained_on("plain", 2, {on_threads(4)}),
                                      trained_on("cl", 1, {on_threads(2)})});
    const Table table = table_of(sweep);
    CHECK(cell(table, 0, "train\ntime") == "mixed");
    CHECK(cell(table, 0, "tokens\nper s") == "mixed");
    CHECK_FALSE(table.rows[0][column(table, "train\ntime")].value);
    CHECK(cell(table, 1, "train\ntime") == "2.00s other worker");
    CHECK(cell(table, 1, "tokens\nper s") == "500");
    CHECK(cell(table, 0, "steps") == "1000");
    CHECK(cell(table, 0, "input\ntokens") == "1.00k 1.00x");
    CHECK_THAT(all_notes(table),
               ContainsSubstring(
                   "Workers: trained plain on 2 threads of Example CPU (8 cores) and on 4 threads of Example CPU "
                   "(8 cores); cl on 2 threads of Example CPU (8 cores)."));
    const Table each = per_seed_table(sweep);
    CHECK(cell(each, 1, "train\ntime") == "2.00s");  // a trial of one slot has its time
}

TEST_CASE("a row of another slot than its baseline's has its time, and no ratio") {
    const Table table = table_of(
        a_sweep_of({trained_on("plain", 1, {on_threads(2)}), trained_on("cl", 1, {on_threads(2, "Other CPU")})}));
    CHECK(cell(table, 0, "train\ntime") == "2.00s 1.00x");
    CHECK(cell(table, 1, "train\ntime") == "2.00s other worker");
    const Table same =
        table_of(a_sweep_of({trained_on("plain", 1, {on_threads(2)}), trained_on("cl", 1, {on_threads(2)})}));
    CHECK(cell(same, 1, "train\ntime") == "2.00s 1.00x");
    CHECK_THAT(all_notes(same), !ContainsSubstring("Workers:"));
}

TEST_CASE("a trial that went on elsewhere is mixed, unless nothing of it was kept there") {
    AttemptRow lost = on_threads(4);
    lost.counts = false;
    AttemptRow none = on_threads(8);
    none.seconds = results_db::CostParts{0, 0, 0, 0, 5};
    const Results sweep = a_sweep_of(
        {trained_on("plain", 1, {on_threads(2), on_threads(4)}), trained_on("cl", 1, {lost, none, on_threads(2)})});
    const Table table = table_of(sweep);
    CHECK(cell(table, 0, "train\ntime") == "mixed");
    CHECK(cell(table, 1, "train\ntime") == "2.00s other worker");
    CHECK(slot_shapes(sweep.trials[1]) == std::set<std::string>{"2 threads of Example CPU (8 cores)"});
    CHECK(cell(per_seed_table(sweep), 0, "tokens\nper s") == "mixed");
    TraceQuestion question;
    question.row = "plain";
    question.column = "train time";
    const Trace trace = trace_cell(sweep, {"plain", "", "", ""}, question);
    CHECK(trace.cell == "mixed");
    CHECK_FALSE(trace.value);
    REQUIRE(trace.waits_for.size() == 1);
    CHECK_THAT(trace.waits_for[0], ContainsSubstring("several workers") && ContainsSubstring("4 threads"));
}

TEST_CASE("a slot is identified by device, share, ranks, and kind of GPU and processor") {
    AttemptRow card = an_attempt_on({"cuda", 1, 2, 1}, {10, 0, 0, 0, 0});
    Trial trial = a_finished_trial("plain", "{}", 1, 2.5);
    add_attempt(trial, card);
    CHECK(to_text(slot_shapes(trial)) == "1/2 of 1 GPU, of unknown kind, beside Example CPU (8 cores)");
    card.gpu_name = "Example GPU";
    add_attempt(trial, card);
    card.shape = {"cuda", 2, 1, 2};
    add_attempt(trial, card);
    CHECK(slot_shapes(trial).size() == 3);
    CHECK(slot_shapes(trial).contains("2 ranks on 2 GPUs, Example GPU, beside Example CPU (8 cores)"));
    AttemptRow other = on_threads(2);
    other.host.cores = 64;
    Trial on_two = trained_on("plain", 1, {on_threads(2), other});
    CHECK(slot_shapes(on_two).size() == 2);
}

TEST_CASE("a claim on time, rate or cost over several slots is missing, with the slots") {
    const auto slots = [](const char* quantity, const std::vector<std::vector<AttemptRow>>& attempts) {
        Results sweep = a_sweep_of({trained_on("plain", 1, attempts[0]), trained_on("cl", 1, attempts[1])});
        const std::vector<Row> rows = rows_of(sweep);
        Quantity asked;
        asked.kind = Quantity::Kind::resource;
        asked.name = quantity;
        return several_slots({&rows[0], &rows[1]}, asked);
    };
    CHECK_THAT(slots("train hours", {{on_threads(2)}, {on_threads(4)}}),
               ContainsSubstring("train hours is read only of trials of one worker shape") &&
                   ContainsSubstring("2 threads of Example CPU (8 cores) and on 4 threads"));
    CHECK(slots("throughput samples/s", {{on_threads(2), on_threads(4)}, {on_threads(2)}}) != "");
    CHECK(slots("train hours", {{on_threads(2)}, {on_threads(2)}}) == "");
    CHECK(slots("cost usd", {{on_threads(2)}, {on_threads(4)}}) != "");
    CHECK(slots("cost usd", {{on_threads(2)}, {on_threads(2)}}) == "");
    CHECK(slots("train steps", {{on_threads(2)}, {on_threads(4)}}) == "");
}

TEST_CASE("a score that is a time is of the slot of its scoring") {
    const auto scored_on = [](const char* recipe, std::int64_t seed, const AttemptRow& slot) {
        Trial trial = trained_on(recipe, seed, {on_threads(2)});
        const double is_slow = recipe == std::string("plain") ? 1 : 0;
        trial.scores.push_back(
            a_score("generation_time", "ms_per_token", 1 + is_slow + 0.01 * static_cast<double>(seed)));
        trial.scores.back().better = "lower";
        trial.scores.back().attempt_uid = "this one";
        trial.scoring_rows = {on_threads(16), slot};
        trial.scoring_rows[0].uid = "an earlier one";
        trial.scoring_rows[1].uid = "this one";
        return trial;
    };
    const auto sweep_on = [&](const AttemptRow& plain, const AttemptRow& cl) {
        std::vector<Trial> trials;
        for (const std::int64_t seed : {1, 2, 3}) trials.push_back(scored_on("plain", seed, plain));
        for (const std::int64_t seed : {1, 2, 3}) trials.push_back(scored_on("cl", seed, cl));
        return a_sweep_of(std::move(trials));
    };
    const auto slots = [](const Results& sweep) {
        const std::vector<Row> rows = rows_of(sweep);
        return several_slots({&rows[0], &rows[1]}, parse_quantity("task:generation_time ms_per_token", {}));
    };
    const Results same = sweep_on(on_threads(1), on_threads(1));
    const Results other = sweep_on(on_threads(1), on_threads(1, "Other CPU"));
    CHECK(slots(same) == "");
    CHECK_THAT(
        slots(other),
        ContainsSubstring("these were scored on 1 thread of Example CPU (8 cores) and on 1 thread of Other CPU"));
    const auto time_of = [](const Table& table) {
        std::size_t at = 0;
        while (table.columns[at].title.find("generation time") == std::string::npos) ++at;
        return at;
    };
    const Table one_slot = table_of(same), two_slots = table_of(other);
    CHECK(one_slot.rows[1][time_of(one_slot)].is_best);
    CHECK(one_slot.columns[time_of(one_slot)].caveat.empty());
    CHECK_FALSE(two_slots.rows[1][time_of(two_slots)].is_best);
    CHECK(two_slots.columns[time_of(two_slots)].caveat == "several workers");
    CHECK_THAT(all_notes(two_slots),
               ContainsSubstring("Several workers: read off a clock on workers of several shapes: generation "
                                 "time ms/token") &&
                   !ContainsSubstring("At chance:"));
}

TEST_CASE("losses at equal seconds are missing over several slots, and at equal tokens they are not") {
    const Results sweep = a_sweep_of({trained_on("plain", 1, {on_threads(2)}), trained_on("cl", 1, {on_threads(4)})});
    const std::vector<Row> rows = rows_of(sweep);
    Curves curves;
    for (const Trial& trial : sweep.trials)
        for (const std::int64_t step : {1, 2, 3}) {
            journal::TrainPoint point = *trial.last_point;
            point.step = point.input_tokens = point.layer_tokens = step;
            point.wall_ms = 1000 * step;
            point.loss = 4.0 - static_cast<double>(step);
            curves[trial.config_hash].points.push_back(point);
        }
    CHECK_THAT(compared_curves(rows[0], curves, rows[1], curves, Cost::seconds).missing,
               ContainsSubstring("one worker shape") && ContainsSubstring("4 threads"));
    CHECK(compared_curves(rows[0], curves, rows[1], curves, Cost::tokens).missing == "");
    CHECK(compared_curves(rows[0], curves, rows[0], curves, Cost::seconds).missing == "");
}
