// Published tables beside measured values.

#include "reporting/analysis/published/published.h"

#include <cmath>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "base/json.h"
#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/scores/suite_average.h"
#include "results_db/row_name.h"
#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/refusal.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/table_parts.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::reporting;

namespace {

PublishedTable combined() {
    return read_published_table(DEFT_SOURCE_DIR "/reporting/paper/data_efficiency_gpt_combined.toml");
}

std::string wrong_table(const std::string& text) {
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "t.toml";
    write_file_atomically(file, text);
    return test::refusal([&] { read_published_table(file); });
}

Trial scored(Trial trial, double a, double b) {
    trial.scores.push_back(a_score("a", "acc", a));
    trial.scores.push_back(a_score("b", "acc", b));
    return trial;
}

}  // namespace

TEST_CASE("a printed number represents all values that round to it", "[bare]") {
    const PrintedNumber number = parse_printed("43.6", {});
    CHECK(number.text == "43.6");
    CHECK(number.value == 43.6);
    CHECK(number.half_unit == Approx(0.05));
    CHECK(parse_printed("260", {}).half_unit == 0.5);
    CHECK(parse_printed("87.290", {}).half_unit == Approx(0.0005));
    CHECK(parse_printed("-0.5", {}).value == -0.5);
    for (const char* bad : {"", "-", "43.", ".5", "4e1", "43,6", "43.6%", " 43.6", "inf", "4.3.6", "--1"})
        CHECK_THROWS_AS(parse_printed(bad, {}), Error);
}

TEST_CASE("the combined GPT-3 table is whole", "[bare]") {
    const PublishedTable table = combined();
    CHECK(table.columns.size() == 3);
    CHECK(table.rows.size() == 8);
    const PublishedRow* both = table.find("CL+random-LTD", 0.5);
    REQUIRE(both != nullptr);
    CHECK(both->find("hours")->number.text == "130");
    CHECK(both->find("zero_shot")->number.text == "42.8");
    CHECK(both->find("ten_shot")->number.text == "44.0");
    CHECK(table.full_budget("baseline")->find("zero_shot")->number.text == "42.5");
    CHECK(table.find("CL", 0.25) == nullptr);
    CHECK(table.find("CL", 0.4999) != nullptr);
    CHECK(table.find("CL", 0.499) == nullptr);
    CHECK(results_db::same_budget(0.667, 2.0 / 3));
    CHECK(!results_db::same_budget(0.667, 0.67));
}

TEST_CASE("published tables are read strictly", "[bare]") {
    const std::string head = "paper = 'p'\nsource = 's'\nlabel = 'l'\nscale = 'x'\n";
    const std::string column =
        "[[column]]\nkey = 'h'\ntitle = 't'\nunit = 'h'\nbetter = 'lower'\nmeasures = 'train hours'\n";
    const std::string row = "[[row]]\ncase = 'a'\nbudget_fraction = 1.0\nvalues = { h = '5' }\n";
    CHECK(wrong_table(head + column + row) == "accepted");
    CHECK_THAT(wrong_table(head + column + row + row),
               ContainsSubstring("a row with that recipe and budget already exists"));
    CHECK_THAT(wrong_table(head + column + column + row), ContainsSubstring("already exists"));
    CHECK_THAT(wrong_table(head + row), ContainsSubstring("[[column]]"));
    CHECK_THAT(wrong_table(head + column), ContainsSubstring("[[row]]"));
    CHECK_THAT(wrong_table(head + "more = 1\n" + column + row), ContainsSubstring("more"));
    CHECK_THAT(wrong_table(head + column + "[[row]]\ncase = 'a'\nbudget_fraction = 1.5\nvalues = { h = '5' }\n"),
               ContainsSubstring("(0, 1]"));
    CHECK_THAT(wrong_table(head + column + "[[row]]\ncase = 'a'\nbudget_fraction = 1.0\nvalues = { h = 'five' }\n"),
               ContainsSubstring("t.toml:14") && ContainsSubstring("'five'"));
    CHECK_THAT(wrong_table(head + column + "[[row]]\ncase = 'a'\nbudget_fraction = 1.0\n"),
               ContainsSubstring("a at 100% has no value of column h"));
    CHECK_THAT(
        wrong_table(head + "[[column]]\nkey = 'h'\ntitle = 't'\nunit = 'h'\nbetter = 'lower'\nmeasures = 'fun'\n"),
        ContainsSubstring("'fun'") && ContainsSubstring("train hours"));
}

