#include "engine/data_efficiency/techniques.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deft::engine {

namespace {

std::int64_t samples_of_step(const Techniques& t, std::int64_t step, std::int64_t seqlen, std::int64_t batch_size) {
    if (t.variable_batch) return samples_of_length(*t.variable_batch, seqlen);
    if (t.batch_ramp) return std::min(batch_size, paced_value(*t.batch_ramp, step));
    return batch_size;
}

}  // namespace

StepPlan plan_step(const ModelExtents& model, const Techniques& t, std::int64_t step, std::int64_t batch_size) {
    StepPlan plan;
    plan.seqlen = model.seqlen;
    for (const auto& length : {&t.seqtru, &t.seqres})
        if (*length) plan.seqlen = std::min(model.seqlen, paced_value(**length, step + 1));
    plan.samples = samples_of_step(t, step, plan.seqlen, batch_size);
    plan.tokens = plan.samples * (t.seqres ? model.seqlen : plan.seqlen);
    plan.cut = plan.samples * model.seqlen - plan.tokens;
    plan.rows = (plan.tokens + plan.seqlen - 1) / plan.seqlen;
    if (t.variable_batch)
        plan.learning_rate_scale = learning_rate_scale(t.variable_batch->scaling, plan.samples, batch_size);
    plan.kept = plan.seqlen;
    if (t.dropping) plan.kept = std::min(plan.seqlen, paced_value(t.dropping->kept, step));
    const std::int64_t dropping = t.dropping_layers();
    plan.layer_tokens =
        plan.drops() ? (plan.seqlen * (model.layers - dropping) + plan.kept * dropping) / model.layers : plan.seqlen;
    return plan;
}

LargestStep largest_step(const ModelExtents& model, const Techniques& t, std::int64_t batch_size) {
    std::int64_t grown_at = 0;
    for (const auto& growing : {&t.seqtru, &t.seqres, &t.batch_ramp})
        if (*growing) grown_at = std::max(grown_at, (*growing)->duration);
    LargestStep largest{0, 0, model.seqlen};
    for (std::int64_t step = 0; step <= grown_at; ++step) {
        const StepPlan plan = plan_step(model, t, step, batch_size);
        largest.samples = std::max(largest.samples, plan.samples);
        largest.tokens = std::max(largest.tokens, plan.rows * plan.seqlen);
        largest.least_seqlen = std::min(largest.least_seqlen, plan.seqlen);
    }
    return largest;
}

namespace {

std::int64_t most_samples(const VariableBatch& batch) {
    return batch.max_samples > 0 ? batch.max_samples : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::int64_t samples_of_length(const VariableBatch& batch, std::int64_t length) {
    return std::clamp(batch.max_tokens / length, batch.min_samples, std::max(batch.min_samples, most_samples(batch)));
}

double learning_rate_scale(LearningRateScaling scaling, std::int64_t samples, std::int64_t base_samples) {
    const double ratio = static_cast<double>(samples) / static_cast<double>(base_samples);
    if (scaling == LearningRateScaling::none) return 1;
    return scaling == LearningRateScaling::linear ? ratio : std::sqrt(ratio);
}

}  // namespace deft::engine
