#pragma once
// All data-efficiency techniques of a run as one value that the trainer asks each step: what length, how many kept
// tokens.

#include <cstdint>
#include <optional>

#include "engine/data_efficiency/routing/routing.h"
#include "engine/data_efficiency/sampling/pacing.h"

namespace deft::engine {

struct Techniques {
    std::int64_t seqlen = 0;  // full length
    std::int64_t layers = 0;
    // Curriculum by truncated length: every sample is cut to the paced length (arXiv 2212.03597, section 3.1, seqtru).
    std::optional<Pacing> seqtru;
    // Layers that take only some tokens: random-LTD (section 3.2) or token bypass.
    std::optional<Routing> routing;

    std::int64_t routed_layers() const { return routing ? static_cast<std::int64_t>(routing->layers.size()) : 0; }
};

struct StepPlan {
    std::int64_t seqlen = 0;  // tokens of each sample
    std::int64_t kept = 0;    // tokens of each sample in the routed layers; seqlen: none dropped
    std::int64_t layer_tokens =
        0;  // of each sample, averaged over layers and rounded down, as the reference counts them
    bool drops() const { return kept < seqlen; }
};

// step counts from 0. As in the reference, the curriculum's clock shows step + 1 and random-LTD's shows step.
StepPlan plan_step(const Techniques& techniques, std::int64_t step);

}  // namespace deft::engine
