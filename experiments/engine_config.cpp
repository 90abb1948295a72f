#include "experiments/engine_config.h"

#include <cmath>

#include "engine/data/byte_tokenizer.h"

namespace deft::experiments {

namespace {

std::int64_t duration_steps(double fraction, std::int64_t steps, std::int64_t baseline_steps) {
    if (steps > 0) return steps;
    return static_cast<std::int64_t>(std::llround(fraction * static_cast<double>(baseline_steps)));
}

engine::Decay decay_of(const std::string& name) {
    if (name == "constant") return engine::Decay::constant;
    return name == "linear" ? engine::Decay::linear : engine::Decay::cosine;
}

}  // namespace

engine::TrainerConfig trainer_config(const TrialConfig& config) {
    engine::TrainerConfig trainer;
    trainer.model = {config.model.layers, config.model.width, config.model.heads,
                     config.model.seqlen, engine::kByteVocab, config.model.init_std};
    trainer.batch_size = config.train.batch_size;
    trainer.micro_batch_size = config.train.micro_batch_size;
    trainer.budget_layer_tokens = budget_layer_tokens(config.train);
    const std::int64_t step_tokens = trainer.batch_size * config.model.seqlen;
    const std::int64_t baseline_steps = (trainer.budget_layer_tokens + step_tokens - 1) / step_tokens;

    trainer.techniques.seqlen = config.model.seqlen;
    trainer.techniques.layers = config.model.layers;
    if (const auto& c = config.curriculum)
        trainer.techniques.seqtru =
            engine::Pacing{c->min, c->max, c->difficulty_step, duration_steps(c->duration, c->steps, baseline_steps),
                           c->pacing == "root" ? c->root_degree : 1};
    if (const auto& l = config.random_ltd)
        trainer.techniques.random_ltd =
            engine::Pacing{l->min, l->max, l->step, duration_steps(l->duration, l->steps, baseline_steps), 1};

    trainer.learning_rate = {config.train.learning_rate, config.train.min_learning_rate, config.train.warmup_tokens,
                             config.train.decay_tokens > 0 ? config.train.decay_tokens : trainer.budget_layer_tokens,
                             decay_of(config.train.decay)};
    trainer.optimizer.beta1 = config.train.beta1;
    trainer.optimizer.beta2 = config.train.beta2;
    trainer.optimizer.eps = config.train.eps;
    trainer.optimizer.weight_decay = config.train.weight_decay;
    trainer.optimizer.max_grad_norm = config.train.max_grad_norm;
    trainer.seed = static_cast<std::uint64_t>(config.seed);
    return trainer;
}

}  // namespace deft::experiments
