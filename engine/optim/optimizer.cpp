#include "engine/optim/optimizer.h"

namespace deft::engine {

void update(Exec& exec, const OptimizerConfig& config, const ParameterTable::Group& group, const Tensor& norm,
            const Tensor& loss, double lr, std::int64_t step) {
    const double weight_decay = group.decayed ? config.weight_decay : 0;
    if (config.kind == OptimizerKind::sgd)
        return sgd_update(exec, group.value, group.rounded, group.m, group.grad, norm, loss,
                          {lr, config.momentum, weight_decay, config.max_grad_norm});
    adamw_update(exec, group.value, group.rounded, group.m, group.v, group.grad, norm, loss,
                 {lr, config.beta1, config.beta2, config.eps, weight_decay, step, config.max_grad_norm});
}

}  // namespace deft::engine
