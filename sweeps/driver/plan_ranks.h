#pragma once
// A sweep's demands on each rank, where several train a trial together: planned here, and started nowhere.

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "experiments/communication.h"
#include "sweeps/driver/plan.h"

namespace deft::sweeps {

struct RanksRow {
    std::size_t row = 0;  // of Plan::rows
    experiments::CommunicationPlan plan;
    std::optional<double> compute_seconds;  // of an average step, where the sweep names a device with a peak
    std::vector<double> link_seconds;       // of a step, by the device's links; empty where it states none
};

struct RanksPlan {
    int ranks = 1;
    int expert_ranks = 1;        // the most of any row
    std::vector<RanksRow> rows;  // of what is trained
    std::vector<std::string> notes;
};

// expert_ranks: 0, those of each recipe; else a recipe without experts is planned with 1. Errors: config, naming the
// recipe, for what experiments::plan_communication() refuses, and for expert_ranks where no recipe has experts.
RanksPlan plan_ranks(const Spec& spec, const Plan& plan, int ranks, int expert_ranks);

// {"ranks", "expert_ranks", "links", "rows", "notes"}; a row names its recipe as those of the plan do.
Json to_json(const RanksPlan& ranks, const Plan& plan);

}  // namespace deft::sweeps
