#pragma once
// A quantity that grows over the steps of a trial: a difficulty, a length, a number of kept tokens.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "engine/data_efficiency/sampling/pacing.h"
#include "experiments/choices.h"

namespace deft {
class TableReader;
}

namespace deft::experiments {

struct GrowthPoint {
    double at = 0;  // fraction of the duration
    std::int64_t value = 0;
};

struct Growth {
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t multiple = 1;  // grows in multiples of this
    GrowthPacing pacing = GrowthPacing::linear;
    double root_degree = 2;                // root
    std::int64_t stages = 4;               // step
    std::vector<GrowthPoint> points = {};  // discrete and points; they give min and max
    double duration = 0;                   // fraction of the baseline's steps at this budget
    std::int64_t steps = 0;                // or a number of steps; neither: constant
};

// Values for the open defaults of `growth`, and its name in messages.
struct GrowthRange {
    std::int64_t most = 0;   // of max, and its default where max is 0
    std::string most_name;   // "model.seqlen"
    bool needs_max = false;  // no default
};

// Reads the points, fills in what the other keys, which are read already, leave open, and refuses what does not fit
// together. Errors: config, with the place.
void parse_growth(TableReader& table, Growth& growth, const GrowthRange& range);

// Adds the points to what holds all other fields, and drops those that its pacing does not use: what came later than
// the first release is written only where it is used, so that older trials keep their hashes.
void drop_unused(Json& table, const Growth& growth);

engine::Pacing pacing_of(const Growth& growth, std::int64_t baseline_steps);

}  // namespace deft::experiments
