// Averages over tasks as papers print them: golden cases and hand-computed ones.

#include "reporting/published_columns.h"

#include <cmath>
#include <map>

#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;
using results_db::ScoreRow;

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
