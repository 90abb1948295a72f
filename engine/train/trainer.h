#pragma once
// The training loop, one step at a time.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/core/arena.h"
#include "engine/core/awaited_tensor.h"
#include "engine/core/memory.h"
#include "engine/core/step_graphs.h"
#include "engine/data_efficiency/token_dropping/planned_dropping.h"
#include "engine/models/transformer.h"
#include "engine/train/batches.h"
#include "engine/train/communication_plan.h"
#include "engine/train/draws.h"
#include "engine/train/expert_totals.h"
#include "engine/train/rank_layout.h"
#include "engine/train/shared_weights.h"
#include "engine/train/trainer_config.h"

namespace deft::engine {

struct StepResult {
    StepPlan plan;
    double loss = 0;  // the sum of these, of the heads and experts that there are
    // Mean over a head's targets in the step, nats, of a head of values squared errors; 0 where it has none.
    double token_loss = 0, class_loss = 0;
    double balance_loss = 0, z_loss = 0;  // of experts, times their weights, summed over layers
    double lr = 0;
    double grad_norm = 0;
};

enum class InitialWeights {
    drawn,  // when the trainer is made
    later,  // zeros until a checkpoint is loaded, or they are drawn
};

// Values of a step that its kernels read from memory, so that recorded launches serve every step.
struct StepValues {
    std::uint64_t step = 0;  // from 0: of what is drawn in the model
    double token_scale = 1, class_scale = 1;
    OptimizerRates rates;
};

class Trainer {
 public:
    // Ranks: each trains its share of every step's rows, and all have the same weights and counts. Errors: memory;
    // config, for a curriculum of other data, a technique that does not fit the data, or a model or ranks that the
    // backend cannot run; missing, for a device that is not there.
    Trainer(const TrainerConfig& config, const TrainingData& data, const Backend& backend,
            InitialWeights weights = InitialWeights::drawn, const Communicator& ranks = {});
    // On the CPU.
    Trainer(const TrainerConfig& config, const TrainingData& data, int threads, DType dtype = DType::f32)
        : Trainer(config, data, Backend{Device::cpu, dtype, threads}) {}

    void draw_initial_weights();

    bool done() const { return counts_.layer_tokens >= config_.budget_layer_tokens; }

    // One step: gradients of a batch, clip, the optimizer's update. Errors: nonfinite, when loss or gradient norm is;
    // the weights are then those of before the step.
    StepResult step();

    // Whether step() on a GPU starts the gradients of the next step before it waits for its own result, where there is
    // one rank. Results, counts and weights stay the same: gradients change no weight. kept(), gradients, and what
    // model() has loaded are then of the next step. Weights must not be written between two steps; restore() is
    // allowed.
    void work_ahead(bool is_wanted) { works_ahead_ = is_wanted; }
    // Waits for the gradients that were started ahead, so that other work is timed apart from them. Errors: device.
    void wait();

    // The two halves of step(), for inspection between them. Where ranks share moments, each has the gradients of its
    // share of the weights alone.
    StepResult accumulate_gradients();
    void update();

    const Counts& counts() const { return counts_; }
    std::int64_t unique_tokens() const { return batches_->unique_tokens().count(); }
    // (samples), the longest prefix of each that was trained on.
    std::vector<std::int32_t> unique_tokens_by_sample() const { return batches_->unique_tokens().by_sample(); }
    SamplingStatistics sampling() const;
    // The load of each layer of experts in the step before; empty where there are none.
    std::vector<ExpertLoad> expert_loads() const;
    // Makes every weight of model().parameters() what its owner has. Where ranks share moments and the model reads
    // rounded weights, a step gathers those alone. All ranks call it.
    void gather_all_weights();
    // Goes on from there; weights and moments are the caller's to restore.
    void restore(const Counts& counts, std::span<const std::int32_t> unique_tokens_by_sample);
    Transformer& model() { return *model_; }
    Exec& exec() { return exec_; }
    const Arena& arena() const { return arena_; }
    const TrainerConfig& config() const { return config_; }
    const Communicator& ranks() const { return layout_.all; }
    // That model() may evaluate at once.
    std::int64_t samples_at_once() const { return engine::samples_at_once(config_.micro_batch_size, layout_.model); }
    // The launches of its steps on a GPU.
    StepGraphs& graphs() { return graphs_; }
    // Payload that left this rank so far; of it, with rows for experts of others and with what came of others' rows.
    std::int64_t bytes_sent() const { return layout_.bytes_sent(); }
    std::int64_t expert_bytes_sent() const { return layout_.model.expert_rows.bytes_sent(); }
    // The state that the token dropper has learned, f32, to be kept with the weights; empty where there is nothing.
    Tensor dropper_state() const { return dropping_ ? dropping_->choice.state : Tensor{}; }
    // Kept tokens of this rank's last micro-batch, empty when none was dropped.
    const KeptTokens& kept() const { return kept_; }

