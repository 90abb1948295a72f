#include "engine/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "engine/core/exec.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/runtime.h"

namespace deft::engine {

namespace {

struct Buffers {
    std::unique_ptr<Transformer> model;
    std::optional<PlannedDropping> dropping;
    Tensor draw, step_values, result, received;
};

// The number of gradient norms and losses in Trainer::result_.
std::int64_t results_of_heads(const TransformerConfig& model) {
    return model.head && model.class_head ? 4 : 2;
}

// The most bytes of a device that received values take, beside the place where they belong.
constexpr std::int64_t kMostReceivedBytes = std::int64_t{64} << 20;

Buffers plan_buffers(Arena& arena, const TrainerConfig& config, const Backend& backend, const RankOf& rank,
                     const ModelRanks& ranks) {
    const std::int64_t B = config.micro_batch_size;
    const LargestStep largest = largest_step(config);
    Buffers buffers;
    buffers.model = std::make_unique<Transformer>(arena, config.model, backend, B, Purpose::training, config.recompute,
                                                  moments_of(config.optimizer), ranks);
    const auto add = [&](const char* name, DType type, std::initializer_list<std::int64_t> shape) {
        return arena.add(Region::activations, name, type, shape);
    };
    buffers.draw = add("draw", DType::i64, {rows_at_once(config, largest.least_seqlen)});
    buffers.step_values = add("step_values", DType::u8, {sizeof(StepValues)});
    const std::int64_t of_heads = results_of_heads(config.model);
    buffers.result = add("result", DType::f64, {end_of(expert_totals(config.model, of_heads), of_heads)});
    if (config.techniques.dropping)
        buffers.dropping = plan_dropping(arena, *config.techniques.dropping, config.model, backend, B);
    if (backend.device != Device::cpu && rank.ranks > 1) {
        const std::int64_t gradients = buffers.model->parameters().flat_gradients().bytes();
        buffers.received = add("received", DType::u8, {std::min(gradients, kMostReceivedBytes)});
    }
    return buffers;
}

// Before anything is asked of the device.
const TrainerConfig& checked(const TrainerConfig& config, const Backend& backend) {
    require_backend(backend, config.model.head_size());
    return config;
}

constexpr GraphShape kUpdate{};  // one for all steps

// Parts of Trainer::result_.
Tensor grad_norm(const Tensor& result) {
    return result.part(0, 1);
}
Tensor loss_sum(const Tensor& result) {
    return result.part(1, 1);
}
Tensor token_loss_sum(const Tensor& result) {
    return result.part(2, 1);
}
Tensor class_loss_sum(const Tensor& result) {
    return result.part(3, 1);
}

// The divisor that turns a sum over a head's targets into a mean. A step without a target has no gradient, and never
// divides by zero.
double divisor(std::int64_t targets) {
    return static_cast<double>(std::max<std::int64_t>(1, targets));
}

}  // namespace

Trainer::Trainer(const TrainerConfig& config, const TrainingData& data, const Backend& backend, InitialWeights weights,
                 const Communicator& ranks)
    : config_(checked(config, backend)),
      layout_(lay_out_ranks(config, ranks)),
      sampler_(make_sampler(config, sample_count(data, config.model.max_seqlen))),
      arena_(backend.device),
      plan_(plan_step(config, 0)) {
    Buffers buffers = plan_and_commit(
        arena_, [&](Arena& arena) { return plan_buffers(arena, config_, backend, ranks.rank_of(), layout_.model); });
    batches_.emplace(data, config, backend.device, backend.device == Device::cpu ? 1 : 2);
    model_ = std::move(buffers.model);
    draw_ = buffers.draw;
    step_values_ = buffers.step_values;
    for (Memory& values : staged_values_) values = allocate_staging(backend.device, sizeof(StepValues));
    dropping_ = std::move(buffers.dropping);
    result_ = buffers.result;
    awaited_result_.emplace(backend.device, result_.bytes());
    values_.resize(static_cast<std::size_t>(result_.numel()));
    expert_totals_ = expert_totals(config_.model, results_of_heads(config_.model));
    flops_ = model_->flops();
    groups_ = shared_groups(model_->parameters(), model_->blocks().size(), layout_.values, layout_.same_experts);
    exec_ = make_exec(backend, arena_);
    if (buffers.received)
        layout_.use_device(exec_.cuda, std::as_writable_bytes(buffers.received.elements<std::uint8_t>()));
    for (std::vector<Sampler::Draw>* draws : {&draws_, &next_draws_})
        draws->reserve(static_cast<std::size_t>(largest_step(config).samples));
    if (dropping_) dropping_->choice.start(exec_);
    if (weights == InitialWeights::drawn) draw_initial_weights();
}

void Trainer::draw_initial_weights() {
    initialise(exec_, model_->parameters(), config_.seed, config_.model.init_std, config_.model.layers());
}

SamplingStatistics Trainer::sampling() const {
    return sampling_statistics(counts_, batches_->unique_tokens(), sampler_);
}

void Trainer::stage() {
    require_even_rows(plan_, counts_.steps, layout_.all.size());
    next_draws_.resize(static_cast<std::size_t>(plan_.samples));
    const std::int64_t first = first_draw(config_, counts_.steps, counts_.samples);
    sampler_.fill(first, next_draws_);
    batches_->stage_next(plan_, next_draws_, first, rows_at_once(config_, plan_.seqlen), layout_.all.size());
}

void Trainer::take_samples() {
    if (!std::exchange(is_staged_, false)) stage();
    std::swap(draws_, next_draws_);
    batches_->take_next();
}

void Trainer::prepare_next() {
    if (exec_.device == Device::cpu || done()) return;  // a CPU has computed the step already
    try {
        stage();
        is_staged_ = true;
        if (!works_ahead_ || layout_.all.size() > 1 || exec_.profile != nullptr) return;
        start_gradients();
        has_gradients_ = true;
    } catch (const Error&) {
        // The next step starts again and throws it; the current step must have its result first.
    }
}

void Trainer::wait() {
    if constexpr (kernels::cuda::kBuilt)
        if (has_gradients_) kernels::cuda::synchronise(exec_.cuda);
}

// Copies from pinned memory that the next steps write again may still be under way.
void Trainer::forget_next() {
    wait();
    is_staged_ = has_gradients_ = false;
}

Share Trainer::own_rows() const {
    require_even_rows(plan_, counts_.steps, layout_.all.size());
    return share_of(plan_.rows, layout_.all.rank(), layout_.all.size());
}

void Trainer::select_tokens(std::int64_t first, std::int64_t B) {
    const ModelInput input = batches_->rows(first, B);
    write_tensor(exec_, draw_.view({B}), input.draw);
    const Tensor token = model_->token ? model_->loaded(model_->token) : Tensor{};
    const MicroBatch batch{config_.seed, counts_.steps,    plan_.seqlen,     draw_.view({B}),
                           token,        model_->length(), model_->packed(), input.kept_start};
    kept_ = dropping_ ? kept_tokens(exec_, *dropping_, plan_, batch) : KeptTokens{};
}

std::vector<ExpertLoad> Trainer::expert_loads() const {
    std::vector<ExpertLoad> loads;
    for (const ExpertTotals& totals : expert_totals_)
        loads.push_back(
            load_of(totals, values_, *config_.model.blocks[static_cast<std::size_t>(totals.layer)].experts));
    return loads;
}

double Trainer::share_of_step(std::int64_t B) const {
    return static_cast<double>(B) / static_cast<double>(plan_.rows);
}

LossScales Trainer::scales(std::int64_t B) const {
    return {StepValue<double>::in(&step_values()->token_scale), StepValue<double>::in(&step_values()->class_scale),
            share_of_step(B)};
}

const StepValues* Trainer::step_values() const {
    return static_cast<const StepValues*>(step_values_.data);
}

void Trainer::write_step_values() {
    const StepTargets& targets = batches_->targets();
    const Memory& staged = staged_values_[static_cast<std::size_t>(counts_.steps % 2)];
    *static_cast<StepValues*>(staged.get()) = {static_cast<std::uint64_t>(counts_.steps), 1 / divisor(targets.tokens),
                                               1 / divisor(targets.classes),
                                               optimizer_rates(config_.optimizer, learning_rate(), counts_.steps + 1)};
    write_tensor(exec_, step_values_, staged.get());
}

GraphShape Trainer::shape_of_rows(std::int64_t B, Accumulate accumulate, bool is_last) const {
    GraphShape shape = {B,
                        plan_.rows,
                        plan_.seqlen,
                        model_->loaded_rows(),
                        model_->packed().longest,
                        bool(model_->length()),
                        model_->target_rows(),
                        model_->class_rows(),
                        accumulate == Accumulate::yes,
                        is_last};
    if (kept_.index) {
        shape[10] = kept_.index.dim(0);
        shape[11] = kept_.index.dim(1);
        shape[12] = kept_.index.dim(2);
        shape[13] = kept_.packed.longest;
    }
    return shape;
}

void Trainer::sum_experts(std::int64_t B, Accumulate accumulate) {
    for (const ExpertTotals& totals : expert_totals_) {
        const Experts& experts = *model_->blocks()[static_cast<std::size_t>(totals.layer)].experts();
        experts.sum_totals(exec_, result_.part(totals.first, totals.at.size()), share_of_step(B), accumulate);
    }
}

// The update reads the sum of all: one that is not finite stops it, whichever head lost it.
void Trainer::sum_losses(std::int64_t B, Accumulate accumulate) {
    const bool has_tokens = config_.model.head.has_value(), has_classes = config_.model.class_head.has_value();
    if (has_tokens) sum(exec_, loss_sum(result_), model_->loaded(model_->loss), accumulate);
    if (has_classes)
        sum(exec_, loss_sum(result_), model_->class_loss.view({B}), has_tokens ? Accumulate::yes : accumulate);
    if (!has_tokens || !has_classes) return;
    sum(exec_, token_loss_sum(result_), model_->loaded(model_->loss), accumulate);
    sum(exec_, class_loss_sum(result_), model_->class_loss.view({B}), accumulate);
}

void Trainer::start_gradients() {
    const std::int64_t T = plan_.seqlen;
    const std::int64_t at_once = rows_at_once(config_, T);
    const Share own = own_rows();
    const bool is_alone = layout_.all.size() == 1;
    take_samples();
    write_step_values();
    for (std::int64_t first = own.begin; first < own.end; first += at_once) {
        const std::int64_t B = std::min(at_once, own.end - first);
        model_->load(exec_, batches_->rows(first, B));
        select_tokens(first, B);
        const Accumulate accumulate = first == own.begin ? Accumulate::no : Accumulate::yes;
        const bool is_last = first + B == own.end;
        BlockDone done;
        if (is_last && !is_alone) done = [this](std::int64_t block) { begin_summing_block(groups_, block); };
        const auto work = [&] {
            const StepValue<std::uint64_t> step = StepValue<std::uint64_t>::in(&step_values()->step);
            model_->forward_backward(exec_, B, T, kept_, {config_.seed, step, draw_.view({B})}, scales(B), accumulate,
                                     done);
            sum_losses(B, accumulate);
            sum_experts(B, accumulate);
            if (dropping_ && dropping_->choice.observe)
                dropping_->choice.observe(exec_, model_->loaded(model_->target), model_->loaded(model_->loss),
                                          accumulate);
            if (is_last && is_alone) finish_gradients();
        };
        // Ranks exchange gradients on the host's side during the backward pass.
        is_alone ? graphs_.run(exec_, shape_of_rows(B, accumulate, is_last), work) : work();
    }
    if (!is_alone) finish_gradients();
}

void Trainer::finish_gradients() {
    if (layout_.all.size() > 1)
        sum_over_ranks();
    else
        sum_of_squares(exec_, grad_norm(result_), model_->parameters().flat_gradients(), Accumulate::no);
    square_root(exec_, grad_norm(result_));
}

// The sums of blocks' gradients have begun in the backward pass.
void Trainer::sum_over_ranks() {
    finish_summing(groups_);
    sum_own_squares(exec_, groups_, grad_norm(result_));
    layout_.values.all_reduce(result_.elements<double>());
    if (config_.zero == 0) gather_gradients(groups_);
    if (!dropping_) return;
    for (const Tensor& observed : dropping_->choice.observed)
        layout_.values.all_reduce(observed.elements<std::int64_t>());
}

double Trainer::learning_rate() const {
    return plan_.learning_rate_scale * learning_rate_at(config_.learning_rate, counts_.steps, counts_.layer_tokens);
}

void Trainer::start_update() {
    const auto work = [&] {
        for (const SharedGroup& shared : groups_)
            engine::update(exec_, config_.optimizer, shared.group, grad_norm(result_), loss_sum(result_),
                           &step_values()->rates);
        if (config_.zero == 1) gather_weights(groups_);
        if (dropping_ && dropping_->choice.finish_step)
            dropping_->choice.finish_step(exec_, grad_norm(result_), loss_sum(result_));
    };
    layout_.all.size() == 1 ? graphs_.run(exec_, kUpdate, work) : work();
}

StepResult Trainer::result_of(const StartedStep& step) {
    const auto* const read = static_cast<const double*>(awaited_result_->wait());
    values_.assign(read, read + result_.numel());
    const StepTargets& targets = step.targets;
    const bool has_tokens = config_.model.head.has_value(), has_classes = config_.model.class_head.has_value();
    const bool has_both = has_tokens && has_classes;
    StepResult result;
    result.plan = step.plan;
    result.lr = step.lr;
    result.grad_norm = values_[0];
    if (has_tokens) result.token_loss = values_[has_both ? 2 : 1] / divisor(targets.tokens);
    if (has_classes) result.class_loss = values_[has_both ? 3 : 1] / divisor(targets.classes);
    const AuxiliaryLoss auxiliary = auxiliary_loss(expert_totals_, values_, config_.model);
    result.balance_loss = auxiliary.balance;
    result.z_loss = auxiliary.z;
    result.loss = result.token_loss + result.class_loss + result.balance_loss + result.z_loss;
    return result;
}

void Trainer::count_step() {
    batches_->count_taken();
    count_draws(counts_, draws_, sampler_);
    advance(counts_, flops_, config_.techniques, plan_, batches_->tokens());
    plan_ = plan_step(config_, counts_.steps);
}

void Trainer::subtract_dropped_flops() {
    counts_.flops -= dropped_flops(expert_totals_, values_, *model_);
}

StepResult Trainer::accumulate_gradients() {
    if (!std::exchange(has_gradients_, false)) start_gradients();
    awaited_result_->start(exec_, result_);
    return result_of(started_step());
}

void Trainer::update() {
    start_update();
    count_step();
    subtract_dropped_flops();
}

StepResult Trainer::step() {
    if (!std::exchange(has_gradients_, false)) start_gradients();
    start_update();  // writes nothing when loss or gradient norm is not finite
    awaited_result_->start(exec_, result_);
    const StartedStep started = started_step();
    count_step();
    prepare_next();
    const StepResult result = result_of(started);
    if (!std::isfinite(result.loss) || !std::isfinite(result.grad_norm)) {
        counts_ = started.before;  // the step is not done
        plan_ = started.plan;
        forget_next();
        throw Error(ErrorKind::nonfinite,
                    fmt::format("training diverged at step {}: loss {}, gradient norm {}", counts_.steps + 1,
                                result.loss, result.grad_norm),
                    "lower train.learning_rate, lengthen the warm-up or set train.max_grad_norm",
                    "the weights of the step before");
    }
    subtract_dropped_flops();
    return result;
}

void Trainer::gather_all_weights() {
    if (config_.zero == 1 && layout_.all.size() > 1) gather_values(groups_);
}

void Trainer::restore(const Counts& counts, std::span<const std::int32_t> unique_tokens_by_sample) {
    counts_ = counts;
    plan_ = plan_step(config_, counts_.steps);
    forget_next();
    batches_->restore(unique_tokens_by_sample);
}

MemoryPlan plan_memory(const TrainerConfig& config, const Backend& backend, const RankOf& rank) {
    Arena arena(backend.device);
    const Buffers buffers = plan_buffers(arena, config, backend, rank, model_ranks(config, rank));
    MemoryPlan plan{arena.planned()};
    plan.exchanged = exchanged_values(buffers.model->parameters(), buffers.result,
                                      buffers.dropping ? buffers.dropping->choice.observed : std::vector<Tensor>{});
    return plan;
}

}  // namespace deft::engine
