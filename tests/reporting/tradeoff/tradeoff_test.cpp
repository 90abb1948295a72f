// Quality against cost: the points, the sentence and the picture of a sweep whose numbers are worked out by hand.

#include "reporting/analysis/tradeoff/tradeoff.h"

#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <tuple>

#include "reporting/analysis/published/published.h"
#include "reporting/analysis/tradeoff/tradeoff_sentences.h"
#include "reporting/views/page/page.h"
#include "reporting/views/page/tradeoff_html.h"
#include "reporting/views/page/tradeoff_svg.h"
#include "reporting/views/render/html.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/attempts.h"
#include "tests/reporting/table_parts.h"

using namespace deft::reporting;
using deft::reporting::Results;
using deft::reporting::Trial;

namespace {

// Half a bit a byte of every nat a token, and a unigram entropy of 5.545177 nats: a unigram model has 2.772589 bits.
Trial trial(const char* recipe, double budget, std::int64_t seed, double bits, std::int64_t wall_ms) {
    const std::string axes = fmt::format(R"({{"train.budget_fraction":{}}})", budget);
    Trial row = a_finished_trial(recipe, axes.c_str(), seed, 2 * bits, wall_ms);
    row.scores.insert(row.scores.begin(), a_validation("unigram_entropy", 5.545177));
    row.last_point->layer_tokens = static_cast<std::int64_t>(1e6 * budget);
    row.last_point->flops = 1e12 * budget;
    row.scores.push_back(a_validation("bits_per_byte", bits));
    row.scores.back().unit = "bits/byte";
    return row;
}

void add_row(std::vector<Trial>& trials, const char* recipe, double budget, double bits, std::int64_t wall_ms) {
    for (std::int64_t seed = 1; seed <= 3; ++seed)
        trials.push_back(trial(recipe, budget, seed, bits + 0.01 * static_cast<double>(seed - 2), wall_ms));
}

Results six_rows() {
    std::vector<Trial> trials;
    add_row(trials, "baseline", 1.0, 1.0, 1000);
    add_row(trials, "baseline", 0.5, 1.1, 500);
    add_row(trials, "baseline", 0.1, 1.5, 100);
    add_row(trials, "both", 1.0, 0.99, 1100);
    add_row(trials, "both", 0.5, 1.02, 250);
    add_row(trials, "both", 0.1, 1.3, 80);
    return a_sweep_of(std::move(trials));
}

// Without the trials of that recipe and budget whose seed is above `most`.
Results with_seeds(Results sweep, const std::string& recipe, const std::string& budget, std::int64_t most) {
    for (Trial& row : sweep.trials)
        if (row.recipe == recipe && row.axes_json.find(budget) != std::string::npos && row.seed > most)
            row.state = "failed";
    return sweep;
}

SweepAbout low_budget() {
    SweepAbout about;
    about.published = read_published_table(DEFT_SOURCE_DIR "/reporting/paper/data_efficiency_gpt_low_budget.toml");
    return about;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("points are rows by budget, each with its mean, interval, share and costs") {
    const auto tradeoff = tradeoff_of(six_rows(), {});
    REQUIRE(tradeoff);
    CHECK(tradeoff->title == "validation bits per byte");
    CHECK(*tradeoff->scale.nothing == Approx(2.772589));
    REQUIRE(tradeoff->lines.size() == 2);
    CHECK(tradeoff->lines[0].is_baseline);
    const TradeoffLine& both = tradeoff->lines[1];
    CHECK_FALSE(both.is_baseline);
    REQUIRE(both.points.size() == 3);
    CHECK(both.points[0].name == "both at 10%");
    const TradeoffPoint& half = both.points[1];
    CHECK(half.name == "both at 50%");
    CHECK(half.seeds == 3);
    CHECK(half.quality == Approx(1.02));
    // 4.302653 * 0.01 / sqrt(3)
    CHECK(half.interval->low == Approx(1.02 - 0.0248414).epsilon(1e-6));
    CHECK(half.relative->share == Approx(0.988717));
    CHECK(half.relative->interval->low == Approx(0.975999));
    CHECK(*half.cost[0] == 5e5);
    CHECK(*half.cost[1] == 5e11);
    CHECK(*half.cost[2] == 0.25);
    CHECK_FALSE(half.cost[3]);
    CHECK(*cost_share(*tradeoff, half, 0) == 0.5);
    CHECK(*cost_share(*tradeoff, half, 2) == 0.25);
    CHECK(has_cost(*tradeoff, 2));
    CHECK_FALSE(has_cost(*tradeoff, 3));
    REQUIRE(tradeoff->notes.size() == 1);
    CHECK_THAT(tradeoff->notes[0], ContainsSubstring("No chart by US dollars: no price was set"));
    CHECK(tradeoff->reference.name == "baseline at 100%");
    CHECK(tradeoff->reference.relative->share == 1);
    CHECK_FALSE(tradeoff->reference.relative->interval);
    CHECK(both.at_budget(0.5) == &half);
    CHECK(both.at_budget(0.25) == nullptr);
}

TEST_CASE("the sentence names the cheapest row that is shown to keep enough, and what the baseline alone keeps there") {
    const auto tradeoff = tradeoff_of(six_rows(), low_budget());
    REQUIRE(tradeoff);
    const std::vector<std::string> sentences = tradeoff_sentences(*tradeoff);
    REQUIRE(sentences.size() == 3);
    CHECK(
        sentences[0] ==
        "both, validation bits per byte above the baseline at the same budget (less is better; 95% intervals): -0.200 "
        "[-0.223, -0.177] at 10%, -0.080 [-0.103, -0.057] at 50%, -0.010 [-0.033, +0.013] at 100%. both at 50% keeps "
        "98.9% [97.6%, 100.1%] of the baseline's gain over a unigram model at 1/2 of its tokens, 1/2 of its FLOPs and "
        "1/4 of its training time; the baseline alone keeps 94.4% [93.1%, 95.6%] there: the cheapest of its 3 rows "
        "whose 95% interval begins at 95% or above.");
    CHECK(sentences[1] ==
          "A row's share is its gain over a unigram model, which knows only how often each token occurs in the "
          "validation "
          "text, divided by the baseline's gain on all of the data: a unigram model scores 2.773 validation bits per "
          "byte "
          "(0%), that baseline 1.000 (100%).");
    CHECK_THAT(sentences[2],
               ContainsSubstring("Published (arXiv:2212.03597, abstract; GPT-3 1.3B") &&
                   ContainsSubstring("CL+random-LTD at 8% keeps 95% of the baseline's quality at 1/12.5 of its data"));
}

TEST_CASE("where no row is shown to keep enough, the sentence gives the means and the cheapest row") {
    const auto tradeoff = tradeoff_of(with_seeds(six_rows(), "baseline", ":1}", 2), {});
    REQUIRE(tradeoff);
    const std::string sentence = tradeoff_sentences(*tradeoff).at(0);
    CHECK_THAT(
        sentence,
        ContainsSubstring("(less is better; no interval below three seeds): -0.200 [-0.223, -0.177] at 10%, -0.080 "
                          "[-0.103, -0.057] at 50%") &&
            ContainsSubstring(
                "No row is shown to keep 95% of the baseline's gain: 0 of its 3 rows have an interval. By "
                "its mean alone, both at 50% keeps") &&
            ContainsSubstring("(no interval below three seeds). Its cheapest row: both at 10% keeps 82.8% of the "
                              "baseline's gain over a unigram model at 1/10 of its tokens") &&
            ContainsSubstring("1/12.5 of its training time"));
    // The baseline at 100% has 100% by definition.
    auto only_all = six_rows();
    for (Trial& row : only_all.trials)
        if (row.recipe == "both" && row.axes_json.find("0.5") != std::string::npos)
            for (auto& score : row.scores) score.value *= 1.2;
    const std::string at_all = tradeoff_sentences(*tradeoff_of(only_all, {})).at(0);
    CHECK_THAT(at_all, ContainsSubstring("both at 100% keeps 100.6% [") &&
                           ContainsSubstring(
                               "at 1.00 times its tokens, 1.00 times its FLOPs and 1.10 times its training time; the "
                               "baseline there is what 100% is: the cheapest"));
}

TEST_CASE("a row is not shown to keep enough by its mean where its interval reaches lower") {
    Results sweep = six_rows();
    for (Trial& row : sweep.trials)
        if (row.recipe == "both" && row.axes_json.find("0.5") != std::string::npos)
            row.scores.back().value += 0.1 * static_cast<double>(row.seed - 2);
    const auto tradeoff = tradeoff_of(sweep, {});
    REQUIRE(tradeoff);
    const TradeoffLine& both = tradeoff->lines[1];
    CHECK(both.points[1].relative->share == Approx(0.988717));
    CHECK(both.points[1].relative->interval->low < 0.95);
    CHECK(cheapest_shown(both) == &both.points[2]);
    CHECK(cheapest_by_mean(both) == &both.points[1]);
}

TEST_CASE("a row short of seeds has an open marker and no bar, and is noted") {
    const auto whole = tradeoff_of(six_rows(), {});
    const auto tradeoff = tradeoff_of(with_seeds(six_rows(), "both", "0.5", 2), {});
    REQUIRE(tradeoff);
    const TradeoffPoint& half = tradeoff->lines[1].points[1];
    CHECK(half.seeds == 2);
    CHECK(half.asked == 3);
    CHECK_FALSE(half.interval);
    CHECK_THAT(description(*tradeoff), ContainsSubstring("fewer seeds than asked: both at 50% (2 of 3)."));
    CHECK_THAT(description(*whole), !ContainsSubstring("fewer seeds than asked"));
    const std::string svg = render_svg(*tradeoff, "x");
    CHECK(count_of(render_svg(*whole, "x"), "class=\"bar\"") == 18);
    CHECK(count_of(svg, "class=\"bar\"") == 15);
    CHECK(count_of(svg, "class=\"mark\"") == 3);
    const Table table = tradeoff_table(*tradeoff);
    CHECK(cell(table, 4, "row") == "both at 50%");
    CHECK(cell(table, 4, "seeds") == "2 of 3");
    CHECK(cell(table, 4, "training time") == "0.250s 0.25x");
    const char* const share = "share of the baseline's\ngain over a unigram model";
    CHECK(cell(table, 1, share) == "94.4% [93.1%, 95.6%]");
    CHECK(cell(table, 2, share) == "100.0%");
    CHECK(cell(table, 2, "above the baseline\nat the same budget") == "-");
    CHECK(cell(table, 4, "above the baseline\nat the same budget") == "-0.085");
    CHECK(table.columns.size() == 8);
}

TEST_CASE("the published point is drawn at its share and part of the cost, where the paper gives that cost") {
    const auto tradeoff = tradeoff_of(six_rows(), low_budget());
    REQUIRE(tradeoff);
    REQUIRE(tradeoff->published);
    CHECK(tradeoff->published->share == Approx(0.95));
    CHECK(tradeoff->published->saving == 12.5);
    const std::string svg = render_svg(*tradeoff, "x");
    // One each by tokens and by time, none by FLOPs, and one in the legend.
    CHECK(count_of(svg, "class=\"published\"") == 3);
    CHECK_THAT(svg, ContainsSubstring("published: 95% of the quality at 1/12.5"));
    CHECK_FALSE(tradeoff_of(six_rows(), {})->published);
    SweepAbout other;
    other.published = read_published_table(DEFT_SOURCE_DIR "/reporting/paper/data_efficiency_gpt_combined.toml");
    CHECK_FALSE(tradeoff_of(six_rows(), other)->published);
}

TEST_CASE("better is drawn higher, whichever way the measure goes") {
    const auto heights = [](const std::string& svg) {
        const std::size_t at = svg.find("<path class=\"line\" d=\"M", svg.find("<g>"));
        double x = 0, first = 0, x_second = 0, second = 0;
        REQUIRE(std::sscanf(svg.c_str() + at, "<path class=\"line\" d=\"M%lf %lfL%lf %lf", &x, &first, &x_second,
                            &second) == 4);
        CHECK(x < x_second);
        return std::pair(first, second);
    };
    auto [worse, better] = heights(render_svg(*tradeoff_of(six_rows(), {}), "x"));
    CHECK(better < worse);
    Results rising = six_rows();
    rising.scale = "paper";
    for (Trial& row : rising.trials) {
        row.scores.push_back(a_score("lambada", "acc", 1 / row.scores.back().value));
        row.scores.back().chance = 0;
    }
    SweepAbout about = low_budget();
    const auto tradeoff = tradeoff_of(rising, about);
    REQUIRE(tradeoff);
    CHECK(tradeoff->title == "data efficiency average");
    std::tie(worse, better) = heights(render_svg(*tradeoff, "x"));
    CHECK(better < worse);
}

TEST_CASE("dollars have a chart where there is a price") {
    Results sweep = six_rows();
    for (Trial& row : sweep.trials) row.usd = 0.001 * static_cast<double>(row.last_point->wall_ms);
    const auto tradeoff = tradeoff_of(sweep, low_budget());
    REQUIRE(tradeoff);
    CHECK(has_cost(*tradeoff, 3));
    CHECK(tradeoff->notes.empty());
    CHECK(*cost_share(*tradeoff, tradeoff->lines[1].points[1], 3) == Approx(0.25));
    const std::string svg = render_svg(*tradeoff, "x");
    CHECK_THAT(svg, ContainsSubstring("US dollars") && ContainsSubstring("training time (seconds)"));
    CHECK(count_of(svg, "class=\"published\"") == 4);
    CHECK_THAT(tradeoff_sentences(*tradeoff)[0], ContainsSubstring("1/4 of its training time and 1/4 of its dollars"));
}

TEST_CASE("a row that does not count is drawn in grey, and one that diverged is left out; both are named") {
    Results sweep = six_rows();
    for (Trial& row : sweep.trials) {
        const bool is_small = row.axes_json.find("0.1") != std::string::npos;
        if (is_small && row.recipe == "both") row.last_point->step = 100;
        if (is_small && row.recipe == "baseline" && row.seed == 2)
            row.scores.back().value = std::numeric_limits<double>::quiet_NaN();
    }
    const auto tradeoff = tradeoff_of(sweep, {});
    REQUIRE(tradeoff);
    CHECK(tradeoff->lines[0].points.size() == 2);
    REQUIRE(tradeoff->lines[1].points.size() == 3);
    CHECK_FALSE(tradeoff->lines[1].points[0].counts());
    CHECK(tradeoff->lines[1].points[1].counts());
    const std::string svg = render_svg(*tradeoff, "x");
    CHECK(count_of(svg, "<g class=\"flag\">") == 3);
    CHECK_THAT(svg, ContainsSubstring(">†</text></g>"));
    CHECK_THAT(description(*tradeoff),
               ContainsSubstring("Grey points with a dagger do not count as measured: both at 10%."));
    CHECK_THAT(tradeoff_sentences(*tradeoff)[0],
               ContainsSubstring("the 2 of its 3 rows that can be compared") && !ContainsSubstring("both at 10%"));
    const Table table = tradeoff_table(*tradeoff);
    CHECK_FALSE(table.rows[2][2].flag.empty());
    CHECK(table.rows[3][2].flag.empty());
    REQUIRE(tradeoff->notes.size() == 3);
    CHECK(tradeoff->notes[0] == "Not drawn, for a seed diverged: baseline at 10%.");
    CHECK(tradeoff->notes[1] ==
          "† In grey, and in no sentence, for they do not count as measured: both at 10%: it ran 100 "
          "steps, fewer than 200 (seeds 1, 2, 3).");
}

TEST_CASE("a row with a diverged seed, or a stale row, keeps nothing") {
    const auto with = [](const char* recipe, const char* budget, const auto& change) {
        Results sweep = six_rows();
        for (Trial& row : sweep.trials)
            if (row.recipe == recipe && row.axes_json.find(budget) != std::string::npos && row.seed == 2) change(row);
        return tradeoff_of(sweep, {});
    };
    const auto diverged = [](Trial& row) {
        row.state = "failed";
        row.fail_class = "nan";
    };
    const auto half = with("both", "0.5", diverged);
    REQUIRE(half);
    CHECK(half->notes.front() == "Not drawn, for a seed diverged: both at 50%.");
    CHECK(half->lines[1].at_budget(0.5) == nullptr);
    CHECK_THAT(tradeoff_sentences(*half)[0],
               ContainsSubstring("the cheapest of the 2 of its 3 rows that can be compared whose"));
    const auto alone = with("baseline", "0.5", diverged);
    REQUIRE(alone);
    CHECK_THAT(tradeoff_sentences(*alone)[0], ContainsSubstring("both at 50% keeps") &&
                                                  ContainsSubstring("; no row of the baseline there can be compared"));
    const auto trained = with("both", "0.5", [](Trial& row) { row.stale = "code: result epoch 3, now 4"; });
    const auto scored = with("both", "0.5", [](Trial& row) { row.scores.back().stale = "eval: changed"; });
    for (const auto& stale : {trained, scored}) {
        REQUIRE(stale);
        CHECK(stale->notes.front() == "Not drawn, for they are stale: both at 50%.");
    }
}

TEST_CASE("a row of another slot, or under other CPU contention than the baseline, has no time in it") {
    const auto with = [](const char* processor, double computed) {
        Results sweep = six_rows();
        for (Trial& row : sweep.trials) {
            const bool is_other = row.recipe == "both" && row.axes_json.find("0.5") != std::string::npos;
            auto attempt = an_attempt_on({"cpu", 1, 1, 1}, {10, 0, 0, 0, 0}, is_other ? processor : "Example CPU");
            attempt.cpu_seconds = is_other ? computed : 9.9;
            add_attempt(row, attempt);
            row.usd = 0.001 * static_cast<double>(row.last_point->wall_ms);
        }
        return tradeoff_of(sweep, {});
    };
    const auto alike = with("Example CPU", 9.5);
    REQUIRE(alike);
    CHECK(alike->lines[1].at_budget(0.5)->cost[2]);
    CHECK_THAT(tradeoff_sentences(*alike)[0], ContainsSubstring("of its training time"));
    for (const auto& other : {with("Another CPU", 9.9), with("Example CPU", 5)}) {
        REQUIRE(other);
        CHECK_FALSE(other->lines[1].at_budget(0.5)->cost[2]);
        CHECK_FALSE(other->lines[1].at_budget(0.5)->cost[3]);
        CHECK(other->lines[1].at_budget(1)->cost[3]);
        CHECK(other->lines[1].at_budget(0.5)->cost[1]);
        CHECK(other->lines[1].at_budget(1)->cost[2]);
        CHECK_THAT(tradeoff_sentences(*other)[0], ContainsSubstring("both at 50% keeps") &&
                                                      !ContainsSubstring("training time") &&
                                                      !ContainsSubstring("dollars"));
        CHECK(
            other->notes.front() ==
            "No time and no dollars, for workers of another shape than the baseline's or for trials that were trained "
            "under different CPU contention: both at 50%.");
    }
}

TEST_CASE("a cost that no recipe has at two budgets has no chart") {
    Results sweep = six_rows();
    for (Trial& row : sweep.trials) {
        auto attempt = an_attempt_on({"cpu", 1, 1, 1}, {10, 0, 0, 0, 0});
        attempt.cpu_seconds = row.axes_json.find(":1}") != std::string::npos ? 5 : 9.9;
        add_attempt(row, attempt);
    }
    const auto tradeoff = tradeoff_of(sweep, {});
    REQUIRE(tradeoff);
    CHECK(tradeoff->lines[1].at_budget(1)->cost[2]);
    CHECK_FALSE(has_cost(*tradeoff, 2));
    CHECK_THAT(render_svg(*tradeoff, "x"), !ContainsSubstring("training time"));
    CHECK(tradeoff->notes[1] == "No chart by training time: no recipe has it at two budgets that compare.");
}

TEST_CASE("no picture without trials, with one budget, with one recipe, or with a baseline that has no score") {
    CHECK_FALSE(tradeoff_of(a_sweep_of({}), {}));
    std::vector<Trial> trials;
    add_row(trials, "baseline", 1.0, 1.0, 1000);
    add_row(trials, "both", 1.0, 1.0, 1000);
    CHECK_FALSE(tradeoff_of(a_sweep_of(trials), {}));
    add_row(trials, "baseline", 0.5, 1.1, 500);
    CHECK_FALSE(tradeoff_of(a_sweep_of(trials), {}));
    CHECK_FALSE(tradeoff_of(with_seeds(six_rows(), "baseline", ":1}", 0), {}));
    CHECK_FALSE(tradeoff_of(a_sweep_of({a_finished_trial("a", "{}", 1, 3), a_finished_trial("b", "{}", 1, 3)}), {}));
    CHECK(tradeoff_html(a_sweep_of({}), {}, "", "").empty());
    CHECK_FALSE(result_picture(a_sweep_of({}), {}));
}

TEST_CASE("the page has the section, and the picture is a file of its own that needs nothing else") {
    ReportData data;
    data.sweep = six_rows();
    data.about = low_budget();
    const std::string page = render_page(data);
    CHECK_THAT(page, ContainsSubstring(
                         "<h2 id=\"tradeoff\">Quality against cost</h2>\n<p>both, validation bits per byte above the "
                         "baseline at the same budget") &&
                         ContainsSubstring("a unigram model scores 2.773 validation bits per byte (0%)"));
    const auto file = result_picture(data.sweep, data.about);
    REQUIRE(file);
    CHECK(file->starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="));
    CHECK_THAT(*file, ContainsSubstring("prefers-color-scheme:dark") && ContainsSubstring("class=\"bar\"") &&
                          !ContainsSubstring("<script") && !ContainsSubstring("NaN") && !ContainsSubstring("inf"));
    CHECK(file->ends_with("</svg>\n"));
}

TEST_CASE("without the unigram model's loss there are differences and no shares") {
    Results sweep = six_rows();
    for (Trial& row : sweep.trials) row.scores.erase(row.scores.begin());
    const auto tradeoff = tradeoff_of(sweep, low_budget());
    REQUIRE(tradeoff);
    CHECK_FALSE(tradeoff->scale.nothing);
    CHECK_FALSE(tradeoff->lines[1].points[1].relative);
    CHECK(tradeoff->lines[1].points[1].difference->value == Approx(-0.08));
    CHECK(tradeoff->definition.empty());
    const std::vector<std::string> sentences = tradeoff_sentences(*tradeoff);
    CHECK_THAT(sentences[0], ContainsSubstring("-0.080 [-0.103, -0.057] at 50%") &&
                                 ContainsSubstring("both at 10% takes 1/10 of its tokens") &&
                                 !ContainsSubstring("keeps"));
    const std::string svg = render_svg(*tradeoff, "x");
    CHECK_THAT(svg, !ContainsSubstring("baseline's gain") && !ContainsSubstring("class=\"published\""));
    CHECK(tradeoff_table(*tradeoff).columns.size() == 7);
}

TEST_CASE("rows that go on from other models have no place, for they did not pay for all of their quality") {
    Results sweep = six_rows();
    for (Trial& row : sweep.trials)
        if (row.recipe == "both") set_configuration(row, R"({"model":{"seqlen":64},"start":{"trial":"0123"}})");
    CHECK_FALSE(tradeoff_of(sweep, {}));
    for (Trial& row : sweep.trials)
        if (row.recipe == "both" && row.axes_json.find("0.1") == std::string::npos)
            set_configuration(row, R"({"model":{"seqlen":64}})");
    const auto tradeoff = tradeoff_of(sweep, {});
    REQUIRE(tradeoff);
    CHECK(tradeoff->lines[1].points.size() == 2);
    CHECK_THAT(tradeoff->notes[0], ContainsSubstring("they go on from other models"));
}

TEST_CASE("a recipe looks as in the page's other figures, whatever is left out before it") {
    Results sweep = six_rows();
    Trial gone = trial("gone", 1.0, 1, 1.0, 1000);
    gone.state = "failed";
    sweep.trials.insert(sweep.trials.begin(), gone);
    for (std::size_t i = 0; i < sweep.trials.size(); ++i) sweep.trials[i].ordinal = static_cast<std::int64_t>(i);
    SweepAbout about;
    about.baseline = "baseline";
    const auto tradeoff = tradeoff_of(sweep, about);
    REQUIRE(tradeoff);
    CHECK(tradeoff->lines[0].style == 1);
    CHECK(tradeoff->lines[1].style == 2);
    CHECK(tradeoff->lines[1].dash == 1);
}
