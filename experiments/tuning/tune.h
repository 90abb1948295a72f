#pragma once
// The first of a row of settings that passes, where each is easier to pass than the one before it.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/tuning/probe.h"
#include "experiments/tuning/tunable.h"

namespace deft::experiments {

struct Search {
    struct Tried {
        std::size_t index = 0;
        bool passes = false;
    };
    std::vector<Tried> tried;         // in the order of asking
    std::optional<std::size_t> best;  // the first index known to pass; none where neither end does
    bool monotone = true;  // false: the hardest setting passes and the easiest does not, which the search assumes away
    bool stopped = false;  // before its end; `best` is then the best so far
};

// Asks both ends, then bisects between them: 2 + ceil(log2(size - 1)) questions at most. Index 0 is the hardest to
// pass. `passes` gives nothing where the search is to stop.
Search find_first_passing(std::size_t size, const std::function<std::optional<bool>(std::size_t)>& passes);

// The smallest start and the longest duration of each of a trial's techniques without a fluctuation of the validation
// loss, and the learning rates of baseline and technique, found by probes.

struct TuneSettings {
    ProbeSettings probe;
    int learning_rates = 0;  // to try for the baseline and for the technique each; 0: none
};

struct TunedProbe {
    std::string purpose;  // "curriculum.seqtru: start"
    std::string setting;  // "min = 8, duration = 0.384"
    Probe probe;
    std::string refused;  // by the trial itself, with why; nothing was trained then
    bool passes() const { return refused.empty() && probe.passes(); }
};

struct Tuned {
    Tunable own, best;  // best: own where nothing was found
    Search start, duration;
    bool found = false;  // both a start and a duration
};

struct RatesTried {
    std::vector<double> rates;   // ascending
    std::vector<double> losses;  // at the end of the probe; infinite where it fluctuated
    std::optional<double> best;

    bool best_at_edge() const { return best && rates.size() > 1 && (*best == rates.front() || *best == rates.back()); }
};

struct Tuning {
    TrialConfig config;  // as found, as far as found
    std::vector<TunedProbe> probes;
    std::vector<Tuned> tuned;
    bool whole_passes = false;  // all that was found, together
    std::optional<RatesTried> baseline_rates, technique_rates;
    bool stopped = false;
    std::vector<std::string> notes;

    // Every technique has a start and a duration, and they pass together; and there is a learning rate for each where
    // any was asked for.
    bool found() const;
};

// Progress of a long search: the probe, and the fraction of it that is done. False stops all.
using TuneWatch = std::function<bool(const std::string& what, double fraction)>;

// Each technique alone, its start at the trial's own duration and then its duration at that start; all combined once;
// then the learning rates, equally many for the trial without its techniques and with them. A setting that was probed
// once is not probed again. Errors: usage, for a trial without a technique that grows; as run_probe().
Tuning tune(const TrialConfig& config, const Dataset& dataset, const TuneSettings& settings, const TuneWatch& watch);

// Factors around 1, neighbours a factor of 2 apart: 0.5 1 2 for 3, 0.5 1 2 4 for 4.
std::vector<double> learning_rate_factors(int count);

}  // namespace deft::experiments
