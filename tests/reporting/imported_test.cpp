// An imported row in every format of a table.

#include "reporting/analysis/results/imported.h"

#include "base/json.h"
#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/comparison/per_seed.h"
#include "reporting/analysis/comparison/stages.h"
#include "reporting/analysis/quality/measured_row.h"
#include "reporting/views/page/page.h"
#include "reporting/views/text/status.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Trial an_imported_trial(const char* recipe = "gpt2") {
    Trial trial = a_finished_trial(recipe, "{}", 1, 2.5);
    trial.last_point.reset();
    trial.seeds = "1";
    trial.imported = results_db::ImportedModel{
        "models/gpt2", "GPT-2 of Hugging Face", std::string(64, 'a'), 9e9, 2e18, 30, 44000, "its card"};
    return trial;
}

Results imported_beside_trained() {
    Trial trained = a_finished_trial("plain", "{}", 1, 2.4), second = a_finished_trial("plain", "{}", 2, 2.6);
    trained.usd = second.usd = 2;
    return a_sweep_of({trained, second, an_imported_trial()});
}

Cell cell_of(const Table& table, std::size_t row, const std::string& title) {
    for (std::size_t column = 0; column < table.columns.size(); ++column)
        if (table.columns[column].title == title) return table.rows.at(row).at(column);
    FAIL("no column " + title);
    return {};
}

std::string notes_of(const Table& table) {
    std::string text;
    for (const std::string& note : table.notes) text += note + "\n";
    return text;
}

}  // namespace

TEST_CASE("an imported row has what is stated of it, marked, and neither seeds nor ratios") {
    const Table table = comparison_table(imported_beside_trained(), {});
    REQUIRE(table.rows.size() == 2);
    CHECK(cell_of(table, 1, "recipe").text == "gpt2 (imported)");
    for (const char* title : {"seeds", "steps", "unique\ntokens", "consumed\ntokens", "tokens\nper s"})
        CHECK(cell_of(table, 1, title).text == "-");
    const Cell tokens = cell_of(table, 1, "input\ntokens");
    CHECK(tokens.text == "9.00G");
    CHECK(tokens.stated);
    CHECK(tokens.aside.empty());
    CHECK(tokens.trace.empty());
    CHECK(cell_of(table, 1, "FLOPs").text == "2.00E");
    CHECK(cell_of(table, 1, "train\ntime").text == "1d06h");
    CHECK(*cell_of(table, 1, "train\ntime").value == 108000);
    CHECK(cell_of(table, 1, "cost").text == "$44000.00");
    CHECK_FALSE(cell_of(table, 0, "cost").stated);
    CHECK(cell_of(table, 0, "cost").text == "$2.00 1.00x");
    CHECK(table.rows[1].back().text == "2.500");
    CHECK_FALSE(table.rows[1].back().stated);
    CHECK_THAT(notes_of(table),
               ContainsSubstring("Imported, not trained here: gpt2: GPT-2 of Hugging Face, from models/gpt2 (sha256 "
                                 "aaaaaaaaaaaa)") &&
                   ContainsSubstring("‡ As stated in the sweep's file, not measured: gpt2: its card.") &&
                   ContainsSubstring("Seeds: 2 a row.") && ContainsSubstring("schedules reached their ends"));
    CHECK_THAT(notes_of(table), !ContainsSubstring("no price") && !ContainsSubstring("unknown for some"));
}

