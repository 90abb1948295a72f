#include "engine/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "engine/core/exec.h"

namespace deft::engine {

namespace {

struct Buffers {
    std::unique_ptr<Transformer> model;
    std::optional<PlannedDropping> dropping;
    Tensor sample_id, result;
};

Buffers plan_buffers(Arena& arena, const TrainerConfig& config, const Backend& backend) {
    const std::int64_t B = config.micro_batch_size;
    const LargestStep largest = largest_step(config.techniques, config.batch_size);
    Buffers buffers;
    buffers.model =
        std::make_unique<Transformer>(arena, config.model, backend, B, Purpose::training, config.recompute);
    const auto add = [&](const char* name, DType type, std::initializer_list<std::int64_t> shape) {
        return arena.add(Region::activations, name, type, shape);
    };
    buffers.sample_id = add("sample_id", DType::i64, {rows_at_once(config, largest.least_seqlen)});
    buffers.result = add("result", DType::f64, {2});
    if (config.techniques.dropping)
        buffers.dropping = plan_dropping(arena, *config.techniques.dropping, config.model, backend, B);
    return buffers;
}

template <class Item>
Memory staging(const Backend& backend, std::int64_t count) {
    return allocate_staging(backend.device, static_cast<std::size_t>(count) * sizeof(Item));
}

// Parts of Trainer::result_, each (1) f64.
Tensor grad_norm(const Tensor& result) {
    return result.view({1});
}
Tensor loss_sum(const Tensor& result) {
    return make_tensor(result.as<double>() + 1, DType::f64, {1});
}

}  // namespace

std::int64_t rows_at_once(const TrainerConfig& config, std::int64_t seqlen) {
    const bool by_tokens = config.techniques.seqres || config.techniques.variable_batch;
    return by_tokens ? config.micro_batch_size * config.model.max_seqlen / seqlen : config.micro_batch_size;
}

Trainer::Trainer(const TrainerConfig& config, const TokenCorpus& corpus, const Backend& backend,
                 InitialWeights weights)
    : config_(config),
      corpus_(corpus),
      sampler_(make_sampler(config, corpus.samples(config.model.max_seqlen))),
      arena_(backend.device),
      plan_(plan_step(config.techniques, 0, config.batch_size)),
      unique_tokens_(corpus.samples(config.model.max_seqlen)) {
    require_backend(backend, config.model.head_size());
    Buffers buffers = plan_and_commit(arena_, [&](Arena& arena) { return plan_buffers(arena, config_, backend); });
    model_ = std::move(buffers.model);
    sample_id_ = buffers.sample_id;
    dropping_ = std::move(buffers.dropping);
    result_ = buffers.result;
    flops_ = model_->flops();
    groups_ = model_->parameters().groups();
    exec_ = make_exec(backend, arena_);
    const LargestStep largest = largest_step(config.techniques, config.batch_size);
    staged_token_ = staging<std::int32_t>(backend, largest.tokens);
    staged_target_ = staging<std::int32_t>(backend, largest.tokens);
    staged_sample_id_ = staging<std::int64_t>(backend, largest.tokens / largest.least_seqlen + 1);
    draws_.reserve(static_cast<std::size_t>(largest.samples));
    if (dropping_) dropping_->choice.start(exec_);
    if (weights == InitialWeights::drawn) draw_initial_weights();
}

void Trainer::draw_initial_weights() {
    initialise(exec_, model_->parameters(), config_.seed, config_.model.init_std, config_.model.layers());
}

void Trainer::draw_samples() {
    draws_.resize(static_cast<std::size_t>(plan_.samples));
    sampler_.fill(counts_.samples, draws_);
    const std::int64_t length = config_.techniques.seqres ? config_.model.max_seqlen : plan_.seqlen;
    for (const Sampler::Draw& draw : draws_) unique_tokens_.see(draw.sample, length);
}

SamplingStatistics Trainer::sampling() const {
    return sampling_statistics(counts_, unique_tokens_, sampler_);
}

// Reshaped: row `first` begins at token first * T of the step's samples laid end to end.
void Trainer::copy_rows(std::int64_t first, std::int64_t B, std::int64_t T, std::int32_t* token,
                        std::int32_t* target) const {
    const std::int64_t S = config_.model.max_seqlen, all = static_cast<std::int64_t>(draws_.size()) * S;
    const std::int64_t end = std::min(all, (first + B) * T);
    for (std::int64_t at = first * T; at < end;) {
        const std::int64_t begin = at % S, length = std::min(S - begin, end - at);
        copy_sample_part(corpus_, draws_[static_cast<std::size_t>(at / S)].sample, S, begin, length, token, target);
        at += length;
        token += length;
        target += length;
    }
    const std::int64_t padding = (first + B) * T - end;
    std::fill_n(token, padding, 0);
    std::fill_n(target, padding, kernels::kIgnoreTarget);
}

void Trainer::load_micro_batch(std::int64_t first, std::int64_t B) {
    const std::int64_t T = plan_.seqlen;
    auto* token = static_cast<std::int32_t*>(staged_token_.get()) + first * T;    // (B, T)
    auto* target = static_cast<std::int32_t*>(staged_target_.get()) + first * T;  // (B, T)
    auto* sample_id = static_cast<std::int64_t*>(staged_sample_id_.get()) + first;  // (B)
    if (config_.techniques.seqres) {
        copy_rows(first, B, T, token, target);
        std::iota(sample_id, sample_id + B, first);  // rows have no other name
    } else {
        for (std::int64_t b = 0; b < B; ++b) {
            sample_id[b] = draws_[static_cast<std::size_t>(first + b)].sample;
            copy_sample(corpus_, sample_id[b], config_.model.max_seqlen, T, token + b * T, target + b * T);
        }
    }
    model_->load(exec_, B, T, token, target);
    write_tensor(exec_, sample_id_.view({B}), sample_id);
}

void Trainer::select_tokens(std::int64_t B) {
    const MicroBatch batch{config_.seed, counts_.steps, sample_id_.view({B}), model_->token.view({B, plan_.seqlen}),
                           model_->length()};
    kept_ = dropping_ ? kept_tokens(exec_, *dropping_, plan_, batch) : KeptTokens{};
}

void Trainer::start_gradients() {
    const std::int64_t T = plan_.seqlen;
    const auto targets = static_cast<double>(plan_.tokens);
    const std::int64_t at_once = rows_at_once(config_, T);
    draw_samples();
    for (std::int64_t first = 0; first < plan_.rows; first += at_once) {
        const std::int64_t B = std::min(at_once, plan_.rows - first);
        load_micro_batch(first, B);
        select_tokens(B);
        const Accumulate accumulate = first == 0 ? Accumulate::no : Accumulate::yes;
        model_->forward_backward(exec_, B, T, kept_, {config_.seed, counts_.steps, sample_id_.view({B})}, 1 / targets,
                                 accumulate);
        sum(exec_, loss_sum(result_), model_->loss.view({B, T}), accumulate);
        if (dropping_ && dropping_->choice.observe)
            dropping_->choice.observe(exec_, model_->target.view({B, T}), model_->loss.view({B, T}), accumulate);
    }
    global_norm(exec_, grad_norm(result_), model_->parameters().flat_gradients());
}

double Trainer::learning_rate() const {
    return plan_.learning_rate_scale * learning_rate_at(config_.learning_rate, counts_.layer_tokens);
}

void Trainer::start_update() {
    AdamW settings = config_.optimizer;
    settings.lr = learning_rate();
    settings.step = counts_.steps + 1;
    for (const ParameterTable::Group& group : groups_) {
        settings.weight_decay = group.decayed ? config_.optimizer.weight_decay : 0;
        adamw_update(exec_, group.value, group.rounded, group.m, group.v, group.grad, grad_norm(result_),
                     loss_sum(result_), settings);
    }
    if (dropping_ && dropping_->choice.finish_step)
        dropping_->choice.finish_step(exec_, grad_norm(result_), loss_sum(result_));
}

StepResult Trainer::read_result() {
    double values[2];
    read_tensor(exec_, values, result_);
    StepResult result;
    result.plan = plan_;
    result.lr = learning_rate();
    result.grad_norm = values[0];
    result.loss = values[1] / static_cast<double>(plan_.tokens);
    return result;
}

void Trainer::finish_step() {
    count_draws(counts_, draws_, sampler_);
    advance(counts_, flops_, config_.techniques, plan_);
    plan_ = plan_step(config_.techniques, counts_.steps, config_.batch_size);
}

StepResult Trainer::accumulate_gradients() {
    start_gradients();
    return read_result();
}

void Trainer::update() {
    start_update();
    finish_step();
}

StepResult Trainer::step() {
    start_gradients();
    start_update();  // writes nothing when loss or gradient norm is not finite
    const StepResult result = read_result();
    if (!std::isfinite(result.loss) || !std::isfinite(result.grad_norm))
        throw Error(ErrorKind::nonfinite,
                    fmt::format("training diverged at step {}: loss {}, gradient norm {}", counts_.steps + 1,
                                result.loss, result.grad_norm),
                    "lower train.learning_rate, lengthen train.warmup_tokens or set train.max_grad_norm",
                    "the weights of the step before");
    finish_step();
    return result;
}

void Trainer::restore(const Counts& counts, std::span<const std::int32_t> unique_tokens_by_sample) {
    counts_ = counts;
    plan_ = plan_step(config_.techniques, counts_.steps, config_.batch_size);
    unique_tokens_ = UniqueTokens(corpus_.samples(config_.model.max_seqlen));
    for (std::size_t i = 0; i < unique_tokens_by_sample.size(); ++i)
        unique_tokens_.see(static_cast<std::int64_t>(i), unique_tokens_by_sample[i]);
}

MemoryPlan plan_memory(const TrainerConfig& config, const Backend& backend) {
    Arena arena(backend.device);
    plan_buffers(arena, config, backend);
    return {arena.total_bytes(), arena.table()};
}

}  // namespace deft::engine