TEST_CASE("a cell has its spread, its seeds and whether it was verified; a gap has its reason", "[bare]") {
    const std::string head = "paper = 'p'\nsource = 's'\nlabel = 'l'\nscale = 'x'\n";
    const std::string column =
        "[[column]]\nkey = 'a'\ntitle = 't'\nunit = '%'\nbetter = 'higher'\nmeasures = 'task:lambada acc'\nseeds = "
        "5\naggregate = 'median'\n";
    const std::string spread = "spread_kind = 'standard deviation'\n";
    const std::string row = "[[row]]\ncase = 'x'\nbudget_fraction = 1.0\n";
    const auto with = [&](const std::string& rest, const std::string& more = "") {
        return wrong_table(head + column + more + row + rest);
    };
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "t.toml";
    write_file_atomically(file, head + column + spread + row +
                                    "values = { a = { printed = '87.3', spread = '0.2', seeds = 3 } }\n"
                                    "[[row]]\ncase = 'y'\nbudget_fraction = 1.0\nverified = false\n"
                                    "reason = 'not seen'\nvalues = { a = '1' }\n"
                                    "[[row]]\ncase = 'v'\nbudget_fraction = 1.0\nverified = false\n"
                                    "reason = 'not seen'\nvalues = { a = { printed = '1', verified = true } }\n"
                                    "[[row]]\ncase = 'z'\nbudget_fraction = 1.0\nmissing = { a = 'cut off' }\n");
    const PublishedTable table = read_published_table(file);
    CHECK(table.columns[0].aggregate == "median");
    CHECK(table.columns[0].spread_kind == "standard deviation");
    const PublishedCell& cell = *table.rows[0].find("a");
    CHECK(cell.number.text == "87.3");
    CHECK(cell.spread->text == "0.2");
    CHECK(cell.seeds == 3);
    CHECK(cell.doubt.empty());
    CHECK(table.rows[1].find("a")->doubt == "not seen");
    CHECK(table.rows[1].find("a")->seeds == 5);
    CHECK(table.rows[2].find("a")->doubt.empty());
    CHECK(table.rows[3].find("a") == nullptr);
    CHECK(table.rows[3].missing.front().second == "cut off");
    CHECK_THAT(with("values = { a = { printed = '1', spread = '0.1' } }\n"), ContainsSubstring("spread is of no kind"));
    CHECK_THAT(with("values = { a = { printed = '1', spread = 'x' } }\n", spread), ContainsSubstring("'x'"));
    CHECK_THAT(with("values = { a = { spread = '1' } }\n"), ContainsSubstring("row.values.a.printed is missing"));
    CHECK_THAT(with("values = { a = { printed = '1', seeds = 0 } }\n"), ContainsSubstring("at least 1"));
    CHECK_THAT(with("values = { a = { printed = '1', verified = false } }\n"), ContainsSubstring("reason is missing"));
    CHECK_THAT(with("values = { a = { printed = '1', verified = false, reason = '' } }\n"),
               ContainsSubstring("is empty"));
    CHECK_THAT(with("values = { a = { printed = '1', reason = 'r' } }\n"), ContainsSubstring("not verified"));
    CHECK_THAT(with("values = { a = { printed = '1', verified = true, reason = 'r' } }\n"),
               ContainsSubstring("not verified"));
    CHECK_THAT(with("values = { a = '1' }\nmissing = { a = 'r' }\n"), ContainsSubstring("a reason why it has none"));
    CHECK_THAT(with("missing = { a = '' }\n"), ContainsSubstring("row.missing.a is empty"));
    CHECK_THAT(with("values = 3\n"), ContainsSubstring("row.values must be a table"));
    CHECK_THAT(with("values = { a = '1', b = '2' }\n"), ContainsSubstring("unknown key row.values.b"));
    CHECK_THAT(with("values = { a = '1' }\nmissing = { b = 'r' }\n"), ContainsSubstring("unknown key row.missing.b"));
}