 private:
    // A step that was started.
    struct StartedStep {
        StepPlan plan;
        double lr = 0;
        StepTargets targets;
        Counts before;  // the step
    };
    StartedStep started_step() const { return {plan_, learning_rate(), batches_->targets(), counts_}; }

    double learning_rate() const;
    // Start work, and wait for none of it.
    void start_gradients();
    void start_update();
    // Waits for what was started.
    StepResult result_of(const StartedStep& step);
    // Draws the samples of the next step, and lays them out.
    void stage();
    void take_samples();
    // Stages the next step while a device computes this one, and starts its gradients where that is wanted.
    void prepare_next();
    void forget_next();
    void select_tokens(std::int64_t first, std::int64_t B);
    // The share of a micro-batch of B rows in the step, the factor of its experts' auxiliary losses.
    double share_of_step(std::int64_t B) const;
    // The factors of the sum of each head's losses, one over its targets in the step, and that share.
    LossScales scales(std::int64_t B) const;
    // Hands over what changes from this step to the next.
    void write_step_values();
    const StepValues* step_values() const;  // in the backend's memory
    // All that decides the launches of the loaded micro-batch.
    GraphShape shape_of_rows(std::int64_t B, Accumulate accumulate, bool is_last) const;
    // The sum of a step's squared gradients, and its root.
    void finish_gradients();
    void sum_losses(std::int64_t B, Accumulate accumulate);
    void sum_experts(std::int64_t B, Accumulate accumulate);
    // This rank's rows of the step. Errors: config, for rows that ranks do not divide.
    Share own_rows() const;
    // Gradients, their squares and losses = their sums over ranks.
    void sum_over_ranks();
    // Counts the step and plans the next. The FLOPs of rows that experts dropped are in the result.
    void count_step();
    void subtract_dropped_flops();

    TrainerConfig config_;
    RankLayout layout_;
    Sampler sampler_;
    Arena arena_;
    std::optional<Batches> batches_;  // once the arena has chosen a device
    std::unique_ptr<Transformer> model_;
    Exec exec_;
    std::vector<Sampler::Draw> draws_, next_draws_;  // (samples of the step), of the one that is staged
    bool is_staged_ = false;                         // whether the next step is
    bool has_gradients_ = false;                     // whether those of the next step are started
    bool works_ahead_ = false;
    std::optional<PlannedDropping> dropping_;
    Tensor draw_;                                                                    // (rows at once) i64
    Tensor step_values_;                                                             // (sizeof(StepValues)) u8
    std::array<Memory, 2> staged_values_{{{nullptr, nullptr}, {nullptr, nullptr}}};  // of this step and the next
    StepGraphs graphs_;
    // f64: gradient norm, which is the sum of squares first; sum of the heads' losses; of a model with two heads then
    // those of tokens and of classes; then the totals of each layer of experts.
    Tensor result_;  // (2 or 4 + those)
    std::optional<AwaitedTensor> awaited_result_;
    std::vector<double> values_;  // what it held when it was read last
    std::vector<ExpertTotals> expert_totals_;
    KeptTokens kept_;
    ModelFlops flops_;
    std::vector<SharedGroup> groups_;
    Counts counts_;
    StepPlan plan_;  // of the step that is next
};

// Bytes and list of the buffers that a trainer of this configuration plans on that rank, without allocating them.
struct MemoryPlan : PlannedMemory {
    ExchangedValues exchanged = {};
};
MemoryPlan plan_memory(const TrainerConfig& config, const Backend& backend, const RankOf& rank = {});

}  // namespace deft::engine
