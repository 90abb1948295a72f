// The first screen of a sweep, whose differences and verdicts are worked out by hand.

#include "reporting/views/screen/screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "reporting/text.h"
#include "reporting/views/screen/screen_rows.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft::reporting;
using deft::reporting::Results;
using deft::reporting::Trial;

namespace {

// Bits per byte of three seeds: value - 0.01, value, value + 0.01.
void add_row(std::vector<Trial>& trials, const char* recipe, const char* axes, double bits, std::int64_t seeds = 3,
             std::int64_t tokens = 1000) {
    for (std::int64_t seed = 1; seed <= seeds; ++seed) {
        Trial trial = a_finished_trial(recipe, axes, seed, bits);
        trial.last_point->layer_tokens = tokens;
        trial.scores.push_back(a_validation("bits_per_byte", bits + 0.01 * static_cast<double>(seed - 2)));
        trial.scores.back().unit = "bits/byte";
        trials.push_back(trial);
    }
}

Results four_recipes(std::int64_t seeds) {
    std::vector<Trial> trials;
    add_row(trials, "baseline", kFullBudget, 1.00, seeds);
    add_row(trials, "lower", kFullBudget, 0.90, seeds);
    add_row(trials, "higher", kFullBudget, 1.10, seeds);
    add_row(trials, "equal", kFullBudget, 1.01, seeds);
    return a_sweep_of(std::move(trials));
}

ReportData data_of(Results sweep) {
    ReportData data;
    data.sweep = std::move(sweep);
    data.about.points = "quick.toml";
    data.about.command = "deft run quick.toml";
    return data;
}

std::string screen_text(const ReportData& data, int width = 200) {
    return render_screen(screen_of(data, {"quick", "page.html", ""}, width), width);
}

std::size_t lines_in(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

int widest(const std::string& text) {
    int most = 0;
    for (const std::string_view line : lines_of(text)) most = std::max(most, display_width(line));
    return most;
}

}  // namespace

TEST_CASE("a row of the first screen has its difference to the baseline, the interval and a verdict") {
    const Results sweep = four_recipes(3);
    const ScreenRows rows = screen_rows(sweep, {});
    REQUIRE(rows.rows.size() == 4);
    CHECK(rows.rows[0].is_baseline);
    CHECK_FALSE(rows.rows[0].difference);
    // Welch: standard error sqrt(2 * 0.0001 / 3) = 0.0081650, 4 degrees of freedom, t = 2.776445.
    REQUIRE((rows.rows[1].difference && rows.rows[1].difference->interval));
    CHECK(rows.rows[1].difference->value == Approx(-0.1));
    CHECK(rows.rows[1].difference->interval->low == Approx(-0.122669).epsilon(1e-5));
    CHECK(rows.rows[1].difference->interval->high == Approx(-0.077331).epsilon(1e-5));
    CHECK(rows.rows[1].verdict == RowVerdict::better);
    CHECK(rows.gain_of(rows.rows[1]) == Approx(0.1));
    CHECK(rows.rows[2].verdict == RowVerdict::worse);
    CHECK(rows.rows[3].verdict == RowVerdict::inconclusive);

    const std::string text = screen_text(data_of(sweep));
    CHECK_THAT(text, ContainsSubstring("quick: 12 of 12 trials done\n") &&
                         ContainsSubstring("-0.100 [-0.123, -0.077]  better"));
    CHECK_THAT(text, ContainsSubstring(
                         "Answer   at equal tokens, better than the baseline: lower (-0.100); worse: higher (+0.100); "
                         "inconclusive: equal (+0.010).\n"));
    CHECK_THAT(text, ContainsSubstring("Page     page.html\nMore     deft report quick --full\n"));
}

TEST_CASE("below three seeds the first screen says how many trials a verdict needs") {
    const std::string text = screen_text(data_of(four_recipes(2)));
    CHECK_THAT(text, ContainsSubstring("Answer   inconclusive: 2 seeds per recipe, a test needs 3. Add 4 trials: "
                                       "deft run quick.toml --seeds 3\n"));
    CHECK_THAT(text, ContainsSubstring("So far   lowest validation bits per byte at equal tokens: lower.") &&
                         !ContainsSubstring("better\n"));
}

TEST_CASE("the first screen names rows at fewer tokens, and what reaches the baseline there") {
    std::vector<Trial> trials;
    add_row(trials, "baseline", kFullBudget, 1.00, 2, 1000);
    add_row(trials, "baseline", kHalfBudget, 1.30, 2, 500);
    add_row(trials, "both", kHalfBudget, 0.95, 2, 500);
    const Results sweep = a_sweep_of(trials);
    CHECK_THAT(screen_text(data_of(sweep)),
               ContainsSubstring("both at 50% reaches the baseline on all tokens, by its mean."));
    // The difference at half of the tokens is to the baseline there: 0.95 - 1.30.
    CHECK(screen_rows(sweep, {}).rows[2].difference->value == Approx(-0.35));

    // A recipe at half of the tokens alone compares with the baseline on all of them, and says so.
    std::vector<Trial> other;
    add_row(other, "baseline", kFullBudget, 1.00, 3, 1000);
    add_row(other, "both", kHalfBudget, 1.20, 3, 500);
    CHECK_THAT(screen_text(data_of(a_sweep_of(other))), ContainsSubstring("Answer   worse: both at 50% (+0.200).\n"));
}

TEST_CASE("a row has its budget in its label where the table has no tokens for it") {
    std::vector<Trial> trials;
    add_row(trials, "baseline", kFullBudget, 1.00, 3, 1000);
    add_row(trials, "both", kFullBudget, 0.90, 3, 1000);
    add_row(trials, "both", kHalfBudget, 0.95, 3, 500);
    Results sweep = a_sweep_of(trials);
    CHECK_THAT(screen_text(data_of(sweep)), ContainsSubstring("\nboth ") && !ContainsSubstring("both at 50%  "));
    CHECK_THAT(screen_text(data_of(sweep), 50),
               ContainsSubstring("\nboth at 100%  ") && ContainsSubstring("\nboth at 50%  "));
    for (Trial& trial : sweep.trials)
        if (trial.recipe == "both" && trial.axes_json == kHalfBudget) {
            trial.state = "pending";
            trial.last_point.reset();
        }
    CHECK_THAT(screen_text(data_of(sweep)), ContainsSubstring("\nboth at 50%  ") && !ContainsSubstring("both at 100%"));
}

TEST_CASE("a row below the validity thresholds has no verdict on the first screen") {
    Results sweep = four_recipes(3);
    const auto cut_short = [&](const std::string& recipe) {
        for (Trial& trial : sweep.trials)
            if (trial.recipe == recipe) trial.last_point->step = 150;
    };
    cut_short("lower");
    const std::string text = screen_text(data_of(sweep));
    INFO(text);
    CHECK_THAT(text, ContainsSubstring("(0.900)") && ContainsSubstring("not measured\n") &&
                         ContainsSubstring("worse: higher (+0.100); inconclusive: equal (+0.010); "
                                           "not measured: lower (-0.100).\n"));
    // A baseline that is too short takes the verdicts of all rows with it.
    cut_short("baseline");
    CHECK_THAT(screen_text(data_of(sweep)),
               ContainsSubstring("Answer   none: no row is above the validity thresholds"));
    // Two seeds of such rows lead nothing.
    Results two = four_recipes(2);
    for (Trial& trial : two.trials) trial.last_point->step = 150;
    CHECK_THAT(screen_text(data_of(two)), !ContainsSubstring("So far"));
}

TEST_CASE("failed trials and trials that have not run are on the first screen with the command that continues") {
    Results sweep = four_recipes(3);
    sweep.trials[3].state = "failed";
    sweep.trials[3].fail_class = "nan";
    sweep.trials[4].state = "pending";
    const std::string text = screen_text(data_of(sweep));
    CHECK_THAT(text,
               ContainsSubstring("quick: 10 of 12 trials done, 1 failed\n") && ContainsSubstring("Missing  lower") &&
                   ContainsSubstring("(nan) failed; 1 trial has not run. To run the rest: deft run quick.toml\n") &&
                   ContainsSubstring(
                       "worse: higher (+0.100); inconclusive: equal (+0.010); too few seeds: lower (-0.090).\n"));
    // The same configuration diverges again.
    sweep.trials[4].state = "failed";
    sweep.trials[4].fail_class = "nan";
    CHECK_THAT(screen_text(data_of(sweep), 200),
               ContainsSubstring("failed. Lower train.learning_rate, then run again: deft run quick.toml"));
}

TEST_CASE("a command of a first screen is whole on one line, or continues after a backslash") {
    Screen screen;
    screen.entries = {{"Answer", "short:", "deft run quick.toml --seeds 3"},
                      {"Missing", "three seeds, and a remark that leaves no room:", "deft run quick.toml --seeds 3"}};
    screen.links = {
        {"More", "", "deft report quick --full --from " + std::string(50, 'a') + " " + std::string(50, 'b')}};
    CHECK(render_screen(screen, 80) ==
          "\n\nAnswer   short: deft run quick.toml --seeds 3\n"
          "Missing  three seeds, and a remark that leaves no room:\n"
          "         deft run quick.toml --seeds 3\n\n"
          "More     deft report quick --full \\\n"
          "         --from " +
              std::string(50, 'a') + " \\\n         " + std::string(50, 'b') + "\n");
}

TEST_CASE("a first screen has at most 24 lines, none wider than the terminal, however many rows there are") {
    std::vector<Trial> trials;
    add_row(trials, "baseline", kFullBudget, 1.0);
    for (int i = 0; i < 40; ++i)
        add_row(trials, fmt::format("recipe {} with a long name", i).c_str(), kFullBudget, 0.9 + 0.01 * i);
    const ReportData data = data_of(a_sweep_of(trials));
    for (const int width : {80, 100, 120}) {
        const std::string text = screen_text(data, width);
        INFO(text);
        CHECK(lines_in(text) <= kScreenLines);
        CHECK(widest(text) <= width);
        CHECK_THAT(text, ContainsSubstring("more rows at smaller budgets)") || ContainsSubstring("more rows)"));
    }
    // All rows and columns continue in further blocks where a terminal is narrow; the lines keep its width.
    CHECK(widest(screen_text(data_of(four_recipes(3)), 40)) <= 40);
}

TEST_CASE("a sweep without a score or without trials has a first screen that says so") {
    CHECK_THAT(screen_text(data_of(a_sweep_of({}))), ContainsSubstring("quick: 0 of 0 trials done"));
    Results sweep = four_recipes(3);
    for (Trial& trial : sweep.trials) trial.scores.clear();
    CHECK_THAT(screen_text(data_of(sweep)), ContainsSubstring("Answer   none: no row has a score of quality yet."));
}

TEST_CASE("the first screen names the row whose tokens per parameter it states, where another has more parameters") {
    Results sweep = four_recipes(3);
    for (Trial& trial : sweep.trials) {
        trial.parameters = trial.recipe == "lower" ? 2'000'000 : 1'000;
        trial.active_parameters = trial.parameters;
    }
    CHECK_THAT(screen_text(data_of(sweep), 200),
               ContainsSubstring("up to 2.00M parameters, baseline at ") && ContainsSubstring(" tokens per parameter"));
    for (Trial& trial : sweep.trials) trial.parameters = trial.active_parameters = 1'000;
    CHECK_THAT(screen_text(data_of(sweep), 200), ContainsSubstring("toy scale: 1.00k parameters, "));
}
