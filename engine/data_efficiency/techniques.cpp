#include "engine/data_efficiency/techniques.h"

#include <algorithm>

namespace deft::engine {

StepPlan plan_step(const Techniques& techniques, std::int64_t step) {
    StepPlan plan;
    plan.seqlen = techniques.seqlen;
    if (techniques.seqtru) plan.seqlen = std::min(techniques.seqlen, paced_value(*techniques.seqtru, step + 1));
    plan.kept = plan.seqlen;
    if (techniques.routing) plan.kept = std::min(plan.seqlen, paced_value(techniques.routing->kept, step));
    const std::int64_t routed = techniques.routed_layers();
    plan.layer_tokens = plan.drops()
                            ? (plan.seqlen * (techniques.layers - routed) + plan.kept * routed) / techniques.layers
                            : plan.seqlen;
    return plan;
}

}  // namespace deft::engine
