#include "engine/optim/optimizer.h"

namespace deft::engine {

void update(Exec& exec, const OptimizerConfig& config, const ParameterTable::Group& group, const Tensor& norm,
            const Tensor& loss, double lr, std::int64_t step) {
    const double weight_decay = group.decayed ? config.weight_decay : 0;
    const auto own = [&](const Tensor& all) { return all ? all.part(group.own.begin, group.own.size()) : Tensor{}; };
    const Tensor value = own(group.value), grad = own(group.grad), rounded = own(group.rounded);
    if (config.kind == OptimizerKind::sgd)
        return sgd_update(exec, value, rounded, group.m, grad, norm, loss,
                          {lr, config.momentum, weight_decay, config.max_grad_norm});
    adamw_update(exec, value, rounded, group.m, group.v, grad, norm, loss,
                 {lr, config.beta1, config.beta2, config.eps, weight_decay, step, config.max_grad_norm});
}

}  // namespace deft::engine
