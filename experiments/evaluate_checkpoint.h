#pragma once
// Evaluation of a checkpoint by itself: all that is needed lies in its folder.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/journal.h"
#include "engine/core/arena.h"
#include "engine/data/any_tokenizer.h"
#include "engine/models/transformer.h"
#include "experiments/config.h"

namespace deft::experiments {

// A trained model with what it was trained by. The arena holds the model's memory.
struct TrainedModel {
    TrialConfig config;
    std::string config_hash;
    std::string model_sha256;
    bool under_capacity = false;  // while it is scored, its experts keep to training's capacity
    std::int64_t step = 0;
    engine::AnyTokenizer tokenizer = engine::Tokenizer::bytes();
    std::unique_ptr<engine::Arena> arena;
    std::unique_ptr<engine::Transformer> model;
    engine::Backend backend;
    engine::Exec exec;
};

// `folder` is a step_00001234 as save_trial_checkpoint() leaves it. Errors: io, for what is missing or damaged; config,
// where its configuration, weights and tokenizer are not of one model; memory. Its experts drop nothing unless it is
// `under_capacity`.
TrainedModel load_trained_model(const std::filesystem::path& folder, const engine::Backend& backend,
                                bool under_capacity = false);

// With memory to generate at most this many texts at once, its experts dropping nothing. Errors: as above, and
// config, for a model that cannot continue a text (engine::require_generates).
TrainedModel load_generator(const std::filesystem::path& folder, const engine::Backend& backend, std::int64_t samples);

// The tokenizer of a model that continues text. Errors: config, for a model of BERT samples, which fills gaps in it.
const engine::Tokenizer& text_tokenizer(const TrainedModel& trained);

// The configuration of a checkpoint's trial, from its checkpoint.json alone. Errors: io, where that is damaged; config,
// for one of another program.
TrialConfig checkpoint_config(const std::filesystem::path& folder);

struct CheckpointEvaluation {
    std::vector<journal::Evaluation> scores;
    std::vector<std::string> notes;  // what differs from the trial's own evaluation
};

// Scores the tasks as the trial's own scoring does; none named: the trial's own. `documents`: of each task, 0 for all;
// nothing: as many as the trial. `shots`: each number of them; none named: as each task's file says. Contexts longer
// than the model lose their front, continuations are scored in windows. Errors: usage, without any task; those of
// load_task and evaluate_task.
CheckpointEvaluation evaluate_checkpoint(TrainedModel& trained, std::vector<std::string> tasks,
                                         const std::vector<std::int64_t>& shots, std::optional<std::int64_t> documents);

}  // namespace deft::experiments
