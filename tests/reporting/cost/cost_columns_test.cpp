// The cost breakdown of rows: the block of columns, its notes, and the rounding of its numbers.

#include "reporting/analysis/comparison/cost_columns.h"

#include <fmt/format.h>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/comparison/per_seed.h"
#include "reporting/analysis/trace/trace.h"
#include "reporting/views/page/page.h"
#include "reporting/views/text/status.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/attempts.h"
#include "tests/reporting/table_parts.h"

using namespace deft;
using namespace deft::reporting;
using results_db::CostParts;

namespace {

Trial costing(const char* recipe, std::int64_t seed, const CostParts& seconds, std::int64_t threads = 2) {
    Trial trial = a_finished_trial(recipe, "{}", seed, 2.5);
    add_attempt(trial, an_attempt_on({"cpu", threads, 1, 1}, seconds));
    return trial;
}

Results two_seeds() {
    return a_sweep_of({costing("plain", 1, {10, 2, 1, 0, 0}), costing("plain", 2, {14, 3, 2, 0, 5}),
                       costing("cl", 1, {6, 1, 0.5, 0, 0})});
}

bool has_column(const Table& table, const std::string& title) {
    for (const Column& column : table.columns)
        if (column.title == title) return true;
    return false;
}

}  // namespace

TEST_CASE("a row's parts are means over its seeds, each in device-seconds, and one that is nothing has no column") {
    const Table table = comparison_table(two_seeds(), {"plain", "", "", ""});
    CHECK(cell(table, 0, "training\ndevice-s") == "24.0");
    CHECK(cell(table, 0, "evaluation\ndevice-s") == "5.0");
    CHECK(cell(table, 0, "start-up\ndevice-s") == "3.0");
    CHECK(cell(table, 0, "lost\ndevice-s") == "5.0");
    CHECK(cell(table, 0, "total\ndevice-s") == "37.0");
    CHECK(cell(table, 1, "lost\ndevice-s") == "0");
    CHECK(table.rows[0][column(table, "total\ndevice-s")].value == Approx(37));
    CHECK_FALSE(has_column(table, "waiting\ndevice-s"));
    CHECK_FALSE(has_column(table, "training\nUSD"));
    const std::string notes = all_notes(table);
    CHECK_THAT(notes, ContainsSubstring("training: optimizer steps") && ContainsSubstring("evaluation: tasks") &&
                          ContainsSubstring("start-up: what else") && ContainsSubstring("lost: what attempts") &&
                          ContainsSubstring("total: their sum") &&
                          ContainsSubstring("No column: waiting, of which there was none.") &&
                          !ContainsSubstring("waiting: for a lock"));
    CHECK_THAT(notes, !ContainsSubstring("not measured in") && !ContainsSubstring("was not recorded"));
    // They are a block of their own, before that of the scores.
    const std::size_t first = column(table, "training\ndevice-s");
    CHECK(table.columns[first].begins_block);
    CHECK_FALSE(table.columns[first + 1].begins_block);
    CHECK(page_blocks(table).size() == 3);
    // Without attempts nothing is known, and nothing shown.
    const Table none = comparison_table(a_sweep_of({a_finished_trial("plain", "{}", 1, 2.5)}), {});
    CHECK_FALSE(has_column(none, "total\ndevice-s"));
    CHECK_THAT(all_notes(none), !ContainsSubstring("Cost breakdown"));
}

TEST_CASE("a price makes columns of dollars, with a dash where a trial has none") {
    Results sweep = two_seeds();
    sweep.trials[0].usd_parts = CostParts{0.1, 0.02, 0.01, 0, 0};
    sweep.trials[2].usd_parts = CostParts{0.0624, 0.03, 0.01, 0, 0};
    const Table table = comparison_table(sweep, {"plain", "", "", ""});
    CHECK(cell(table, 0, "training\nUSD") == "-");  // one of its seeds has no price
    CHECK(cell(table, 1, "training\nUSD") == "$0.062");
    CHECK(cell(table, 1, "evaluation\nUSD") == "$0.030");
    CHECK(cell(table, 1, "start-up\nUSD") == "$0.010");
    CHECK(cell(table, 1, "lost\nUSD") == "0");
    CHECK(cell(table, 1, "total\nUSD") == "$0.102");
    CHECK_THAT(render_csv(table), ContainsSubstring("total USD") && ContainsSubstring("0.0624,0.03,0.01,0,0.102"));
    for (const std::string& text :
         {render_markdown(table), render_latex(table), render_json(table), render_html(table)})
        CHECK_THAT(text, ContainsSubstring("total") && ContainsSubstring("0.062"));
}

