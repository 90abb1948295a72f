#include "engine/train/accounting.h"

#include <fmt/format.h>

#include "base/error.h"

namespace deft::engine {

namespace {

std::int64_t layer_parameters(const TransformerConfig& c) {
    const std::int64_t C = c.width, F = c.hidden();
    return 4 * C * C + 2 * C * F  // qkv, proj, fc, fc2 weights
           + 3 * C + C + F + C    // their biases
           + 4 * C;               // two norms
}

std::int64_t head_parameters(const TransformerConfig& c) {
    return c.vocab * c.width + 2 * c.width;
}

}  // namespace

std::int64_t parameter_count(const TransformerConfig& c) {
    return c.layers * layer_parameters(c) + head_parameters(c) + c.max_seqlen * c.width;
}

double sample_flops(const TransformerConfig& c, const Techniques& techniques, const StepPlan& plan) {
    const auto layer = [&](std::int64_t tokens) {
        const double n = static_cast<double>(tokens);
        const double attention = (c.causal ? 6.0 : 12.0) * static_cast<double>(c.width) * n * n;
        return 6.0 * static_cast<double>(layer_parameters(c)) * n + attention;
    };
    const std::int64_t routed = techniques.routed_layers();
    return static_cast<double>(routed) * layer(plan.kept) +
           static_cast<double>(c.layers - routed) * layer(plan.seqlen) +
           6.0 * static_cast<double>(head_parameters(c)) * static_cast<double>(plan.seqlen);
}

void advance(Counts& counts, const TransformerConfig& config, const Techniques& techniques, const StepPlan& plan) {
    counts.steps += 1;
    counts.samples += plan.samples;
    counts.input_tokens += plan.tokens;
    counts.cut_tokens += plan.samples * techniques.seqlen - plan.tokens;
    counts.padding_tokens += plan.padding();
    // A row of seqlen tokens counts as layer_tokens of them, so padding counts as little as the row it ends.
    counts.layer_tokens += plan.tokens * plan.layer_tokens / plan.seqlen;
    counts.flops += static_cast<double>(plan.rows) * sample_flops(config, techniques, plan);
}

Counts run_schedule(const TransformerConfig& config, const Techniques& techniques, std::int64_t batch_size,
                    std::int64_t budget_layer_tokens) {
    Counts counts;
    while (counts.layer_tokens < budget_layer_tokens) {
        if (counts.steps == kMostSteps)
            throw Error(
                ErrorKind::config,
                fmt::format("the budget of {} tokens takes more than {} steps", budget_layer_tokens, kMostSteps),
                "lower train.budget_tokens or raise train.batch_size");
        advance(counts, config, techniques, plan_step(techniques, counts.steps, batch_size));
    }
    return counts;
}

void UniqueTokens::see(std::int64_t sample, std::int64_t length) {
    std::int32_t& longest = longest_[static_cast<std::size_t>(sample)];
    if (length <= longest) return;
    samples_ += longest == 0;
    count_ += length - longest;
    longest = static_cast<std::int32_t>(length);
}

}  // namespace deft::engine
