// Names of a score.

#include "reporting/analysis/scores/score_id.h"

#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

TEST_CASE("a score is named by its task, metric, shots, capacity and split") {
    Score score;
    score.task = "lambada";
    score.measure = "acc";
    score.better = "higher";
    score.split = "test";
    const ScoreId plain = id_of(score);
    CHECK(title(plain) == "lambada acc");
    CHECK(stacked_title(plain) == "lambada\nacc\ntest");
    CHECK(column_key(plain) == "lambada acc");
    CHECK(column_key_with_split(plain) == "lambada acc split=test");
    CHECK(conditions(plain) == ", split test");

    score.shots = 10;
    score.unit = "bits/byte";
    score.score_key = "capacity-0123";
    const ScoreId full = id_of(score);
    CHECK(full.under_capacity);
    CHECK(title(full) == "lambada acc (10-shot)");
    CHECK(stacked_title(full) == "lambada\nacc\n10-shot\nunder capacity\ntest");
    CHECK(column_key(full) == "lambada acc shots=10 under capacity");
    CHECK(conditions(full) == ", 10 shots, split test, under capacity");
    CHECK(
        to_json(full).dump() ==
        R"({"task":"lambada","metric":"acc","unit":"bits/byte","better":"higher","split":"test","shots":10,"id":"score/lambada/acc/10-shot/test/under_capacity"})");
    CHECK(full != plain);
}