TEST_CASE("a column says what measures it, or why nothing does", "[bare]") {
    const std::string head =
        "paper = 'p'\nsource = 's'\nlabel = 'l'\nscale = 'x'\n[[column]]\nkey = 'h'\ntitle = 't'\n";
    const std::string row = "[[row]]\ncase = 'a'\nbudget_fraction = 1.0\nvalues = { h = '5' }\n";
    const auto with = [&](const std::string& rest) { return wrong_table(head + rest + row); };
    CHECK(with("unit = 'h'\nbetter = 'lower'\nnot_measured = 'why'\n") == "accepted");
    CHECK_THAT(with("unit = 'h'\nbetter = 'lower'\n"), ContainsSubstring("one of them must be there"));
    CHECK_THAT(with("unit = 'h'\nbetter = 'lower'\nmeasures = 'train hours'\nnot_measured = 'why'\n"),
               ContainsSubstring("one of them must be there"));
    CHECK_THAT(with("unit = 'h'\nbetter = 'higher'\nmeasures = 'train hours'\n"),
               ContainsSubstring("'train hours' is better lower"));
    CHECK_THAT(with("unit = ''\nbetter = 'lower'\nmeasures = 'train hours'\n"), ContainsSubstring("unit is empty"));
    CHECK_THAT(with("unit = 'h'\nbetter = 'less'\nmeasures = 'train hours'\n"), ContainsSubstring("lower, higher"));
}

namespace {

// Two rows of BERT, of which one is remembered alone.
Table of_bert() {
    Trial base = a_finished_trial("baseline", kFullBudget, 1, 3, 20000);
    Trial dropped = a_finished_trial("random-LTD", kFullBudget, 1, 3, 10000);
    base.scores.push_back(a_score("glue_sst2", "acc", 0.8));
    dropped.scores.push_back(a_score("glue_sst2", "acc", 0.85));
    Trial both = a_finished_trial("CL", kFullBudget, 1, 3, 10000);
    both.scores.push_back(a_score("glue_sst2", "acc", 0.85));
    SweepAbout about{"baseline", "smoke", "", ""};
    about.published = read_published_table(DEFT_SOURCE_DIR "/reporting/paper/data_efficiency_bert_combined.toml");
    return comparison_table(a_sweep_of({base, dropped, both}), about);
}

const char* const kWhy = "remembered from version 3 of the paper, whose text could not be read";

}  // namespace

TEST_CASE("what is not verified is marked, and so is what is counted with it", "[bare]") {
    const Table table = of_bert();
    const auto doubt = [&](std::size_t row, const char* title) { return table.rows[row][column(table, title)].doubt; };
    const char* hours = "train time\n(published)\n64 V100";
    const char* glue = "GLUE average\n(published)\n% ↑, 8 tasks";
    const char* difference = "GLUE average\nagainst 100% baseline\n(published), points";
    CHECK(doubt(0, hours) == kWhy);
    CHECK(doubt(0, glue).empty());
    CHECK(doubt(0, difference).empty());
    CHECK(doubt(1, glue) == kWhy);
    CHECK(doubt(1, difference) == kWhy);
    CHECK(doubt(2, glue).empty());
    CHECK(doubt(2, hours).empty());
    CHECK(cell(table, 2, hours) == "-");
    CHECK(cell(table, 1, hours) == "302h 1.16x");
    CHECK(cell(table, 1, difference) == "+0.88");
    CHECK(cell(table, 0, "GLUE average\nmeasured\n% ↑, 1 task") == "80.00");
    const std::string notes = all_notes(table);
    CHECK_THAT(notes, ContainsSubstring(std::string("§ Not verified: train time of baseline at 100%, train time of "
                                                    "random-LTD at 100%, GLUE average of random-LTD at 100%: ") +
                                        kWhy + "."));
    CHECK_THAT(notes, ContainsSubstring("Not published: train time of CL at 100%: what the paper prints could not be"));
    CHECK_THAT(notes, ContainsSubstring("Published by 1 seed: train time, GLUE average."));
    CHECK_THAT(notes, ContainsSubstring("GLUE average, published: median of 5 fine-tuning seeds."));
}

