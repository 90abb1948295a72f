#include "engine/train/planned_products.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/core/arena.h"
#include "engine/core/exec.h"
#include "engine/data_efficiency/token_dropping/planned_dropping.h"
#include "engine/models/transformer.h"

namespace deft::engine {

namespace {

// A micro-batch of B rows that every model takes.
struct FullRows {
    std::vector<std::int32_t> zeros, target;  // (B, T)
    std::vector<float> pixels;                // (B, height, width, channels), or (B) values
    std::vector<std::int64_t> draw;           // (B)

    FullRows(const TransformerConfig& model, std::int64_t B, std::int64_t T)
        : zeros(static_cast<std::size_t>(B * T), 0), target(zeros), draw(static_cast<std::size_t>(B), 0) {
        const bool is_masked = !model.is_causal();
        for (std::size_t i = 0; is_masked && i < target.size(); ++i)
            if (i % static_cast<std::size_t>(kPositionsOfTarget) != 0) target[i] = kernels::kIgnoreTarget;
        const auto& patches = model.input.patches;
        pixels.resize(
            static_cast<std::size_t>(B * (patches ? patches->height * patches->width * patches->channels : 1)));
    }

    ModelInput input(const TransformerConfig& model, std::int64_t B, std::int64_t T) const {
        ModelInput input{.B = B, .T = T};
        input.token = input.segment = input.class_target = zeros.data();
        input.target = target.data();
        input.value_target = pixels.data();
        input.draw = draw.data();
        if (model.input.patches) input.image = pixels.data();
        return input;
    }
};

}  // namespace

kernels::cuda::ProductList planned_products(const TrainerConfig& config, const Backend& backend, const StepPlan& plan) {
    require_supported(backend, config.model.head_size());
    Arena arena(backend.device);
    Transformer model(arena, config.model, backend, config.micro_batch_size, Purpose::training, config.recompute,
                      moments_of(config.optimizer));
    const std::int64_t T = plan.seqlen, at_once = rows_at_once(config, T);
    const Tensor draw = arena.add(Region::activations, "draw", DType::i64, {at_once});
    std::optional<PlannedDropping> dropping;
    if (config.techniques.dropping)
        dropping = plan_dropping(arena, *config.techniques.dropping, config.model, backend, config.micro_batch_size);

    kernels::cuda::ProductList products;
    Exec exec;
    exec.device = backend.device;
    exec.planned = &products;
    for (std::int64_t first = 0; first < plan.rows; first += at_once) {
        const std::int64_t B = std::min(at_once, plan.rows - first);
        const FullRows rows(config.model, B, T);
        model.load(exec, rows.input(config.model, B, T));
        const Tensor token = model.token ? model.loaded(model.token) : Tensor{};
        const MicroBatch batch{config.seed, 0, T, draw.view({B}), token, model.length(), model.packed(), nullptr};
        const KeptTokens kept = dropping ? kept_tokens(exec, *dropping, plan, batch) : KeptTokens{};
        model.forward_backward(exec, B, T, kept, {config.seed, 0, draw.view({B})}, {},
                               first == 0 ? Accumulate::no : Accumulate::yes);
    }
    return products;
}

}  // namespace deft::engine
