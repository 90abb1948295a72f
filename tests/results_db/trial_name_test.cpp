// Names of trials, and the search for a trial by name.

#include "results_db/trial_name.h"

#include "base/json.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::results_db;

TEST_CASE("a trial's name has the fewest keys that identify each axis") {
    const auto name = [](const char* axes) { return trial_name("", "cl", Json::parse(axes), "1"); };
    CHECK(name("{}") == "cl/1");
    CHECK(name(R"({"train.budget_fraction":0.5,"curriculum.seqtru.min":8})") == "cl[min=8,budget_fraction=0.5]/1");
    CHECK(name(R"({"curriculum.enabled":true,"curriculum.seqtru.enabled":true})") ==
          "cl[curriculum.enabled=true,seqtru.enabled=true]/1");
    CHECK(name(R"({"mnli.train.learning_rate":0.1,"pretrain.train.learning_rate":0.2})") ==
          "cl[mnli.train.learning_rate=0.1,pretrain.train.learning_rate=0.2]/1");
    CHECK(name(R"({"train.learning_rate":0.1,"pretrain.train.learning_rate":0.2,"a_learning_rate":3})") ==
          "cl[a_learning_rate=3,pretrain.train.learning_rate=0.2,train.learning_rate=0.1]/1");
}

TEST_CASE("a trial is found by any of its keys that end an axis") {
    StoredTrial trial;
    trial.recipe = "cl";
    trial.seed = 1;
    trial.axes_json = R"({"mnli.train.learning_rate":0.1,"pretrain.train.learning_rate":0.2})";
    CHECK(is_named(trial, trial_name(trial)));
    for (const char* selector : {"cl[learning_rate=0.1]", "cl[train.learning_rate=0.2]/1",
                                 "cl[mnli.train.learning_rate=1e-1]", "cl[pretrain.train.learning_rate=0.2]", "cl"})
        CHECK(is_named(trial, selector));
    for (const char* selector : {"cl[mnli.train.learning_rate=0.2]", "cl[rate=0.1]", "cl[i.train.learning_rate=0.1]"})
        CHECK_FALSE(is_named(trial, selector));
}
