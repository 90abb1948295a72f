#pragma once
// Which optimizer turns gradients into steps, and what it keeps of each weight.

#include <cstdint>

#include "engine/core/ops.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

enum class OptimizerKind {
    adamw,  // Loshchilov & Hutter 2019, algorithm 2
    sgd,    // with momentum, as torch.optim.SGD without dampening and Nesterov
};

struct OptimizerConfig {
    OptimizerKind kind = OptimizerKind::adamw;
    double beta1 = 0.9, beta2 = 0.95, eps = 1e-8;  // of adamw
    double momentum = 0.9;                         // of sgd
    double weight_decay = 0;                       // of decayed parameters
    double max_grad_norm = 0;                      // gradients are scaled down to it; 0: never
    bool rounds_moments = false;                   // to bf16, at random (kernels/stochastic_rounding.h)
};

// AdamW's two, or the momentum.
inline KeptMoments moments_of(const OptimizerConfig& config) {
    return {config.kind == OptimizerKind::adamw ? 2 : 1, config.rounds_moments};
}

// The learning rate of one step, as either optimizer takes it.
struct OptimizerRates {
    kernels::AdamWRates adamw;
    kernels::SgdRates sgd;
};
// step: counts from 1.
OptimizerRates optimizer_rates(const OptimizerConfig& config, double lr, std::int64_t step);

// One step on the group's own elements. norm, loss: (1) f64, of which neither may be other than finite, else nothing is
// written. rates: in the backend's memory.
void update(Exec& exec, const OptimizerConfig& config, const ParameterTable::Group& group, const Tensor& norm,
            const Tensor& loss, const OptimizerRates* rates);

}  // namespace deft::engine
