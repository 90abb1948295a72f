#pragma once
// The consumption of training: the counts that budgets, tables and projections share.

#include <array>
#include <cstdint>
#include <vector>

#include "engine/data_efficiency/techniques.h"
#include "engine/models/transformer.h"
#include "engine/train/trainer_config.h"

namespace deft::engine {

// Forward and backward FLOPs of one row under this plan, of the tokens really processed: each layer by its own tokens.
double sample_flops(const ModelFlops& model, const Techniques& techniques, const StepPlan& plan);

// Totals since the start.
struct Counts {
    std::int64_t steps = 0;
    std::int64_t samples = 0;       // drawn
    std::int64_t input_tokens = 0;  // repeats counted
    std::int64_t layer_tokens = 0;  // layer-averaged
    double flops = 0;
    std::int64_t cut_tokens = 0;      // of drawn samples, left out by truncation
    std::int64_t padding_tokens = 0;  // of the rows beside the input tokens; where samples are packed, not processed
    // Draws per decile of the samples in the order of their admission; the trainer fills it, a schedule has none.
    std::array<std::int64_t, 10> draws_by_tenth{};
};

// The kinds of tokens in a step.
struct StepTokens {
    std::int64_t input = 0;    // real ones
    std::int64_t cut = 0;      // of the drawn samples, left out by truncation
    std::int64_t padding = 0;  // the rest of the rows
};

// Assumes samples of full length: a schedule knows no others. Where samples are shorter, as BERT's are, the
// trainer counts what they really have; steps, budgets, learning rates and FLOPs follow the plan alone, so that padding
// beside such samples is paid for as tokens are, and a run is the same whether they are packed or padded.
StepTokens planned_tokens(const StepPlan& plan);

// Layer-averaged tokens of a step. A row of seqlen tokens counts as plan.layer_tokens of them, so padding counts as
// little as the row it ends.
std::int64_t step_layer_tokens(const StepPlan& plan);

void advance(Counts& counts, const ModelFlops& model, const Techniques& techniques, const StepPlan& plan,
             const StepTokens& tokens);
// Advances by planned_tokens().
void advance(Counts& counts, const ModelFlops& model, const Techniques& techniques, const StepPlan& plan);

// More than anybody trains: a schedule of this many takes seconds to run.
inline constexpr std::int64_t kMostSteps = 100'000'000;

// Runs the schedule to the budget without training. Errors: config, beyond kMostSteps.
Counts run_schedule(const TrainerConfig& config);

// Layer-averaged tokens of the schedule's first steps, of which it has no more than reach the budget: where a warm-up
// of `steps` steps ends. A function of the configuration alone, so that a resumed run finds the same.
std::int64_t layer_tokens_after(const TrainerConfig& config, std::int64_t steps);

// Errors: config, where ranks do not divide the rows of a step.
void require_even_rows(const StepPlan& plan, std::int64_t step, int ranks);
// Checks each step of the schedule.
void require_even_rows(const TrainerConfig& config, int ranks);

// Distinct tokens of samples: of each, the longest prefix seen.
class UniqueTokens {
 public:
    explicit UniqueTokens(std::int64_t samples) : longest_(static_cast<std::size_t>(samples), 0) {}
    void see(std::int64_t sample, std::int64_t length);
    std::int64_t count() const { return count_; }
    std::int64_t samples() const { return samples_; }  // distinct ones
    const std::vector<std::int32_t>& by_sample() const { return longest_; }

 private:
    std::vector<std::int32_t> longest_;
    std::int64_t count_ = 0;
    std::int64_t samples_ = 0;
};

}  // namespace deft::engine
