#pragma once
// Time of a trial's training, predicted by the step model of engine/bench/step_model.h and averaged over the shapes of
// its schedule. Nothing is measured.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/bench/step_model.h"
#include "experiments/config.h"
#include "experiments/projection.h"

namespace deft::experiments {

// Devices of one kind that train a trial together.
struct PredictedOn {
    engine::CardModel card;
    engine::DType dtype = engine::DType::bf16;  // of activations
    std::int64_t devices = 1;
};

// One step in place of its neighbours.
struct SampledStep {
    std::int64_t step = 0;              // from 1
    std::int64_t samples = 0;           // of all devices
    std::int64_t seqlen = 0, kept = 0;  // tokens of a row, and those that layers with dropped tokens take
    double share = 0;                   // of the schedule's steps
    double seconds = 0;                 // predicted, of one device
};

struct PredictedTraining {
    std::vector<SampledStep> sampled;
    std::int64_t steps = 0;
    double input_tokens = 0;     // of all steps and devices
    double between_devices = 0;  // seconds of an average step: gradients, without overlap or latency

    double ops_seconds() const;   // of an average step on one device
    double step_seconds() const;  // with what is between devices
    double seconds() const { return step_seconds() * static_cast<double>(steps); }
    double tokens_per_second() const { return input_tokens / seconds(); }
};

// Predicted seconds by the trial's settings and shape of a step: trials that differ in rates or seeds share them.
using PredictedShapes = std::map<std::string, double>;

// Number of equal parts of a schedule whose middle steps are recorded.
inline constexpr std::int64_t kSampledSteps = 9;

// Why a step with buffers of that size is not recorded; empty: it is. No GPU holds a larger one, and staging its
// samples takes this machine's memory.
std::string lacks_room(std::int64_t bytes);

// Why a trial has no prediction; empty: it has one.
std::string lacks_prediction(const TrialConfig& config, const Projection& projection);

// A device trains its share of each step's samples, rounded up, of full length. Needs lacks_prediction() to be empty.
// Errors: config, for a head size that the cuda backend lacks; memory, for buffers that cannot be mapped.
PredictedTraining predict_training(const TrialConfig& config, const Projection& projection, const PredictedOn& on,
                                   PredictedShapes& shapes);

// Seconds of one step of batch_size samples on one device. Two of more than three equal micro-batches are recorded;
// the others take the time of the second.
double predict_step_of_batch(const engine::TrainerConfig& config, const engine::TrainingData& data,
                             const engine::CardModel& card, engine::DType dtype);

}  // namespace deft::experiments
