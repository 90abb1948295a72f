#pragma once
// A linear layer: y = x W^T + b.

#include <cstdint>
#include <string>

#include "engine/core/ops.h"
#include "engine/nn/planner.h"

namespace deft::engine {

class Linear {
 public:
    Linear(const Planner&, const std::string& name, ParameterKind, std::int64_t in, std::int64_t out, bool has_bias);

    // y (..., out), x (..., in)
    void forward(Exec&, Tensor y, Tensor x) const;
    // y = activation(pre), of one without a gate; pre (..., out) is what the activation's backward pass reads.
    void forward(Exec&, Tensor y, Tensor pre, Tensor x, Activation) const;
    // dx (..., in), dy (..., out)
    void backward_input(Exec&, Tensor dx, Tensor dy) const;
    // Through the activation that made x of pre (..., in) as well.
    void backward_input(Exec&, Tensor dx, Tensor dy, Tensor pre, Activation) const;
    void backward_weight(Exec&, Tensor dy, Tensor x, Accumulate) const;

    TrainingFlops flops() const { return flops_of_parameters({weight_, bias_}); }

 private:
    Parameter weight_, bias_;  // (out, in), (out) or empty
};

}  // namespace deft::engine
