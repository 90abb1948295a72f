#include "engine/data_efficiency/routing/token_bypass.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engine/core/exec.h"
#include "kernels/entry_loss.h"

namespace deft::engine {

TokenBypassRouter plan_token_bypass(Arena& arena, double decay, std::vector<std::int32_t> special_tokens,
                                    std::int64_t vocab) {
    for (const std::int32_t token : special_tokens)
        if (token < 0 || token >= vocab)
            throw Error(ErrorKind::config,
                        fmt::format("special token {} lies outside the vocabulary of {}", token, vocab),
                        "name entries of this model's tokenizer");
    const auto add = [&](const char* name, DType type) {
        return arena.add(Region::activations, std::string("token_bypass.") + name, type, {vocab});
    };
    return {decay, std::move(special_tokens), add("importance", DType::f32), add("loss_sum", DType::i64),
            add("count", DType::i64)};
}

void TokenBypassRouter::start(Exec& exec) const {
    std::vector<float> values(static_cast<std::size_t>(importance.numel()), kUnseenImportance);
    for (const std::int32_t token : special_tokens) values[static_cast<std::size_t>(token)] = kernels::kAlwaysKept;
    write_tensor(exec, importance, values.data());
}

}  // namespace deft::engine
