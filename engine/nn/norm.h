#pragma once
// Normalisation of each row, with the row-index and residual forms that a block needs.

#include <cstdint>
#include <string>

#include "engine/core/ops.h"
#include "engine/nn/planner.h"

namespace deft::engine {

// A stream as blocks hand it on: rows + branch, which the next norm adds up, or rows alone.
struct Residual {
    Tensor rows;    // (B, K, C)
    Tensor branch;  // (B, K, C), or empty
};

enum class NormOutput {
    own,    // y has a buffer of the norm
    given,  // forward_to() alone is called
};

class Norm {
 public:
    // weight_name: "ln_1"; name: of what it saves.
    Norm(const Planner&, const std::string& weight_name, const std::string& name, std::int64_t width, const NormSpec&,
         NormOutput = NormOutput::own);

    // y (B, K, C) of in.rows + in.branch, which sum (B, K, C) receives; of in.rows alone where nothing is to be added.
    void forward_to(Exec&, Tensor y, const Residual& in, Tensor sum) const;
    // Both return y (B, K, C): likewise, or
    Tensor forward(Exec&, const Residual& in, Tensor sum) const;
    // of the rows `index` (B, K) of stream (B, T, C), which gathered (B, K, C) receives.
    Tensor forward_rows(Exec&, Tensor gathered, Tensor stream, Tensor index) const;

    // dx = dresidual + the gradient of x, written to the rows `index` (B, K) of dx (B, T, C), or to all of dx (B, K,
    // C). dresidual may be empty, or without index dx itself. x: what was normalised.
    void backward(Exec&, Tensor dx, Tensor index, Tensor dy, Tensor dresidual, Tensor x, Accumulate) const;

    // y (B, K, C) of the last forward pass, as long as no other part has taken its place.
    Tensor output(std::int64_t B, std::int64_t K) const { return y_.view({B, K, y_.columns()}); }

    TrainingFlops flops() const { return flops_of_parameters({weight_, bias_}); }

 private:
    Tensor mean(std::int64_t B, std::int64_t K) const { return mean_ ? mean_.view({B, K}) : Tensor{}; }

    NormSpec spec_;
    Parameter weight_, bias_;  // (C); RMS normalisation has no bias
    Tensor y_, mean_, rstd_;   // (B, K, C), (B, K) or empty, (B, K)
};

}  // namespace deft::engine