TEST_CASE("every format marks what is not verified", "[bare]") {
    const Table table = of_bert();
    CHECK_THAT(render_terminal(table, 0), ContainsSubstring("302h 1.16x §") && ContainsSubstring("88.17 §") &&
                                              ContainsSubstring("87.29 ") && !ContainsSubstring("87.29 §") &&
                                              ContainsSubstring("§ Not verified"));
    CHECK_THAT(render_markdown(table), ContainsSubstring("88.17 § |") && ContainsSubstring("- § Not verified"));
    CHECK_THAT(render_latex(table), ContainsSubstring("88.17 \\S{}") && ContainsSubstring("\\S{} Not verified"));
    CHECK_THAT(
        render_html(table),
        ContainsSubstring(std::string("<td class=\"pub doubt\" title=\"not verified: ") + kWhy + "\">88.17 §<") &&
            ContainsSubstring("<td class=\"pub\">87.29<") && ContainsSubstring("<li>§ Not verified"));
    const std::string csv = render_csv(table);
    CHECK_THAT(csv, ContainsSubstring(",unverified\r\n"));
    CHECK_THAT(csv, ContainsSubstring(std::string("\"train time (published) 64 V100 (h): ") + kWhy +
                                      "; GLUE average (published) %, 8 tasks: " + kWhy));
    CHECK(csv.ends_with("0.85,\r\n"));  // of the last row everything shown is verified
    const Json json = Json::parse(render_json(table));
    const std::size_t at = column(table, "GLUE average\n(published)\n% ↑, 8 tasks");
    CHECK(json["rows"][1][at]["verified"] == false);
    CHECK(json["rows"][1][at]["reason"] == kWhy);
    CHECK(!json["rows"][0][at].contains("verified"));
}

TEST_CASE("the heading of differences names the budget of the baseline that there is", "[bare]") {
    const auto sweep = a_sweep_of({scored(a_finished_trial("baseline", kHalfBudget, 1, 3, 10000), 0.5, 0.3),
                                   scored(a_finished_trial("CL", kHalfBudget, 1, 3, 10000), 0.4, 0.42)});
    SweepAbout about{"baseline", "smoke", "", ""};
    about.published = combined();
    const Table table = comparison_table(sweep, about);
    CHECK(cell(table, 1, "average 0-shot\nagainst 50% baseline\nmeasured, points") == "+1.0");
}

