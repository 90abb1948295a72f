#include "engine/data_efficiency/token_dropping/token_bypass.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engine/core/exec.h"
#include "kernels/entry_loss.h"

namespace deft::engine {

namespace {

constexpr float kUnseenImportance = 10;

// Half of the layers, rounded down, in the middle; of an odd rest the smaller part comes before. Ours: Hou et al. drop
// from the middle up to the layer before the last.
std::vector<std::int32_t> middle_half(std::int64_t layers) {
    const std::int64_t dropping = layers / 2, first = (layers - dropping) / 2;
    return layer_range(first, first + dropping - 1);
}

void require_special_tokens(const std::vector<std::int64_t>& tokens, std::int64_t vocab) {
    for (const std::int64_t token : tokens)
        if (token < 0 || token >= vocab)
            throw Error(ErrorKind::config,
                        fmt::format("special token {} lies outside the vocabulary of {}", token, vocab),
                        "name entries of this model's tokenizer");
}

TokenChoice plan_token_bypass(Arena& arena, std::span<const std::int32_t>, std::int64_t vocab, const void* settings) {
    const auto [decay, special_tokens] = *static_cast<const TokenBypassSettings*>(settings);
    require_special_tokens(special_tokens, vocab);
    const auto add = [&](const char* name, DType type) {
        return arena.add(Region::activations, std::string("token_bypass.") + name, type, {vocab});
    };
    const Tensor importance = add("importance", DType::f32);                                // (V)
    const Tensor loss_sum = add("loss_sum", DType::i64), count = add("count", DType::i64);  // (V): of the step so far
    TokenChoice choice;
    choice.start = [=, special = special_tokens](Exec& exec) {
        std::vector<float> values(static_cast<std::size_t>(importance.numel()), kUnseenImportance);
        for (const std::int64_t token : special) values[static_cast<std::size_t>(token)] = kernels::kAlwaysKept;
        write_tensor(exec, importance, values.data());
    };
    choice.select = [=](Exec& exec, Tensor index, std::int64_t keep_first, const MicroBatch& batch) {
        select_important_tokens(exec, index, importance, batch.token, keep_first, batch.length, batch.packed);
    };
    choice.observe = [=](Exec& exec, Tensor target, Tensor loss, Accumulate accumulate) {
        add_entry_losses(exec, loss_sum, count, loss, target, accumulate);
    };
    choice.finish_step = [=, kept = decay](Exec& exec, Tensor grad_norm, Tensor total_loss) {
        update_importance(exec, importance, loss_sum, count, grad_norm, total_loss, kept);
    };
    choice.observed = {loss_sum, count};
    choice.state = importance;
    return choice;
}

}  // namespace

TokenDropper token_bypass_dropper() {
    return {
        .name = "token_bypass",
        .meaning = "Token bypassing: tokens of low loss skip the middle layers. Cannot be combined with random_ltd.",
        .default_layers = middle_half,
        .default_layers_text = "the middle half",
        .one_set = true,
        .reads_tokens = true,
        .keys = {{"decay",
                  at<&TokenBypassSettings::decay>,
                  "Decay rate of the running loss of each vocabulary entry.",
                  {.at_least = 0, .below = 1}},
                 {"special_tokens",
                  at<&TokenBypassSettings::special_tokens>,
                  "IDs of tokens that are always kept.",
                  {.at_least = 0}}},
        .new_settings = []() -> std::shared_ptr<void> { return std::make_shared<TokenBypassSettings>(); },
        .plan = plan_token_bypass};
}

}  // namespace deft::engine
