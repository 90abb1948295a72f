#pragma once
// Which samples a step trains on: a pure function of (seed, configuration, draw), so that any rank, any prefetch depth
// and any resume see the same, with no state to keep.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/data/permutation.h"
#include "engine/data_efficiency/sampling/admission.h"

namespace deft::engine {

class Sampler {
 public:
    // All samples from the start. Every epoch is a new permutation: no repeats within one.
    Sampler(std::uint64_t seed, std::int64_t samples);

    // A phase's newcomers are a cluster. In each phase every cluster gets its share of the draws by its size (rounded
    // so that the sum over phases is off by less than one or two), mixed at random; within a cluster, every epoch is a
    // new permutation. draws_before(step): how many samples the steps before that one draw; `steps`: of the whole run,
    // which ends the last phase.
    Sampler(std::uint64_t seed, Admission admission, std::int64_t steps,
            const std::function<std::int64_t(std::int64_t step)>& draws_before);

    // Its sample, and the sample's place in the order of admission: 0 the first admitted, samples() - 1 the last.
    struct Draw {
        std::int64_t sample = 0;
        std::int64_t rank = 0;
    };
    // Draws count from 0 through all steps.
    Draw at(std::int64_t draw) const;
    // Draws first, first + 1, ...: the index's memory is asked for ahead of its use.
    void fill(std::int64_t first, std::span<Draw> draws) const;
    std::int64_t sample_at(std::int64_t draw) const { return at(draw).sample; }

    std::int64_t samples() const { return cluster_start_.back(); }  // that are ever admitted
    std::int64_t pool_size(std::int64_t draw) const;                // that are admitted at this draw

 private:
    static constexpr std::int64_t kEpochsAhead = 8;
    struct Phase {
        std::int64_t first_draw = 0;
        std::int64_t draws = 0;
        Permutation mix;  // of its draws, the first time through
        // (clusters admitted): where each begins among the phase's draws, and how often it was drawn from before.
        std::vector<std::int64_t> begins, drawn_before;
    };
    std::size_t phase_of(std::int64_t draw) const;
    Permutation mix_of(std::size_t phase, std::int64_t draws, std::int64_t round) const;
    Permutation order_of(std::size_t cluster, std::int64_t epoch) const;
    std::int64_t from_cluster(std::size_t cluster, std::int64_t position) const;
    std::int64_t rank_of(std::int64_t draw) const;
    void make_first_orders();

    std::uint64_t seed_ = 0;
    std::vector<std::int64_t> cluster_start_;  // (clusters + 1), places in the order of admission
    std::vector<Permutation> first_orders_;    // (clusters, kEpochsAhead): making one takes as long as a draw
    std::vector<Phase> phases_;                // none: one cluster, drawn from in its order
    Admission admission_;
};

}  // namespace deft::engine
