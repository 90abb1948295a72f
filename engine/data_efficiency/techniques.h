#pragma once
// Batches of about equally many tokens, and the learning rate that goes with their number of samples.

#include <cstdint>
#include <optional>

#include "engine/data_efficiency/sampling/pacing.h"
#include "engine/data_efficiency/token_dropping/token_dropping.h"
#include "engine/models/transformer_config.h"

namespace deft::engine {

enum class LearningRateScaling { linear, square_root, none };

struct VariableBatch {
    std::int64_t max_tokens = 0;
    std::int64_t min_samples = 1;
    std::int64_t max_samples = 0;  // 0: no bound
    LearningRateScaling scaling = LearningRateScaling::linear;
};

// How many samples of one length a step takes: as many as have max_tokens tokens, within the bounds.
std::int64_t samples_of_length(const VariableBatch& batch, std::int64_t length);

// The factor of the learning rate for a batch beside one of base_samples: their ratio (Goyal et al. 2017, section 2.1),
// its square root (Krizhevsky 2014, section 5), or one.
double learning_rate_scale(LearningRateScaling scaling, std::int64_t samples, std::int64_t base_samples);

// All data-efficiency techniques of a run as one value that the trainer asks each step: how many samples, what length,
// how many kept tokens.
//
// They compose so:
//   - seqtru cuts every sample to the length of the step; seqres joins the step's samples and cuts them again.
//   - A variable batch takes as many samples as have its tokens at the length of the step; with seqres the tokens of a
//     step are constant by themselves.
//   - Token dropping keeps min(kept tokens, length): a length at or below the kept tokens drops none.
//   - Budgets and learning-rate decay count layer-averaged tokens, whatever the batch; a variable batch scales the
//   rate.

struct Techniques {
    // Curriculum by truncated length: every sample is cut to the paced length (arXiv 2212.03597, section 3.1, seqtru).
    std::optional<Pacing> seqtru = {};
    // Layers that take only some tokens (section 3.2).
    std::optional<TokenDropping> dropping = {};
    // Curriculum by reshaped length (section 3.1, seqres): the step's samples, end to end, in rows of the paced length.
    // Ours: a row may hold the end of one sample and the beginning of the next, as packed samples hold documents, and
    // the last row is padded. The published code cuts each sample by itself and drops part of the rest.
    std::optional<Pacing> seqres = {};
    std::optional<Pacing> batch_ramp = {};  // samples of a step; its clock shows step
    std::optional<VariableBatch> variable_batch = {};

    std::int64_t dropping_layers() const { return dropping ? static_cast<std::int64_t>(dropping->layers.size()) : 0; }
};

struct StepPlan {
    std::int64_t samples = 1;  // drawn
    std::int64_t rows = 1;     // of the model's input: samples, unless they are reshaped
    // All rows' tokens, without the last reshaped one's padding. Where samples are shorter than rows, as BERT's are,
    // those are places for tokens: how many real tokens and targets a step has, its data says (engine/train/batches.h).
    std::int64_t tokens = 0;
    std::int64_t seqlen = 0;  // of each row
    std::int64_t kept = 0;    // tokens of each row in the layers that drop some; seqlen: none dropped
    // Layer-averaged tokens per row, rounded down, as the reference counts them.
    std::int64_t layer_tokens = 0;
    double learning_rate_scale = 1;
    std::int64_t cut = 0;  // tokens of the samples, where all have the full length, that no row takes
    bool drops() const { return kept < seqlen; }
    std::int64_t padding() const { return rows * seqlen - tokens; }
};

// Plans a step of batch_size samples unless a technique changes that. step counts from 0. As in the reference, the
// curriculum's clock shows step + 1 and random-LTD's shows step.
StepPlan plan_step(const ModelExtents& model, const Techniques& techniques, std::int64_t step,
                   std::int64_t batch_size = 1);

// The most of each that any step has.
struct LargestStep {
    std::int64_t samples = 0;
    std::int64_t tokens = 0;  // padding counted
    std::int64_t least_seqlen = 0;
};
LargestStep largest_step(const ModelExtents& model, const Techniques& techniques, std::int64_t batch_size);

}  // namespace deft::engine
