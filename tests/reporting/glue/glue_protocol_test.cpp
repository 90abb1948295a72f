// GLUE by the papers' protocol, against numbers of the published scripts and some worked out by hand.

#include "reporting/analysis/glue/glue_protocol.h"

#include "base/json.h"
#include "tests/catch.h"
#include "tests/golden.h"

using namespace deft;
using namespace deft::reporting;

namespace {

// A task with one column of its own name.
GlueRun a_run(const std::string& task, double rate, std::int64_t seed, double value) {
    return {task, rate, seed, value, {{task, value}}};
}

std::vector<double> best_epochs(const Json& epochs_of_seeds) {
    std::vector<double> best;
    for (const Json& epochs : epochs_of_seeds) {
        const auto values = epochs.get<std::vector<double>>();
        best.push_back(*std::max_element(values.begin(), values.end()));
    }
    return best;
}

// The first of the best: what eval.select = "best" keeps.
std::size_t best_epoch(const std::vector<double>& epochs) {
    return static_cast<std::size_t>(std::max_element(epochs.begin(), epochs.end()) - epochs.begin());
}

}  // namespace

TEST_CASE("of an even number of seeds the higher middle one counts, rounding is Python's", "[bare]") {
    CHECK(upper_median({3, 1, 2}) == 2);
    CHECK(upper_median({4, 1, 3, 2}) == 3);
    CHECK(upper_median({7, 5}) == 7);
    CHECK(upper_median({5}) == 5);
    CHECK(rounded_percent(2.675) == 2.67);  // in binary a little below
    CHECK(rounded_percent(85.625) == 85.62);
    CHECK(rounded_percent(-1.236) == -1.24);
}

TEST_CASE("columns are those that the published scripts gather", "[bare]") {
    int groups = 0;
    golden::for_group("metrics.json", "glue_gather", [&](const Json& c) {
        ++groups;
        std::vector<GlueRun> runs;
        if (c.at("task") == "MNLI") {
            for (std::size_t seed = 0; seed < c.at("overall").size(); ++seed) {
                const std::size_t epoch = best_epoch(c["overall"][seed].get<std::vector<double>>());
                CHECK(epoch == c.at("best_epoch")[seed].get<std::size_t>());
                runs.push_back({"glue_mnli",
                                2e-5,
                                static_cast<std::int64_t>(seed),
                                c["overall"][seed][epoch].get<double>(),
                                {{"MNLI-m", c["matched"][seed][epoch].get<double>()},
                                 {"MNLI-mm", c["mismatched"][seed][epoch].get<double>()}}});
            }
            const GlueResult result = glue_protocol({{"glue_mnli", {"MNLI-m", "MNLI-mm"}}}, runs);
            const std::vector<GlueColumn>& columns = result.rates.front().columns;
            REQUIRE(columns.size() == 2);
            CHECK(columns[0].value == c.at("matched_result").get<double>());
            CHECK(columns[0].spread == c.at("matched_stdev").get<double>());
            CHECK(columns[1].value == c.at("mismatched_result").get<double>());
            CHECK(columns[1].spread == c.at("mismatched_stdev").get<double>());
            return;
        }
        const auto best = c.contains("per_seed_epochs") ? best_epochs(c["per_seed_epochs"])
                                                        : c.at("best_per_seed").get<std::vector<double>>();
        CHECK(best == c.at("best_per_seed").get<std::vector<double>>());
        for (std::size_t seed = 0; seed < best.size(); ++seed)
            runs.push_back(a_run("RTE", 2e-5, static_cast<std::int64_t>(seed), best[seed]));
        const GlueResult result = glue_protocol({{"RTE", {"RTE"}}}, runs);
        CHECK(result.rates.front().columns.front().value == c.at("median_high").get<double>());
        CHECK(result.rates.front().columns.front().spread == c.at("stdev").get<double>());
    });
    CHECK(groups == 3);
}