TEST_CASE("published and measured columns side by side", "[bare]") {
    const auto sweep = a_sweep_of({scored(a_finished_trial("baseline", kFullBudget, 1, 3, 20000), 0.5, 0.3),
                                   scored(a_finished_trial("baseline", kFullBudget, 2, 3, 20000), 0.5, 0.5),
                                   scored(a_finished_trial("CL", kHalfBudget, 1, 3, 10000), 0.4, 0.42),
                                   scored(a_finished_trial("mine", kHalfBudget, 1, 3, 10000), 0.4, 0.4)});
    SweepAbout about{"baseline", "smoke", "", ""};
    about.published = combined();
    const Table table = comparison_table(sweep, about);
    const char* measured = "average 0-shot\nmeasured\n% ↑, 2 tasks";
    const char* published = "average 0-shot\n(published)\n% ↑, 19 tasks";
    CHECK(cell(table, 0, measured) == "45.0 ± 7.1");
    CHECK(cell(table, 0, published) == "42.5");
    CHECK(cell(table, 1, measured) == "41.0");
    CHECK(cell(table, 1, published) == "42.6");
    CHECK(cell(table, 2, published) == "-");
    CHECK(cell(table, 1, "average 0-shot\nagainst 100% baseline\nmeasured, points") == "-4.0");
    CHECK(cell(table, 1, "average 0-shot\nagainst 100% baseline\n(published), points") == "+0.1");
    CHECK(cell(table, 0, "average 0-shot\nagainst 100% baseline\n(published), points") == "0.0");
    CHECK(cell(table, 0, "train time\n(published)\n64 V100") == "260h 1.00x");
    CHECK(cell(table, 1, "train time\n(published)\n64 V100") == "129h 0.50x");
    for (std::size_t i = 0; i + 1 < table.columns.size(); ++i)
        if (table.columns[i].title == "train\ntime")
            CHECK(table.columns[i + 1].title == "train time\n(published)\n64 V100");
    std::string notes;
    for (const std::string& note : table.notes) notes += note + "\n";
    CHECK_THAT(notes,
               ContainsSubstring(
                   "Not comparable: measured values (smoke: proxy scale) with published ones (GPT-3 1.3B, 300B"));
    CHECK_THAT(notes, ContainsSubstring("unweighted mean of 2 tasks x 100: a, b."));
    CHECK_THAT(notes, ContainsSubstring("not measured here: average 10-shot."));
    CHECK_THAT(notes, ContainsSubstring("Published rows without a recipe here: CL at 100%, random-LTD at 100%"));
    // A trial that lacks a task says so.
    auto partial = sweep;
    partial.trials[2].scores.pop_back();
    CHECK(cell(comparison_table(partial, about), 1, measured) == "40.0 [1 of 2 tasks]");
}

namespace {

// The comparison of those trials, beside a published table of the baseline with those columns and values.
Table beside(const std::string& columns, const std::string& values, std::vector<Trial> trials) {
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "t.toml";
    write_file_atomically(file, "paper = 'p'\nsource = 's'\nlabel = 'l'\nscale = 'x'\n" + columns +
                                    "[[row]]\ncase = 'baseline'\nbudget_fraction = 1.0\n" + values);
    SweepAbout about{"baseline", "smoke", "", ""};
    about.published = read_published_table(file);
    return comparison_table(a_sweep_of(std::move(trials)), about);
}

std::string column_text(const std::string& key, const std::string& rest) {
    return "[[column]]\nkey = '" + key + "'\ntitle = '" + key + "'\n" + rest;
}

}  // namespace

TEST_CASE("a column of one task keeps its own unit, with the spread that the paper prints", "[bare]") {
    std::vector<Trial> trials;
    for (const double accuracy : {0.5, 0.6, 0.9}) {
        trials.push_back(a_finished_trial("baseline", kFullBudget, static_cast<std::int64_t>(trials.size()) + 1, 3));
        trials.back().scores.push_back(a_score("lambada", "acc", accuracy));
        trials.back().scores.push_back(a_score("piqa", "acc", accuracy));
    }
    trials.push_back(a_finished_trial("CL", kFullBudget, 1, 2));
    trials.back().scores.push_back(a_score("lambada", "acc", 0.8));
    const Table table = beside(
        column_text("a",
                    "unit = '%'\nbetter = 'higher'\nmeasures = 'task:lambada acc seeds=median'\n"
                    "spread_kind = 'standard deviation'\n") +
            column_text("b", "unit = 'fraction'\nbetter = 'higher'\nmeasures = 'task:lambada acc'\n") +
            column_text("c", "unit = 'perplexity'\nbetter = 'lower'\nmeasures = 'task:validation perplexity'\n") +
            column_text("d", "unit = '%'\nbetter = 'higher'\nmeasures = 'task:boolq acc'\n") +
            column_text("e", "unit = 'x'\nbetter = 'higher'\nnot_measured = 'it is a ratio'\n"),
        "values = { a = { printed = '63.7', spread = '0.4' }, b = '0.6365', c = '16.11', d = '60', e = '5' }\n",
        trials);
    CHECK(cell(table, 0, "a\nmeasured\n% ↑") == "60.0 ± 20.8");
    CHECK(cell(table, 0, "a\n(published)\n% ↑") == "63.7 ± 0.4");
    CHECK(cell(table, 1, "a\nagainst 100% baseline\nmeasured, points") == "+20.0");
    CHECK(cell(table, 0, "b\nmeasured\nfraction ↑") == "0.667 ± 0.208");
    CHECK(cell(table, 1, "b\nagainst 100% baseline\nmeasured, fraction") == "+0.1333");
    CHECK(cell(table, 0, "c\nmeasured\nperplexity ↓") == "20.09 ± 0.000");
    CHECK(cell(table, 1, "c\nmeasured\nperplexity ↓") == "7.389");
    CHECK(cell(table, 1, "c\nagainst 100% baseline\nmeasured, perplexity") == "-12.70");
    const std::string notes = all_notes(table);
    CHECK_THAT(notes, ContainsSubstring("a, published: ± standard deviation."));
    CHECK_THAT(notes, ContainsSubstring("not measured here: d."));
    CHECK_THAT(notes, ContainsSubstring("not measured by deft: e: it is a ratio."));
}

