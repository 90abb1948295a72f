#pragma once
// The places of a sweep, and the training that represents each.

#include <cstdint>
#include <string>
#include <vector>

#include "results_db/connection.h"

namespace deft::results_db {

struct SweepPlace {
    std::int64_t trial_id = 0;
    std::string recipe, axes_json;
    std::int64_t ordinal = 0;
    std::string scores_json = "[]";
    std::string stage, seeds, imported_json;
    std::string newer_state = {}, newer_hash = {};  // as TrialRow's
};

// Ordered by ordinal. A place has several trainings where its data or the program changed between two runs: the one
// planned last that has ended well represents it, or else the one planned last.
std::vector<SweepPlace> places_of(Connection& connection, std::int64_t sweep_id);

}  // namespace deft::results_db