TEST_CASE("the average is over columns that are rounded already, MNLI's two among them", "[bare]") {
    golden::for_group("metrics.json", "glue_average", [&](const Json& c) {
        std::vector<GlueRun> runs;
        std::vector<GlueTask> tasks;
        for (const auto& [name, value] : c.at("columns").items()) {
            tasks.push_back({name, {name}});
            runs.push_back(a_run(name, 2e-5, 1234, value.get<double>()));
        }
        const GlueResult result = glue_protocol(tasks, runs);
        REQUIRE(result.chosen == 0);
        CHECK(result.rates.front().average == c.at("average").get<double>());
        CHECK_FALSE(result.rates.front().spread);  // one seed has none
    });
    // 60.004 and 70.004 are 60 and 70 first.
    const GlueResult result = glue_protocol(
        {{"a", {"a"}}, {"b", {"b"}}},
        {a_run("a", 1, 1, 60.004), a_run("a", 1, 2, 58), a_run("b", 1, 1, 70.014), a_run("b", 1, 2, 66.014)});
    CHECK(result.rates.front().columns[0].value == 60.00);
    CHECK(result.rates.front().columns[1].value == 70.01);
    CHECK(result.rates.front().average == 65.0);                       // 65.005, which in binary is below
    CHECK(result.rates.front().columns[0].spread == 1.42);             // 2.004 / sqrt 2
    CHECK(result.rates.front().columns[1].spread == 2.83);             // 4 / sqrt 2
    CHECK(result.rates.front().spread == Approx(2.12).margin(0.011));  // 2.125
}

TEST_CASE("one rate counts for all tasks: that of the best average, of equal ones the first", "[bare]") {
    const std::vector<GlueTask> tasks = {{"a", {"a"}}, {"b", {"b"}}};
    // The best of a alone and of b alone would be 90 and 90.
    const GlueResult result =
        glue_protocol(tasks, {a_run("a", 2e-5, 1, 90), a_run("a", 3e-5, 1, 80), a_run("a", 4e-5, 1, 85),
                              a_run("b", 2e-5, 1, 60), a_run("b", 3e-5, 1, 90), a_run("b", 4e-5, 1, 85)});
    REQUIRE(result.rates.size() == 3);
    CHECK(result.rates[0].average == 75.0);
    CHECK(result.rates[1].average == 85.0);
    CHECK(result.rates[2].average == 85.0);
    CHECK(result.chosen == 1);
    CHECK(result.rates[*result.chosen].columns[0].value == 80);
}

TEST_CASE("a rate counts where every task has a value of every seed, and else says what it lacks", "[bare]") {
    const std::vector<GlueTask> tasks = {{"a", {"a"}}, {"b", {"b"}}};
    GlueRun failed = a_run("b", 2e-5, 2, 0);
    failed.lack = "is failed (nan)";
    const GlueResult result =
        glue_protocol(tasks, {a_run("a", 2e-5, 1, 99), a_run("a", 2e-5, 2, 99), a_run("b", 2e-5, 1, 99), failed,
                              a_run("a", 3e-5, 1, 10), a_run("b", 3e-5, 1, 20), a_run("a", 4e-5, 1, 98)});
    REQUIRE(result.rates.size() == 3);
    CHECK_FALSE(result.rates[0].average);
    CHECK(result.rates[0].lacks == std::vector<std::string>{"b at 2e-05: seed 2 is failed (nan)"});
    CHECK(result.rates[0].columns.size() == 1);  // a's own value stays
    CHECK(result.chosen == 1);
    CHECK(result.rates[1].average == 15.0);
    CHECK(result.rates[2].lacks == std::vector<std::string>{"b at 4e-05: no trial"});

    CHECK_FALSE(glue_protocol(tasks, {a_run("a", 1, 1, 5)}).chosen);
    const GlueResult twice = glue_protocol({{"a", {"a"}}}, {a_run("a", 1, 1, 5), a_run("a", 1, 1, 6)});
    CHECK(twice.rates.front().lacks == std::vector<std::string>{"a at 1: several trials of seed 1"});
    const GlueResult no_column =
        glue_protocol({{"glue_mnli", {"MNLI-m", "MNLI-mm"}}}, {{"glue_mnli", 1, 7, 5, {{"MNLI-m", 5}}}});
    CHECK(no_column.rates.front().lacks == std::vector<std::string>{"glue_mnli at 1: seed 7 has no MNLI-mm"});
    CHECK(glue_protocol(tasks, {}).rates.empty());
}