TEST_CASE("a difference of what no row prints has three decimals", "[bare]") {
    std::vector<Trial> trials = {a_finished_trial("baseline", kFullBudget, 1, 3),
                                 a_finished_trial("CL", kFullBudget, 1, 2)};
    trials[0].scores.push_back(a_score("generation_time", "ms_per_token", 0.1));
    trials[1].scores.push_back(a_score("generation_time", "ms_per_token", 0.1114));
    const Table table = beside(
        column_text("a", "unit = 'ms/token'\nbetter = 'lower'\nmeasures = 'task:generation_time ms_per_token'\n"),
        "missing = { a = 'its digits could not be read' }\n", trials);
    CHECK(cell(table, 1, "a\nagainst 100% baseline\nmeasured, ms/token") == "+0.011");
}

TEST_CASE("at paper scale each score has a verdict against the printed one", "[bare]") {
    const std::string columns = column_text("a", "unit = '%'\nbetter = 'higher'\nmeasures = 'task:lambada acc'\n") +
                                column_text("s", "unit = '%'\nbetter = 'higher'\nmeasures = 'suite:moe average'\n");
    std::vector<Trial> trials;
    for (const double accuracy : {0.60, 0.61, 0.62}) {
        trials.push_back(a_finished_trial("baseline", kFullBudget, static_cast<std::int64_t>(trials.size()) + 1, 3));
        trials.back().parameters = 1'300'000'000;
        trials.back().scores.push_back(a_score("lambada", "acc", accuracy));
    }
    const auto at = [&](const char* printed, const char* scale) {
        const test::TemporaryFolder folder;
        const std::filesystem::path file = folder.path() / "t.toml";
        write_file_atomically(file, "paper = 'p'\nsource = 's'\nlabel = 'l'\nscale = 'x'\n" + columns +
                                        "[[row]]\ncase = 'baseline'\nbudget_fraction = 1.0\nvalues = { a = '" +
                                        printed + "', s = '61' }\n");
        SweepAbout about{"baseline", scale, "", ""};
        about.published = read_published_table(file);
        return comparison_table(a_sweep_of(trials), about);
    };
    const char* title = "a\nmeasured against\n(published)";
    CHECK(cell(at("61.5", "paper"), 0, title) == "agrees");
    CHECK(cell(at("70.5", "paper"), 0, title) == "worse");
    CHECK(cell(at("50.5", "paper"), 0, title) == "better");
    CHECK(cell(at("61.5", "paper"), 0, "s\nmeasured against\n(published)") == "not comparable");
    CHECK_THAT(all_notes(at("61.5", "paper")), ContainsSubstring("Measured against published: agrees where"));
    for (const Column& column : at("61.5", "proxy").columns) CHECK(column.title != title);
    trials[1].stale = "data: the training data has changed";
    CHECK(cell(at("61.5", "paper"), 0, title) == "stale");
    trials[0].last_point->step = 100;
    CHECK(cell(at("61.5", "paper"), 0, title) == "-");
}

