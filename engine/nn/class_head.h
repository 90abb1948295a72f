#pragma once
// Predicts the class of a sample, or a value, from the rows of the stream: one linear layer over a pooled row, as of
// images (Dosovitskiy et al. 2021, section 3.1), or with the pooler of BERT in front (Devlin et al. 2019, the released
// code).

#include <cstdint>
#include <optional>

#include "engine/core/ops.h"
#include "engine/nn/linear.h"
#include "engine/nn/planner.h"
#include "engine/nn/rows.h"

namespace deft::engine {

struct ClassHeadConfig {
    std::int64_t classes = 2;  // of a value 1
    Pooling pooling = Pooling::first;
    bool pooler = false;  // a linear layer of the stream's width with tanh, before the classes
    bool value = false;   // one number in place of a class: the loss is its squared error
    double dropout = 0;   // dropout probability of the input of the linear layer

    bool operator==(const ClassHeadConfig&) const = default;
};

// Labels of B samples and the head's outputs for them; each (B).
struct LabelledRows {
    Tensor target;                 // i32 classes, or f32 values
    std::int64_t target_rows = 0;  // of classes: how many are not kernels::kIgnoreTarget
    Tensor loss;
    Tensor greedy = {};  // i32, of classes, which evaluate() alone writes: whether the likeliest is the target
    Tensor value = {};   // of a regression head: its prediction
};

class ClassHead {
 public:
    // For micro-batches of at most plan.B samples. dropout_number: which of the model's dropouts its own is.
    ClassHead(const Planner&, std::int64_t width, const ClassHeadConfig&, std::int64_t dropout_number);

    // dx and x (B, T, C), or (1, M, C) of packed samples, which are pooled by their first row; gradients of scale times
    // the sum of losses. of_dx: whether dx holds the gradient of another head, which is added to.
    void train(Exec&, const LabelledRows&, Tensor dx, Accumulate of_dx, Tensor x, const SampleStarts& packed,
               const DropoutKeys& random, StepValue<double> scale, Accumulate) const;
    void evaluate(Exec&, const LabelledRows&, Tensor x, const SampleStarts& packed) const;
    // out (B, classes), of the last call above.
    void logits(Exec&, Tensor out) const;

    TrainingFlops flops() const;

 private:
    // The input of the linear layer, (B, C).
    Tensor features(Exec&, Tensor x, const SampleStarts& packed) const;
    // Dropout of those, or of their gradient, in place.
    void drop(Exec&, Tensor features, const DropoutKeys& random) const;
    void pool(Exec&, Tensor pooled, Tensor x, const SampleStarts& packed) const;
    void pool_gradient(Exec&, Tensor dx, Tensor d_pooled, Accumulate of_dx, const SampleStarts& packed) const;

    Pooling pooling_;
    double dropout_;
    std::int64_t dropout_number_;
    bool is_regression_;
    std::optional<Linear> pooler_;
    Parameter weight_, bias_;       // (classes, C), (classes)
    Tensor pooled_, pre_, act_;     // (B, C); of a pooler the latter two
    Tensor d_features_, d_pooled_;  // (B, C)
    Tensor d_first_;                // (B, C), scratch: what dx holds in the first rows of packed samples
};

}  // namespace deft::engine
