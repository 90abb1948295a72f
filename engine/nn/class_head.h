#pragma once
// What tells the class of a sample from the rows of the stream: one linear layer over a pooled row, as of images
// (Dosovitskiy et al. 2021, section 3.1), or with the pooler of BERT in front (Devlin et al. 2019, the released code).

#include <cstdint>
#include <optional>

#include "engine/core/ops.h"
#include "engine/nn/linear.h"
#include "engine/nn/planner.h"

namespace deft::engine {

struct ClassHeadConfig {
    std::int64_t classes = 2;
    Pooling pooling = Pooling::first;
    bool pooler = false;  // a linear layer of the stream's width with tanh, before the classes

    bool operator==(const ClassHeadConfig&) const = default;
};

class ClassHead {
 public:
    // For micro-batches of at most plan.B samples.
    ClassHead(const Planner&, std::int64_t width, const ClassHeadConfig&);

    // loss and target (B), dx and x (B, T, C), or (1, M, C) of packed samples, which are pooled by their first row;
    // gradients of scale times the sum of losses. of_dx: whether dx holds the gradient of another head, which is added
    // to, as that of packed samples always is.
    void train(Exec&, Tensor loss, Tensor dx, Accumulate of_dx, Tensor x, const SampleStarts& packed, Tensor target,
               std::int64_t target_rows, double scale, Accumulate) const;
    // greedy (B)
    void evaluate(Exec&, Tensor loss, Tensor greedy, Tensor x, const SampleStarts& packed, Tensor target,
                  std::int64_t target_rows) const;
    // out (B, classes), of the last call above.
    void logits(Exec&, Tensor out) const;

    TrainingFlops flops() const;

 private:
    // What the classes are told from, (B, C).
    Tensor features(Exec&, Tensor x, const SampleStarts& packed) const;
    void pool(Exec&, Tensor pooled, Tensor x, const SampleStarts& packed) const;
    void pool_gradient(Exec&, Tensor dx, Tensor d_pooled, Accumulate of_dx, const SampleStarts& packed) const;

    Pooling pooling_;
    std::optional<Linear> pooler_;
    Parameter weight_, bias_;        // (classes, C), (classes)
    Tensor pooled_, pre_, act_;      // (B, C); of a pooler the latter two
    Tensor d_features_, d_pooled_;   // (B, C)
    Tensor d_first_;                 // (B, C), scratch: what dx holds in the first rows of packed samples
};

}  // namespace deft::engine