TEST_CASE("nothing is measured against a baseline that does not count", "[bare]") {
    const std::string one_column = column_text("a", "unit = '%'\nbetter = 'higher'\nmeasures = 'task:lambada acc'\n");
    std::vector<Trial> trials = {a_finished_trial("baseline", kFullBudget, 1, 3),
                                 a_finished_trial("CL", kFullBudget, 1, 3)};
    for (Trial& trial : trials) trial.scores.push_back(a_score("lambada", "acc", 0.5));
    const char* title = "a\nagainst 100% baseline\nmeasured, points";
    CHECK(cell(beside(one_column, "values = { a = '60' }\n", trials), 1, title) == "0.0");
    trials[0].last_point->step = 100;
    CHECK(cell(beside(one_column, "values = { a = '60' }\n", trials), 1, title) == "-");
}

TEST_CASE("a published resource is printed beside the measured one", "[bare]") {
    Trial trial = a_finished_trial("baseline", kFullBudget, 1, 3);
    trial.usd = 3;
    const Table table =
        beside(column_text("speed", "unit = 'samples/s'\nbetter = 'higher'\nmeasures = 'throughput samples/s'\n") +
                   column_text("price", "unit = 'K USD'\nbetter = 'lower'\nmeasures = 'cost usd'\n"),
               "values = { speed = '70', price = '46.3' }\n", {trial});
    CHECK(cell(table, 0, "speed\n(published)") == "70 samples/s 1.00x");
    CHECK(cell(table, 0, "price\n(published)") == "46.3 K USD 1.00x");
    CHECK(column(table, "speed\n(published)") == column(table, "tokens\nper s") + 1);
    CHECK(column(table, "price\n(published)") == column(table, "cost") + 1);
}

TEST_CASE("a suite average by hand", "[bare]") {
    const std::vector<Score> scores = {a_score("boolq", "acc", 0.6),
                                       a_score("hellaswag", "acc", 0.9),
                                       a_score("hellaswag", "acc_norm", 0.3),
                                       a_score("wikitext", "word_perplexity", 50),
                                       a_score("mine", "acc_norm", 0.1),
                                       a_score("boolq", "acc", 0.8, 10),
                                       a_score("boolq", "gold_bits_per_byte", 2),
                                       a_score("record", "f1", 0.2)};
    const auto zero = suite_average(project_suite("data_efficiency"), scores, 0);
    REQUIRE(zero);
    CHECK(zero->tasks == std::vector<std::string>{"boolq", "hellaswag", "mine", "record"});
    CHECK(zero->percent == Approx((60 + 30 + 10 + 20) / 4.0));
    const auto ten = suite_average(project_suite("data_efficiency"), scores, 10);
    REQUIRE(ten);
    CHECK(ten->percent == Approx(80));
    CHECK(!suite_average(project_suite("data_efficiency"), scores, 5));
    CHECK(!suite_average(project_suite("data_efficiency"), {a_score("wikitext", "word_perplexity", 50)}, 0));
    CHECK(!suite_average(project_suite("data_efficiency"), {a_score("validation", "acc", 0.9)}, 0));
}

TEST_CASE("each split of a task counts in its suite", "[bare]") {
    std::vector<Score> scores = {a_score("glue_mnli", "acc", 0.8), a_score("glue_mnli", "acc", 0.6),
                                 a_score("glue_cola", "mcc", 0.4), a_score("glue_cola", "acc", 0.9)};
    scores[0].split = "matched";
    scores[1].split = "mismatched";
    const auto average = suite_average(project_suite("glue"), scores, 0);
    REQUIRE(average);
    CHECK(average->percent == Approx((80 + 60 + 40) / 3.0));
    CHECK(average->tasks == std::vector<std::string>{"glue_cola", "glue_mnli/matched", "glue_mnli/mismatched"});
}

