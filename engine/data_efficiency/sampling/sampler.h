#pragma once
// Which samples a step trains on: a pure function of (seed, configuration, draw), so that any rank, any prefetch depth
// and any resume see the same, with no state to keep.

#include <cstdint>
#include <vector>

#include "engine/data/permutation.h"
#include "engine/data_efficiency/sampling/difficulty_index.h"
#include "engine/data_efficiency/sampling/pacing.h"

namespace deft::engine {

// From `first_step` (0 the first) on, the `admitted` easiest samples are drawn from.
struct AdmissionPhase {
    std::int64_t first_step = 0;
    std::int64_t admitted = 0;
};

// A curriculum over samples: which share of them, or up to which difficulty, is admitted at a step.
struct SampleCurriculum {
    Pacing pacing;            // of the percentage, or of the difficulty; its clock shows step + 1
    bool percentile = true;   // admitted: floor(samples * d / 100), at least one; else all with value <= d
    DifficultyIndex index;
};

// The phases of `steps` steps; consecutive ones differ in what they admit.
// Errors: config, for a value below every sample's, and for more than 4096 phases.
std::vector<AdmissionPhase> admission_phases(const SampleCurriculum& curriculum, std::int64_t steps);

class Sampler {
 public:
    // All samples from the start. Every epoch is a new permutation: no repeats within one.
    Sampler(std::uint64_t seed, std::int64_t samples);

    // A phase's newcomers are a cluster. In each phase every cluster gets its share of the draws by its size (rounded so
    // that the sum over phases is off by less than one or two), mixed at random; within a cluster, every epoch is a new
    // permutation. `steps`: of the whole run, which ends the last phase.
    Sampler(std::uint64_t seed, std::int64_t batch_size, const SampleCurriculum& curriculum, std::int64_t steps);

    // draw = step * batch_size + position in the batch, from 0.
    std::int64_t sample_at(std::int64_t draw) const;
    std::int64_t samples() const { return samples_; }

 private:
    struct Phase {
        std::int64_t first_draw = 0;
        std::int64_t draws = 0;
        // (clusters admitted): where each begins among the phase's draws, and how often it was drawn from before.
        std::vector<std::int64_t> begins, drawn_before;
    };
    std::int64_t from_cluster(std::int64_t cluster, std::int64_t position) const;

    std::uint64_t seed_ = 0;
    std::int64_t samples_ = 0;
    std::vector<std::int64_t> cluster_start_;  // (clusters + 1), ranks in the difficulty order
    std::vector<Phase> phases_;                // none: one cluster, drawn from in its order
    DifficultyIndex index_;
};

}  // namespace deft::engine
