// Published tables beside measured values.

#include "reporting/published.h"

#include <cmath>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "reporting/comparison.h"
#include "reporting/published_columns.h"
#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/refusal.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/table_parts.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::reporting;
using results_db::ScoreRow;
using results_db::TrialRow;

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

TrialRow scored(TrialRow trial, double a, double b) {
    trial.scores.push_back(a_score("a", "acc", a));
    trial.scores.push_back(a_score("b", "acc", b));
    return trial;
}

}  // namespace

TEST_CASE("a printed number stands for all that round to it") {
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

TEST_CASE("the combined GPT-3 table is whole") {
    const PublishedTable table = combined();
    CHECK(table.columns.size() == 3);
    CHECK(table.rows.size() == 8);
    const PublishedRow* both = table.find("CL+random-LTD", 0.5);
    REQUIRE(both != nullptr);
    CHECK(both->find("hours")->text == "130");
    CHECK(both->find("zero_shot")->text == "42.8");
    CHECK(both->find("ten_shot")->text == "44.0");
    CHECK(table.full_budget("baseline")->find("zero_shot")->text == "42.5");
    CHECK(table.find("CL", 0.25) == nullptr);
}

TEST_CASE("published tables are read strictly") {
    const std::string head = "paper = 'p'\nsource = 's'\nlabel = 'l'\nscale = 'x'\n";
    const std::string column =
        "[[column]]\nkey = 'h'\ntitle = 't'\nunit = 'h'\nbetter = 'lower'\nmeasures = 'train_time'\n";
    const std::string row = "[[row]]\ncase = 'a'\nbudget_fraction = 1.0\nvalues = { h = '5' }\n";
    CHECK(wrong_table(head + column + row) == "accepted");
    CHECK_THAT(wrong_table(head + column + row + row),
               ContainsSubstring("a row of that case and budget is there already"));
    CHECK_THAT(wrong_table(head + column + column + row), ContainsSubstring("is there already"));
    CHECK_THAT(wrong_table(head + row), ContainsSubstring("[[column]]"));
    CHECK_THAT(wrong_table(head + column), ContainsSubstring("[[row]]"));
    CHECK_THAT(wrong_table(head + "more = 1\n" + column + row), ContainsSubstring("more"));
    CHECK_THAT(wrong_table(head + column + "[[row]]\ncase = 'a'\nbudget_fraction = 1.5\nvalues = { h = '5' }\n"),
               ContainsSubstring("(0, 1]"));
    CHECK_THAT(wrong_table(head + column + "[[row]]\ncase = 'a'\nbudget_fraction = 1.0\nvalues = { h = 'five' }\n"),
               ContainsSubstring("t.toml:14") && ContainsSubstring("'five'"));
    CHECK_THAT(wrong_table(head + column + "[[row]]\ncase = 'a'\nbudget_fraction = 1.0\n"),
               ContainsSubstring("values"));
    CHECK_THAT(
        wrong_table(head + "[[column]]\nkey = 'h'\ntitle = 't'\nunit = 'h'\nbetter = 'lower'\nmeasures = 'fun'\n"),
        ContainsSubstring("train_time, zero_shot_average"));
}

TEST_CASE("the heading of differences names the budget of the baseline that there is") {
    const auto sweep = a_sweep_of({scored(a_finished_trial("baseline", kHalfBudget, 1, 3, 10000), 0.5, 0.3),
                                   scored(a_finished_trial("CL", kHalfBudget, 1, 3, 10000), 0.4, 0.42)});
    SweepAbout about{"baseline", "smoke", "", ""};
    about.published = combined();
    const Table table = comparison_table(sweep, about);
    CHECK(cell(table, 1, "average 0-shot\nagainst 50% baseline\nmeasured, points") == "+1.0");
}

TEST_CASE("published and measured columns side by side") {
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
    CHECK_THAT(notes, ContainsSubstring("Published and measured values do not compare in absolute terms"));
    CHECK_THAT(notes, ContainsSubstring("unweighted mean of 2 tasks x 100: a, b."));
    CHECK_THAT(notes, ContainsSubstring("not measured here: average 10-shot."));
    CHECK_THAT(notes, ContainsSubstring("Published rows without a case here: CL at 100%, random-LTD at 100%"));
    // A trial that lacks a task says so.
    auto partial = sweep;
    partial.trials[2].scores.pop_back();
    CHECK(cell(comparison_table(partial, about), 1, measured) == "40.0 [1 of 2 tasks]");
}

TEST_CASE("a suite average by hand") {
    const std::vector<ScoreRow> scores = {a_score("boolq", "acc", 0.6),
                                          a_score("hellaswag", "acc", 0.9),
                                          a_score("hellaswag", "acc_norm", 0.3),
                                          a_score("wikitext", "word_perplexity", 50),
                                          a_score("mine", "acc_norm", 0.1),
                                          a_score("boolq", "acc", 0.8, 10),
                                          a_score("boolq", "gold_bits_per_byte", 2),
                                          a_score("record", "f1", 0.2)};
    const auto zero = suite_average(scores, 0);
    REQUIRE(zero);
    CHECK(zero->tasks == std::vector<std::string>{"boolq", "hellaswag", "mine", "record"});
    CHECK(zero->percent == Approx((60 + 30 + 10 + 20) / 4.0));
    const auto ten = suite_average(scores, 10);
    REQUIRE(ten);
    CHECK(ten->percent == Approx(80));
    CHECK(!suite_average(scores, 5));
    CHECK(!suite_average({a_score("wikitext", "word_perplexity", 50)}, 0));
}

TEST_CASE("the suite average leaves missing tasks out") {
    const std::map<std::string, const char*> metric_of = {
        {"hellaswag", "acc_norm"}, {"piqa", "acc_norm"},       {"arc_challenge", "acc_norm"},
        {"arc_easy", "acc_norm"},  {"openbookqa", "acc_norm"}, {"multirc", "acc_all"},
        {"record", "f1"}};
    golden::for_group("metrics.json", "macro_average", [&](const Json& c) {
        std::vector<ScoreRow> scores;
        for (std::size_t i = 0; i < c.at("values").size(); ++i) {
            const Json& value = c["values"][i];
            if (value.is_null()) continue;
            const std::string task =
                c.contains("order") ? c["order"][i].get<std::string>() : "task " + std::to_string(i);
            const auto metric = metric_of.find(task);
            scores.push_back(
                a_score(task.c_str(), metric == metric_of.end() ? "acc" : metric->second, value.get<double>() / 100));
        }
        const auto average = suite_average(scores, 0);
        REQUIRE(average);
        CHECK(average->tasks.size() == scores.size());
        CHECK(average->percent == Approx(c.at("average").get<double>()).epsilon(1e-12));
        CHECK(round_significant(average->percent, 3) == c.at("printed").get<double>());
    });
    CHECK(!suite_average({}, 0));
}

TEST_CASE("rounding to significant digits goes by the exact binary value") {
    golden::for_group("metrics.json", "round_sig", [](const Json& c) {
        CHECK(round_significant(c.at("x").get<double>(), 3) == c.at("printed").get<double>());
    });
    CHECK(round_significant(12345, 3) == 12300);
    CHECK(round_significant(2.5, 1) == 2);  // a tie of the exact value goes to the even digit
    CHECK(std::isnan(round_significant(NAN, 3)));
    // Those are Python's: round(43.25, 1), round(43.35, 1), round(0.12345, 3), round(9.996, 2), round(1234.5, -1).
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
