#pragma once
// A technique's start and duration, read from a configuration and written into one by the names of its keys.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config.h"

namespace deft::experiments {

// From min to max over a duration: a curriculum metric's difficulty, or the tokens that a layer keeps.
struct Tunable {
    std::string path;  // "curriculum.seqtru", "random_ltd"
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t step = 1;       // grows in multiples of it
    std::int64_t least_min = 1;  // below it a start is refused
    double duration = 0;         // fraction of the baseline's steps; where `steps` is given, what those are of them
    std::int64_t steps = 0;

    bool operator==(const Tunable&) const = default;
};

// The curricula, then the token dropping, of this trial; empty where it has neither. Left out, with why in `left_out`:
// what does not grow from a start over a duration.
std::vector<Tunable> tunables_of(const TrialConfig& config, std::vector<std::string>& left_out);

// The trial with that start and duration. Errors: config.
TrialConfig with_tunable(const TrialConfig& config, const Tunable& tunable);
// The same with no other technique than this one.
TrialConfig with_tunable_alone(const TrialConfig& config, const Tunable& tunable);
// The trial without curriculum, token dropping and batches that change their size.
TrialConfig without_techniques(const TrialConfig& config);

TrialConfig with_learning_rate(const TrialConfig& config, double rate);

// Starts to choose from, hardest first: the multiples of the step from the least start up to the end, and the end
// itself, where nothing is left to grow.
struct StartGrid {
    explicit StartGrid(const Tunable& tunable);
    std::size_t size() const;
    std::int64_t at(std::size_t index) const;

    std::int64_t first = 0, step = 1, last = 0;
};

}  // namespace deft::experiments
