// Scores as lm-evaluation-harness writes them, and a task's items.

#include "reporting/analysis/scores/lm_eval.h"

#include <cmath>
#include <limits>

#include "base/json.h"
#include "reporting/analysis/scores/items_table.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Score a_row(const std::string& task, const std::string& measure, double value, std::int64_t shots = 0) {
    Score row;
    row.task = task;
    row.measure = measure;
    row.better = measure == "perplexity" ? "lower" : "higher";
    row.value = value;
    row.n = 40;
    row.shots = shots;
    row.standard_error = 0.5;
    row.task_version = "0.2.0";
    return row;
}

}  // namespace

TEST_CASE("scores become the harness's results: shares, standard errors, versions and shots by task") {
    std::vector<Score> rows = {a_row("piqa", "acc", 0.25), a_row("piqa", "acc_norm", 0.5),
                               a_row("lambada", "perplexity", 8)};
    rows[2].standard_error = std::numeric_limits<double>::quiet_NaN();
    const Json json = lm_eval_results({"baseline/1", "cafe", "beef", "abcd"}, rows);
    CHECK(json.at("results").dump() ==
          R"({"lambada":{"alias":"lambada","perplexity,none":8.0,"perplexity_stderr,none":"N/A"},)"
          R"("piqa":{"acc,none":0.25,"acc_norm,none":0.5,"acc_norm_stderr,none":0.5,"acc_stderr,none":0.5,)"
          R"("alias":"piqa"}})");
    CHECK(json.at("versions").dump() == R"({"lambada":"0.2.0","piqa":"0.2.0"})");
    CHECK(json.at("n-shot").dump() == R"({"lambada":0,"piqa":0})");
    CHECK(json.at("higher_is_better").dump() ==
          R"({"lambada":{"perplexity":false},"piqa":{"acc":true,"acc_norm":true}})");
    CHECK(json.at("n-samples").at("piqa").at("effective") == 40);
    CHECK(json.at("model_sha256") == "beef");
    CHECK(json.at("git_hash") == "abcd");
}

TEST_CASE("a task that was asked with several numbers of shots has an entry for each, under one alias") {
    const Json json = lm_eval_results({}, {a_row("piqa", "acc", 0.25, 0), a_row("piqa", "acc", 0.75, 10)});
    CHECK(json.at("results").at("piqa_0shot").at("acc,none") == 0.25);
    CHECK(json.at("results").at("piqa_10shot").at("acc,none") == 0.75);
    CHECK(json.at("results").at("piqa_10shot").at("alias") == "piqa");
    CHECK(json.at("n-shot").at("piqa_10shot") == 10);
}

TEST_CASE("items become a row a document, and a damaged one is refused with its line") {
    const Table table = items_table("piqa", "0 1 1 1 0 -2.5 -2.5\n1 0 1 0 1 -1.25 -3\n");
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0][1].text == "yes");
    CHECK(table.rows[1][0].text == "1");
    CHECK(table.rows[1][2].text == "0");
    CHECK(table.rows[1][3].text == "1");
    CHECK(table.rows[1][5].value == -3);
    CHECK_THAT(render_csv(table), ContainsSubstring("1,no,0,1,-1.25,-3,"));  // numbers, which a program reads
    CHECK(items_table("piqa", "0 0 0 0 0 -inf nan\n").rows[0][4].value == -HUGE_VAL);
    CHECK(table.rows[1][6].text == "truncated");
    CHECK(table.notes.at(0) == "1 of 2 documents right; 1 with a truncated prompt.");
    CHECK_THAT(test::refusal(ErrorKind::database, [] { items_table("piqa", "0 1 1 1 0 -2.5 -2.5\n1 0\n"); }),
               ContainsSubstring("line 2"));
    CHECK_THAT(test::refusal(ErrorKind::database, [] { items_table("piqa", "0 1 1 1 0 -2.5 -2.5x\n"); }),
               ContainsSubstring("line 1"));
}
