#pragma once
// Times as a shared machine gives them: a slow drift, a neighbour that comes and goes, spikes, and what is left.

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "reporting/analysis/statistics/paired_verdict.h"

namespace deft::reporting {

struct NoiseModel {
    double drift = 0.025, drift_memory = 0.95;  // AR(1): its deviation in the long run, and what a step keeps of it
    double neighbour = 0.06, switching = 0.02;  // slower by, and the chance a sample to come or go
    double white = 0.01;                        // deviation of each sample's own error
    double spikes = 0.03, spike_low = 0.10, spike_high = 0.40;  // chance a sample; slower by
};

class Machine {
 public:
    Machine(const NoiseModel& noise, unsigned seed) : noise_(noise), random_(seed) {
        drift_ = noise_.drift * normal_(random_);
        slowed_ = chance(0.5);
    }

    // One sample of work that takes `seconds` on a quiet machine; time goes on.
    double time(double seconds) {
        const double kept = noise_.drift_memory;
        drift_ = kept * drift_ + std::sqrt(1 - kept * kept) * noise_.drift * normal_(random_);
        if (chance(noise_.switching)) slowed_ = !slowed_;
        double log_time = std::log(seconds) + drift_ + noise_.white * normal_(random_);
        if (slowed_) log_time += std::log(1 + noise_.neighbour);
        if (chance(noise_.spikes))
            log_time += std::log(1 + noise_.spike_low + (noise_.spike_high - noise_.spike_low) * uniform_(random_));
        return std::exp(log_time);
    }

    // Side by side, head being slower by that ratio; which goes first is drawn.
    TimedPair pair(double ratio) {
        const bool base_first = chance(0.5);
        const double first = time(base_first ? 1 : ratio), second = time(base_first ? ratio : 1);
        return base_first ? TimedPair{first, second} : TimedPair{second, first};
    }

 private:
    bool chance(double probability) { return uniform_(random_) < probability; }

    NoiseModel noise_;
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    std::uniform_real_distribution<double> uniform_;
    double drift_ = 0;
    bool slowed_ = false;
};

}  // namespace deft::reporting
