#pragma once
// Curricula over samples: which samples are admitted when.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/data_efficiency/sampling/difficulty_index.h"
#include "engine/data_efficiency/sampling/pacing.h"

namespace deft::engine {

// One metric: which share of the samples, or up to which difficulty, it admits at a step.
struct SampleCurriculum {
    Pacing pacing;           // of the percentage, or of the difficulty; its clock shows step + 1
    bool percentile = true;  // admitted: floor(samples * d / 100) easiest, at least one; else all with value <= d
    DifficultyIndex index;
    std::string name;  // for messages
};

// From `first_step` (0 the first) on, `admitted` samples are drawn from.
struct AdmissionPhase {
    std::int64_t first_step = 0;
    std::int64_t admitted = 0;
};

struct Admission {
    std::vector<AdmissionPhase> phases;  // consecutive ones differ in what they admit
    // (samples ever admitted), ids by the phase that admits them: those of phase p begin where phase p - 1's pool ends.
    IntegerColumn member;
    std::shared_ptr<const void> owner;
};

// Admitted is what every metric admits: the intersection. With several metrics it takes 4 bytes a sample (8 beyond 2^32
// samples), and 2 more while it is made; with one metric none.
// Errors: config, for metrics of different sample counts, a percentile of a metric with one value, a first step that
// admits no sample, and more than 4096 phases.
Admission admit(std::span<const SampleCurriculum> metrics, std::int64_t steps);

}  // namespace deft::engine
