#pragma once
// What a technique grows, as a configuration names it: read from and written into one by the names of its keys.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config.h"

namespace deft::experiments {

// From min to max over a duration: a curriculum metric's difficulty, or the tokens that a layer keeps.
struct Growth {
    std::string path;  // "curriculum.seqtru", "random_ltd"
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t step = 1;       // grows in multiples of it
    std::int64_t least_min = 1;  // below it a start is refused
    double duration = 0;  // fraction of the baseline's steps; where `steps` is given, what those are of them
    std::int64_t steps = 0;

    bool operator==(const Growth&) const = default;
};

// The curricula, then the routing, of this trial; empty where it has neither. Left out, with why in `left_out`: what
// does not grow from a start over a duration.
std::vector<Growth> growths_of(const TrialConfig& config, std::vector<std::string>& left_out);

// The trial with that start and duration. Errors: config.
TrialConfig with_growth(const TrialConfig& config, const Growth& growth);
// The same with no other technique than this one.
TrialConfig with_growth_alone(const TrialConfig& config, const Growth& growth);
// The trial without any technique.
TrialConfig without_techniques(const TrialConfig& config);

TrialConfig with_learning_rate(const TrialConfig& config, double rate);

// Starts to choose from, hardest first: the multiples of the growth's step from its least start up to its end, and the
// end itself, where nothing is left to grow.
struct StartGrid {
    explicit StartGrid(const Growth& growth);
    std::size_t size() const;
    std::int64_t at(std::size_t index) const;

    std::int64_t first = 0, step = 1, last = 0;
};

}  // namespace deft::experiments
