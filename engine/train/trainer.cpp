#include "engine/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace deft::engine {

namespace {

struct Buffers {
    std::unique_ptr<Transformer> model;
    Tensor sample_id, layer_id, index, grad_norm, loss_sum;
};

Buffers plan_buffers(Arena& arena, const TrainerConfig& config, DType dtype, int threads) {
    const std::int64_t B = config.micro_batch_size, dropped = config.techniques.dropped_layers();
    Buffers buffers;
    buffers.model = std::make_unique<Transformer>(arena, config.model, dtype, B, threads);
    const auto add = [&](const char* name, DType type, std::initializer_list<std::int64_t> shape) {
        return arena.add(Region::activations, name, type, shape);
    };
    buffers.sample_id = add("sample_id", DType::i64, {B});
    buffers.grad_norm = add("grad_norm", DType::f64, {1});
    buffers.loss_sum = add("loss_sum", DType::f64, {1});
    if (dropped > 0) {
        buffers.layer_id = add("layer_id", DType::i32, {dropped});
        buffers.index = add("kept_index", DType::i32, {dropped, B, config.model.max_seqlen});
    }
    return buffers;
}

Sampler make_sampler(const TrainerConfig& config, const TokenCorpus& corpus) {
    const std::int64_t samples = corpus.samples(config.model.max_seqlen);
    if (!config.curriculum) return {config.seed, samples};
    if (config.curriculum->index.samples() != samples)
        throw Error(ErrorKind::config,
                    fmt::format("the difficulty index has {} samples, the corpus {}",
                                config.curriculum->index.samples(), samples),
                    "analyse the corpus again");
    const Counts end = run_schedule(config.model, config.techniques, config.batch_size, config.budget_layer_tokens);
    return {config.seed, config.batch_size, *config.curriculum, end.steps};
}

}  // namespace

Trainer::Trainer(const TrainerConfig& config, const TokenCorpus& corpus, int threads, DType dtype)
    : config_(config),
      corpus_(corpus),
      sampler_(make_sampler(config, corpus)),
      unique_tokens_(sampler_.samples()) {
    Buffers buffers =
        plan_and_commit(arena_, [&](Arena& arena) { return plan_buffers(arena, config_, dtype, threads); });
    model_ = std::move(buffers.model);
    sample_id_ = buffers.sample_id;
    layer_id_ = buffers.layer_id;
    index_ = buffers.index;
    grad_norm_ = buffers.grad_norm;
    loss_sum_ = buffers.loss_sum;
    groups_ = model_->parameters().groups();
    exec_ = make_cpu_exec(threads, arena_);
    initialise(model_->parameters(), config_.seed, config_.model.init_std, config_.model.layers);
    for (std::int64_t l = 0; l < config_.techniques.dropped_layers(); ++l)
        layer_id_.as<std::int32_t>()[l] = static_cast<std::int32_t>(Techniques::first_dropped_layer() + l);
}

void Trainer::load_micro_batch(std::int64_t first, std::int64_t B, std::int64_t T) {
    auto* token = model_->token.as<std::int32_t>();    // (B, T)
    auto* target = model_->target.as<std::int32_t>();  // (B, T)
    for (std::int64_t b = 0; b < B; ++b) {
        const std::int64_t id = sampler_.sample_at(counts_.steps * config_.batch_size + first + b);
        sample_id_.as<std::int64_t>()[b] = id;
        copy_sample(corpus_, id, config_.model.max_seqlen, T, token + b * T, target + b * T);
        unique_tokens_.see(id, T);
    }
}

void Trainer::select_tokens(std::int64_t B, const StepPlan& plan) {
    kept_ = {};
    if (!plan.drops()) return;
    kept_ = {index_.view({config_.techniques.dropped_layers(), B, plan.kept}), Techniques::first_dropped_layer()};
    select_kept_tokens(exec_, kept_.index, config_.seed, counts_.steps, layer_id_, sample_id_.view({B}), plan.seqlen);
}

StepResult Trainer::accumulate_gradients() {
    StepResult result;
    result.plan = plan_step(config_.techniques, counts_.steps);
    result.lr = learning_rate_at(config_.learning_rate, counts_.layer_tokens);
    const std::int64_t T = result.plan.seqlen;
    const double targets = static_cast<double>(config_.batch_size * T);
    for (std::int64_t first = 0; first < config_.batch_size; first += config_.micro_batch_size) {
        const std::int64_t B = std::min(config_.micro_batch_size, config_.batch_size - first);
        load_micro_batch(first, B, T);
        select_tokens(B, result.plan);
        const Accumulate accumulate = first == 0 ? Accumulate::no : Accumulate::yes;
        model_->forward_backward(exec_, B, T, kept_, 1 / targets, accumulate);
        sum(exec_, loss_sum_, model_->loss.view({B, T}), accumulate);
    }
    global_norm(exec_, grad_norm_, model_->parameters().flat_gradients());
    result.loss = loss_sum_.as<double>()[0] / targets;
    result.grad_norm = grad_norm_.as<double>()[0];
    return result;
}

void Trainer::update(const StepResult& result) {
    AdamW settings = config_.optimizer;
    settings.lr = result.lr;
    settings.step = counts_.steps + 1;
    for (const ParameterTable::Group& group : groups_) {
        settings.weight_decay = group.decayed ? config_.optimizer.weight_decay : 0;
        adamw_update(exec_, group.value, {}, group.m, group.v, group.grad, grad_norm_, loss_sum_, settings);
    }
    advance(counts_, config_.model, config_.techniques, result.plan, config_.batch_size);
}

StepResult Trainer::step() {
    const StepResult result = accumulate_gradients();
    if (!std::isfinite(result.loss) || !std::isfinite(result.grad_norm))
        throw Error(ErrorKind::nonfinite,
                    fmt::format("training diverged at step {}: loss {}, gradient norm {}", counts_.steps + 1,
                                result.loss, result.grad_norm),
                    "lower train.learning_rate, lengthen train.warmup_tokens or set train.max_grad_norm",
                    "the weights of the step before");
    update(result);
    return result;
}

void Trainer::restore(const Counts& counts, std::span<const std::int32_t> unique_tokens_by_sample) {
    counts_ = counts;
    unique_tokens_ = UniqueTokens(sampler_.samples());
    for (std::size_t i = 0; i < unique_tokens_by_sample.size(); ++i)
        unique_tokens_.see(static_cast<std::int64_t>(i), unique_tokens_by_sample[i]);
}

MemoryPlan plan_memory(const TrainerConfig& config, int threads) {
    Arena arena;
    plan_buffers(arena, config, DType::f32, threads);
    return {arena.total_bytes(), arena.table()};
}

}  // namespace deft::engine
