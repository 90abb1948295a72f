#pragma once
// Projected consumption of a trial, from its schedules run step by step, before anything is trained.

#include <cstdint>

#include <string>
#include <vector>
#include "engine/core/backend.h"

#include "experiments/config.h"

namespace deft::experiments {

// Without a model, parameters, FLOPs and memory are 0. A BERT sample counts as the length of its step, with its
// padding, as the published budgets count it.
struct Projection {
    bool has_steps =
        true;  // false where the records that epochs count are not here: steps, tokens and flops are then 0
    std::int64_t steps = 0;
    std::int64_t parameters = 0;
    std::int64_t active_parameters = 0;  // that one token meets
    std::int64_t input_tokens = 0;
    std::int64_t layer_tokens = 0;
    double flops = 0;
    double step_flops = 0;          // of one step, on average; of an imported model, what one would take
    double growth = 1;              // how many times as many tokens a step may have as the first one
    std::int64_t memory_bytes = 0;  // planned buffers, of one rank alone
};

Projection project(const TrialConfig& config, engine::Device device = engine::Device::cpu);

// A scheduled value that still grows when the training ends.
struct UnfinishedGrowth {
    std::string key;            // "curriculum.voc"
    std::int64_t duration = 0;  // steps until its maximum
};

std::vector<UnfinishedGrowth> unfinished_growth(const TrialConfig& config, std::int64_t steps);

// Errors: config, where this many ranks cannot train it together: rows of a step that they do not divide, or experts.
void require_ranks(const TrialConfig& config, int ranks);

// Bytes of planned buffers alone, without running the schedules, where this many ranks train the trial together.
struct PlannedBytes {
    std::int64_t largest = 0;  // of the last rank, whose shares are the largest
    std::int64_t all = 0;      // of all ranks, each taken for that one: they differ by how shares are rounded
};
// `limit`: bytes that a rank may plan, by which train.recompute = "auto" chooses. Errors: as require_ranks(), of
// experts.
PlannedBytes planned_bytes(const TrialConfig& config, engine::Device device, int ranks = 1, std::int64_t limit = 0);
// Bytes of one rank alone, also where the experts need several.
std::int64_t planned_alone(const TrialConfig& config, engine::Device device);

// train.recompute, or for "auto" the first of none, activation and block whose plan of the last rank is at most
// `limit`. None where that is 0, which is not known; block where nothing fits. All ranks choose alike.
RecomputeChoice chosen_recompute(const TrialConfig& config, engine::Device device, int ranks, std::int64_t limit);

// The plan of every buffer, as text: name, shape, bytes, by region; what `deft plan --memory` prints.
std::string memory_table(const TrialConfig& config, engine::Device device);

// The same of scoring, which needs no gradients, no moments and one layer's activations, and on every rank the whole
// model.
PlannedBytes planned_scoring_bytes(const TrialConfig& config, engine::Device device, int ranks = 1);
std::string scoring_memory_table(const TrialConfig& config, engine::Device device);

}  // namespace deft::experiments
