#pragma once
// The trials of a sweep: every recipe at every combination of the axes, with every seed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "experiments/config.h"
#include "experiments/projection.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

struct Trial {
    std::int64_t ordinal = 0;  // place in the tables, from 0
    std::string stage;         // empty: of a sweep without stages
    std::string recipe;
    Json axes = Json::object();  // {"train.budget_fraction": 0.5}, those of the trial that it starts from among them
    std::int64_t seed = 0;
    std::vector<std::int64_t> seeds;    // of the first trial of its chain, then of each stage that has seeds of its own
    std::optional<std::size_t> parent;  // the place, among these trials, of the trial that it starts from
    experiments::TrialConfig config;
    std::string config_hash;
    std::string variant_hash;
    std::string label;  // the recipe's
    experiments::Projection projection;
    std::vector<experiments::ScoreRequest> scores;  // asked of the trained model
    // This run neither trains nor scores it: it was measured before, is stale now, and is to stay so, or it is of a
    // search whose table is run.
    bool is_left = false;

    std::vector<std::string> score_keys() const;
    // "cl/1", or "cl[budget_fraction=0.5]/1" where there are axes, "cl:finetune[task=sst2]/1.3" where there are stages.
    std::string name() const;
};

// Whether data that is not here is an error, or may be supplied after planning.
enum class Data { required, may_be_missing };

// Where a trial is planned to run: on a GPU where the sweep plans for one of NVIDIA's or asks for gpu slots, or where
// the trial's dtype is one that only GPUs compute in.
engine::Device planned_device(const Spec& spec, const experiments::TrialConfig& config);

// Stages slowest, then recipes, axes (the first slowest), seeds fastest; a trial follows the one that it starts from.
// Trials of equal weights may have several places of a stage that others start from. Errors: config; missing, where a
// corpus is.
std::vector<Trial> expand(const Spec& spec, Data data = Data::required);

// The trials of [search]: every row of its stage at every learning rate, with the search's seeds, asked for the
// validation alone. Their stage is results_db::kSearchStage; ordinals go on from `ordinal`. Errors: those of expand().
std::vector<Trial> expand_search(const Spec& spec, std::int64_t ordinal = 0, Data data = Data::required);

// The order in which to run them: all of one seed before the next, shuffled within a seed by a key of the spec alone,
// so that no recipe always runs at the quiet hour. Positions in `trials`.
std::vector<std::size_t> execution_order(const std::vector<Trial>& trials, const std::string& spec_sha256);

}  // namespace deft::sweeps
