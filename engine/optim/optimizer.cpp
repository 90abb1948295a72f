#include "engine/optim/optimizer.h"

namespace deft::engine {

OptimizerRates optimizer_rates(const OptimizerConfig& config, double lr, std::int64_t step) {
    return {kernels::adamw_rates(lr, config.beta1, config.beta2, step), {lr, static_cast<std::uint32_t>(step)}};
}

void update(Exec& exec, const OptimizerConfig& config, const ParameterTable::Group& group, const Tensor& norm,
            const Tensor& loss, const OptimizerRates* rates) {
    const double weight_decay = group.decayed ? config.weight_decay : 0;
    const auto own = [&](const Tensor& all) { return all ? all.part(group.own.begin, group.own.size()) : Tensor{}; };
    const Tensor value = own(group.value), grad = own(group.grad), rounded = own(group.rounded);
    if (config.kind == OptimizerKind::sgd)
        return sgd_update(
            exec, value, rounded, group.m, grad, norm, loss,
            {StepValue<kernels::SgdRates>::in(&rates->sgd), config.momentum, weight_decay, config.max_grad_norm});
    adamw_update(exec, value, rounded, group.m, group.v, grad, norm, loss,
                 {StepValue<kernels::AdamWRates>::in(&rates->adamw), config.beta1, config.beta2, config.eps,
                  weight_decay, config.max_grad_norm});
}

}  // namespace deft::engine
