// Results are complete when they are loaded: checked, with their search apart, their settings parsed.

#include "reporting/analysis/load_results.h"

#include "reporting/analysis/results/stale.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

results_db::StoredTrial a_stored_trial(const std::string& hash, const std::string& stage, const std::string& json) {
    results_db::StoredTrial trial;
    trial.recipe = "CL";
    trial.stage = stage;
    trial.config_hash = hash;
    trial.config_json = json;
    trial.state = "ok";
    trial.scores.emplace_back();
    trial.scores.back().task = "lambada";
    trial.scores.back().scoring_version = 1;
    return trial;
}

}  // namespace

TEST_CASE("loaded results are marked stale, without the trials of the search, and with their settings") {
    results_db::StoredSweep stored;
    stored.name = "quick";
    stored.trials = {a_stored_trial("a", "", R"({"result_epoch": 3, "model": {"seqlen": 64}})"),
                     a_stored_trial("b", results_db::kSearchStage, R"({"result_epoch": 4})"),
                     a_stored_trial("c", "", R"({"result_epoch": 4, "start": {"trial": "a"}})")};
    const Results results = load_results(stored, [](const results_db::StoredSweep& sweep) {
        Current now;
        now.result_epoch = 4;
        now.scoring_version = 2;
        for (const results_db::StoredTrial& trial : sweep.trials) now.trials[trial.config_hash] = {};
        return now;
    });
    CHECK(results.name == "quick");
    REQUIRE(results.trials.size() == 2);
    REQUIRE(results.searched.size() == 1);
    CHECK(results.searched[0].config_hash == "b");
    CHECK(results.trials[0].stale == "code: result epoch 3, now 4");
    CHECK(results.trials[1].stale == results.trials[0].stale);  // it starts from that one
    CHECK(results.trials[0].scores[0].stale == "eval: evaluation version 1, now 2");
    CHECK(results.trials[0].settings.seqlen == 64);

    const Results unknown = load_results(stored, unknown_inputs());
    CHECK(unknown.trials[0].stale.empty());
    CHECK(unknown.searched.size() == 1);
}

TEST_CASE("settings are what the configuration says, and defaults where it says nothing of that kind") {
    const Settings full = parse_settings(R"({
        "result_epoch": 3, "model": {"layers": 4, "seqlen": 64, "experts": {"count": [8]}},
        "data": {"corpus": "sst2", "samples": "labelled", "labelled": {"truncate_labels": true, "whole_batches": 32}},
        "local": {"base_folder": "/here"}, "start": {"trial": "0123"}, "train": {"learning_rate": 0.5},
        "selection": {"every": "5%"},
        "random_ltd": {"keep_first": 1, "layers": [1, 2], "pacing": "constant", "min": 8, "max": 64}})");
    CHECK(full.result_epoch == 3);
    CHECK(full.layers == 4);
    CHECK(full.seqlen == 64);
    CHECK(full.has_experts);
    CHECK(full.corpus == "sst2");
    CHECK(full.samples == "labelled");
    CHECK(full.truncates_labels);
    CHECK(full.whole_batches == 32);
    CHECK(full.base_folder == "/here");
    CHECK(full.has_start);
    CHECK(full.start_trial == "0123");
    CHECK(full.learning_rate == 0.5);
    CHECK(full.selects_best);
    CHECK(!full.is_plain);
    CHECK(full.dropping_layers == std::vector<std::int64_t>{1, 2});
    CHECK(full.keeps_a_constant_number);

    const Settings equal = parse_settings(R"({"token_bypass": {"keep_first": 0, "min": 64, "max": 64}})");
    CHECK(equal.keeps_a_constant_number);
    CHECK(!parse_settings(R"({"random_ltd": {"keep_first": 0, "min": 8, "max": 64}})").keeps_a_constant_number);
    CHECK(!parse_settings(R"({"curriculum": {"pacing": "constant"}})").keeps_a_constant_number);

    CHECK(
        parse_settings(R"({"seed": 1, "result_epoch": 3, "model": {}, "data": {}, "train": {}, "eval": {}, "local": {},
                             "start": {}, "selection": {}})")
            .is_plain);
    const Settings other = parse_settings(R"({"model": {"layers": 4}, "a_new_dropper": {"layers": [0, 3]}})");
    CHECK(!other.is_plain);  // whatever its name
    CHECK(other.dropping_layers == std::vector<std::int64_t>{0, 3});

    for (const char* json : {"not json", "[]", "{}", R"({"model": 3, "data": [], "start": null, "random_ltd": {}})",
                             R"({"model": {"layers": "4"}, "train": {"learning_rate": "high"}})"}) {
        CAPTURE(json);
        const Settings settings = parse_settings(json);
        CHECK(!settings.layers);
        CHECK(!settings.seqlen);
        CHECK(!settings.learning_rate);
        CHECK(settings.samples == "packed");
        CHECK(settings.start_trial.empty());
        CHECK(settings.dropping_layers.empty());
    }
}
