#pragma once
// The table of op cases.

#include "kernels/cases/attention.h"
#include "kernels/cases/embedding.h"
#include "kernels/cases/head_loss.h"
#include "kernels/cases/layernorm.h"
#include "kernels/cases/linear.h"
#include "kernels/cases/optimizer.h"
#include "kernels/cases/token_selection.h"

namespace deft::kernels::cases {

inline std::vector<OpCase> all_cases(std::uint64_t seed) {
    std::vector<OpCase> all;
    add_linear_cases(all, seed);
    add_layernorm_cases(all, seed);
    add_attention_cases(all, seed);
    add_embedding_cases(all, seed);
    add_head_loss_cases(all, seed);
    add_optimizer_cases(all, seed);
    add_token_selection_cases(all, seed);
    return all;
}

}  // namespace deft::kernels::cases