TEST_CASE("every format marks stated values") {
    const Table table = comparison_table(imported_beside_trained(), {});
    CHECK_THAT(render_terminal(table, 0), ContainsSubstring("9.00G ‡"));
    CHECK_THAT(render_markdown(table), ContainsSubstring("9.00G ‡"));
    CHECK_THAT(render_latex(table), ContainsSubstring("9.00G $\\ddagger$"));
    CHECK_THAT(render_html(table),
               ContainsSubstring("<td title=\"as stated in the sweep&#39;s file, not measured\">9.00G ‡<"));
    const std::string csv = render_csv(table);
    CHECK_THAT(csv, ContainsSubstring(",stated\r\n") &&
                        ContainsSubstring("input tokens; FLOPs; train time (s); cost (USD)\r\n") &&
                        ContainsSubstring("9000000000"));
    const Json json = Json::parse(render_json(table));
    std::size_t stated = 0;
    for (const Json& row : json.at("rows"))
        for (const Json& cell : row) stated += cell.value("stated", false);
    CHECK(stated == 4);
    const Table plain = comparison_table(a_sweep_of({a_finished_trial("plain", "{}", 1, 2.4)}), {});
    CHECK_THAT(render_csv(plain), !ContainsSubstring("stated"));
    CHECK_THAT(render_terminal(plain, 0), !ContainsSubstring("‡"));
}

TEST_CASE("what nobody states is a dash, and then nothing is marked") {
    Trial trial = an_imported_trial();
    trial.imported = results_db::ImportedModel{"m", "llm.c", "b", 0, 0, 0, 0, "unused"};
    const Table table = comparison_table(a_sweep_of({a_finished_trial("plain", "{}", 1, 2.4), trial}), {});
    for (const char* title : {"input\ntokens", "FLOPs", "train\ntime", "cost"})
        CHECK(cell_of(table, 1, title).text == "-");
    CHECK_THAT(notes_of(table), !ContainsSubstring("‡") && ContainsSubstring("llm.c"));
    CHECK_THAT(render_trial(trial), !ContainsSubstring("Stated"));
}

TEST_CASE("nothing is compared with an imported row") {
    SweepAbout about;
    about.baseline = "gpt2";
    const Table table = comparison_table(imported_beside_trained(), about);
    CHECK(cell_of(table, 0, "input\ntokens").text == "1.00k");
    CHECK(cell_of(table, 0, "cost").text == "$2.00");
    CHECK_THAT(notes_of(table), ContainsSubstring("No ratios: recipe gpt2 is imported"));
    // Where nobody chose, the first recipe that was trained is the baseline.
    const auto mixed = a_sweep_of({an_imported_trial(), a_finished_trial("plain", "{}", 1, 2.4)});
    CHECK(baseline_recipe(rows_of(mixed), "", "quick") == "plain");
    const auto only = a_sweep_of({an_imported_trial()});
    CHECK(baseline_recipe(rows_of(only), "", "quick") == "gpt2");
    CHECK_THAT(notes_of(comparison_table(only, {})),
               ContainsSubstring("no row was trained") && !ContainsSubstring("Cost:"));
}

TEST_CASE("an imported row in other tables: each trial, status, one trial, stages, quality") {
    const Results sweep = imported_beside_trained();
    const Table trials = per_seed_table(sweep);
    CHECK(cell_of(trials, 2, "seed").text == "-");
    CHECK(cell_of(trials, 2, "input\ntokens").stated);
    CHECK(cell_of(trials, 2, "device\ntime").text == "-");
    Trial waiting = an_imported_trial(), partly = an_imported_trial();
    waiting.state = "pending";
    partly.asked = {{"validation", 0, "k", true}, {"lambada", 0, "l", false}};
    const Table status = status_table(a_sweep_of({an_imported_trial(), waiting, partly}), {});
    CHECK(status.rows[0][2].text == "imported");
    CHECK(status.rows[1][2].text == "pending (imported)");
    CHECK(status.rows[2][2].text == "imported, 1 of 2 evaluated");
    const std::string shown = render_trial(sweep.trials[2]);
    CHECK_THAT(shown, ContainsSubstring("GPT-2 of Hugging Face") && ContainsSubstring(std::string(64, 'a')) &&
                          ContainsSubstring("none: the model is imported") && ContainsSubstring("$44000.00") &&
                          ContainsSubstring("its card"));
    Results staged = sweep;
    for (Trial& trial : staged.trials) trial.stage = "a";
    CHECK_THAT(stage_costs_note(staged), ContainsSubstring("a 2 trainings") && ContainsSubstring("$4.00"));
    const auto measured = measured_rows(sweep, {});
    REQUIRE(measured.size() == 1);
    CHECK(measured.front().name == "plain");
}
