#include "engine/data_efficiency/techniques.h"

#include <algorithm>

namespace deft::engine {

StepPlan plan_step(const Techniques& techniques, std::int64_t step) {
    StepPlan plan;
    plan.seqlen = techniques.seqlen;
    if (techniques.seqtru) plan.seqlen = std::min(techniques.seqlen, paced_value(*techniques.seqtru, step + 1));
    plan.kept = plan.seqlen;
    if (techniques.random_ltd) plan.kept = std::min(plan.seqlen, paced_value(*techniques.random_ltd, step));
    const std::int64_t dropped = techniques.dropped_layers();
    plan.layer_tokens = plan.drops()
                            ? (plan.seqlen * (techniques.layers - dropped) + plan.kept * dropped) / techniques.layers
                            : plan.seqlen;
    return plan;
}

}  // namespace deft::engine