TEST_CASE("the suite average leaves missing tasks out", "[bare]") {
    const std::map<std::string, const char*> metric_of = {
        {"hellaswag", "acc_norm"}, {"piqa", "acc_norm"},       {"arc_challenge", "acc_norm"},
        {"arc_easy", "acc_norm"},  {"openbookqa", "acc_norm"}, {"multirc", "acc_all"},
        {"record", "f1"}};
    golden::for_group("metrics.json", "macro_average", [&](const Json& c) {
        std::vector<Score> scores;
        for (std::size_t i = 0; i < c.at("values").size(); ++i) {
            const Json& value = c["values"][i];
            if (value.is_null()) continue;
            const std::string task =
                c.contains("order") ? c["order"][i].get<std::string>() : "task " + std::to_string(i);
            const auto metric = metric_of.find(task);
            scores.push_back(
                a_score(task.c_str(), metric == metric_of.end() ? "acc" : metric->second, value.get<double>() / 100));
        }
        const auto average = suite_average(project_suite("data_efficiency"), scores, 0);
        REQUIRE(average);
        CHECK(average->tasks.size() == scores.size());
        CHECK(average->percent == Approx(c.at("average").get<double>()).epsilon(1e-12));
        CHECK(round_significant(average->percent, 3) == c.at("printed").get<double>());
    });
    CHECK(!suite_average(project_suite("data_efficiency"), {}, 0));
}

TEST_CASE("rounding to significant digits goes by the exact binary value", "[bare]") {
    golden::for_group("metrics.json", "round_sig", [](const Json& c) {
        CHECK(round_significant(c.at("x").get<double>(), 3) == c.at("printed").get<double>());
    });
    CHECK(round_significant(12345, 3) == 12300);
    CHECK(round_significant(2.5, 1) == 2);  // a tie of the exact value goes to the even digit
    CHECK(std::isnan(round_significant(NAN, 3)));
    // Python gives these: round(43.25, 1), round(43.35, 1), round(0.12345, 3), round(9.996, 2), round(1234.5, -1).
    CHECK(round_significant(43.25, 3) == 43.2);
    CHECK(round_significant(43.35, 3) == 43.4);
    CHECK(round_significant(0.12345, 3) == 0.123);
    CHECK(round_significant(9.996, 3) == 10.0);
    CHECK(round_significant(1234.5, 3) == 1230);
    CHECK(significant(44, 3) == "44.0");
    CHECK(significant(100, 3) == "100");
    CHECK(significant(9.996, 3) == "10.0");
    CHECK(significant(0, 3) == "0.00");
    CHECK(significant(NAN, 3) == "NaN");
    CHECK(significant(0.00999, 3) == "0.00999");
    CHECK(significant(0.0099999, 3) == "0.0100");
    CHECK(significant(-1234.5, 3) == "-1230");
}

TEST_CASE("A table names the hardware of its times, or is refused with the place", "[bare]") {
    REQUIRE(combined().hardware);
    CHECK(combined().hardware->devices == 64);
    CHECK(combined().hardware->any_of == std::vector<std::string>{"V100"});
    const std::string head = "paper = 'p'\nsource = 's'\nlabel = 'l'\nscale = 'c'\n[hardware]\n";
    CHECK_THAT(wrong_table(head + "any_of = ['V100']\n"), ContainsSubstring("hardware.devices is missing"));
    CHECK_THAT(wrong_table(head + "devices = 0\nany_of = ['V100']\n"), ContainsSubstring("t.toml:6:11"));
    CHECK_THAT(wrong_table(head + "devices = 8\nany_of = []\n"),
               ContainsSubstring("t.toml:7:10") && ContainsSubstring("names no device"));
    CHECK_THAT(wrong_table(head + "devices = 8\nany_of = ['V100']\ndevice = 'V100'\n"), ContainsSubstring("t.toml:8:"));
}
