#include "engine/data_efficiency/sampling/variable_batch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deft::engine {

namespace {

std::int64_t most_samples(const VariableBatch& batch) {
    return batch.max_samples > 0 ? batch.max_samples : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::int64_t samples_of_length(const VariableBatch& batch, std::int64_t length) {
    return std::clamp(batch.max_tokens / length, batch.min_samples, std::max(batch.min_samples, most_samples(batch)));
}

std::int64_t samples_from_draw(const VariableBatch& batch, std::int64_t draw,
                               const std::function<std::int64_t(std::int64_t)>& length_at) {
    const std::int64_t least = std::max<std::int64_t>(1, batch.min_samples), most = most_samples(batch);
    std::int64_t samples = 0, tokens = 0;
    while (samples < most) {
        const std::int64_t length = length_at(draw + samples);
        if (samples >= least && tokens + length > batch.max_tokens) break;
        tokens += length;
        ++samples;
    }
    return samples;
}

double learning_rate_scale(LearningRateScaling scaling, std::int64_t samples, std::int64_t base_samples) {
    const double ratio = static_cast<double>(samples) / static_cast<double>(base_samples);
    if (scaling == LearningRateScaling::none) return 1;
    return scaling == LearningRateScaling::linear ? ratio : std::sqrt(ratio);
}

}  // namespace deft::engine