TEST_CASE("printed parts add up to the printed sum") {
    const auto sum_of = [](const PartTexts& texts) {
        double sum = 0;
        for (const std::string& part : texts.parts) sum += std::stod(part.starts_with('$') ? part.substr(1) : part);
        return sum;
    };
    const auto number = [](const std::string& text) {
        return std::stod(text.starts_with('$') ? text.substr(1) : text);
    };
    for (const CostParts& parts :
         {CostParts{10.04, 2.04, 1.04, 0.04, 0.04}, CostParts{1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3},
          CostParts{99999.5, 0.5, 0.25, 0.125, 1e-9}, CostParts{0.016, 0.016, 0.016, 0, 0}, CostParts{3, 0, 0, 0, 0},
          CostParts{0, 0, 0, 0, 0}, CostParts{12345.678, 234.567, 34.567, 4.567, 0.567}}) {
        CHECK(sum_of(device_second_texts(parts)) == Approx(number(device_second_texts(parts).whole)).margin(1e-9));
        CHECK(sum_of(usd_texts(parts)) == Approx(number(usd_texts(parts).whole)).margin(1e-12));
    }
    // The last places go to those that lost most by rounding down.
    const PartTexts texts = device_second_texts({10.02, 2.03, 1.04, 0.05, 0.06});
    CHECK(texts.whole == "13.2");
    CHECK(texts.parts == std::array<std::string, 5>{"10.0", "2.0", "1.0", "0.1", "0.1"});
    CHECK(usd_texts({0.0001, 0.00002, 0, 0, 0}).whole == "$0.000120");
    CHECK(device_second_texts({123456.4, 0, 0, 0, 0}).whole == "123456");
    CHECK(device_second_texts({1.234, 0, 0, 0, 0}).whole == "1.23");
}

TEST_CASE("cost that was neither measured nor observed is reported") {
    Results sweep = two_seeds();
    sweep.trials[0].unmeasured_waits = 2;
    sweep.trials[2].unmeasured_waits = 1;
    sweep.trials[1].unseen_ends = 1;
    CHECK_THAT(all_notes(comparison_table(sweep, {})),
               ContainsSubstring("waiting, of which there was none that was measured") &&
                   ContainsSubstring("Waiting was not measured in 3 attempts") &&
                   ContainsSubstring("The end of 1 attempt was not recorded:"));
    // A training that several places of a sweep share counts once.
    sweep.trials.push_back(sweep.trials[0]);
    sweep.trials.back().recipe = "shares the training";
    CHECK_THAT(all_notes(comparison_table(sweep, {})), ContainsSubstring("Waiting was not measured in 3 attempts"));
}

TEST_CASE("the page shows what rows cost in its section on cost, with what the columns mean") {
    ReportData data;
    data.sweep = two_seeds();
    data.sweep.trials[0].usd_parts = CostParts{0.1, 0.02, 0.01, 0, 0};
    const std::string page = render_page(data);
    const std::size_t cost = page.find("<h2 id=\"cost\">"), provenance = page.find("<h2 id=\"provenance\">");
    REQUIRE(cost < provenance);
    const std::size_t block = page.find("Cost breakdown, means over seeds"),
                      note = page.find("Cost breakdown (all attempts)");
    CHECK(block > cost);
    CHECK(note > block);
    CHECK(note < provenance);
    CHECK(page.find("Cost breakdown (all attempts)", note + 1) == std::string::npos);
    const std::string head = "start-up<br><small>device-s</small>";
    CHECK(page.find(head) > cost);
    CHECK(page.find(head, page.find(head) + 1) == std::string::npos);
    // The scores stay where they were.
    CHECK(page.find("Scores of each task") < cost);
    CHECK_THAT(render_report_json(data), ContainsSubstring("\"whole\": 26.0") && ContainsSubstring("\"usd_parts\": {"));
}

TEST_CASE("every trial has its own parts, and a cell's trace has those of each attempt") {
    Results sweep = two_seeds();
    sweep.trials[0].attempt_rows[0].price = results_db::Price{"a thread", 0, 3.6, "list A"};
    const Table table = per_seed_table(sweep);
    CHECK(cell(table, 1, "lost\ndevice-s") == "10.0");
    CHECK(cell(table, 0, "training\ndevice-s") == "20.0");
    TraceQuestion question;
    question.row = "plain";
    question.column = "lost device-s";
    const Trace trace = trace_cell(sweep, {"plain", "", "", ""}, question);
    CHECK(trace.cell == "5.0");
    CHECK(*trace.value == 5);
    CHECK(trace.unit == "device-s");
    const std::string text = render_trace(trace);
    CHECK_THAT(text,
               ContainsSubstring("on 2 threads: training 20.0, evaluation 4.0, start-up 2.0: 26.0 device-s at $3.6") &&
                   ContainsSubstring("training 28.0, evaluation 6.0, start-up 4.0, lost 10.0: 48.0 device-s"));
    CHECK_THAT(render_trace_json(trace), ContainsSubstring("\"lost\": 10.0") && ContainsSubstring("\"whole\": 48.0") &&
                                             ContainsSubstring("\"usd_per_device_hour\": 3.6"));
    CHECK_THAT(render_trial(sweep.trials[1], {}),
               ContainsSubstring("all attempts") && ContainsSubstring("lost 10.0: 48.0 device-s"));
    question.column = "waiting device-s";
    CHECK_THROWS_AS(trace_cell(sweep, {"plain", "", "", ""}, question), Error);
}

TEST_CASE("an imported model has what scoring it cost, and no training") {
    Trial trial = a_finished_trial("gpt2", "{}", 1, 2.5);
    trial.imported.emplace();
    trial.parts = {0, 4, 1, 0, 0};
    const Table table =
        comparison_table(a_sweep_of({trial, costing("plain", 1, {10, 2, 1, 0, 0})}), {"plain", "", "", ""});
    CHECK(cell(table, 0, "training\ndevice-s") == "-");
    CHECK(cell(table, 0, "evaluation\ndevice-s") == "4.00");
    CHECK(cell(table, 0, "total\ndevice-s") == "5.00");
}
