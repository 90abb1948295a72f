#pragma once
// The table of op cases.

#include "kernels/cases/activation.h"
#include "kernels/cases/attention.h"
#include "kernels/cases/cache.h"
#include "kernels/cases/class_token.h"
#include "kernels/cases/dropout.h"
#include "kernels/cases/embedding.h"
#include "kernels/cases/expert_gate.h"
#include "kernels/cases/expert_rows.h"
#include "kernels/cases/grouped_linear.h"
#include "kernels/cases/linear.h"
#include "kernels/cases/norm.h"
#include "kernels/cases/optimizer.h"
#include "kernels/cases/pooling.h"
#include "kernels/cases/rope.h"
#include "kernels/cases/sum_ranks.h"
#include "kernels/cases/token_selection.h"
#include "kernels/cases/value_loss.h"

namespace deft::kernels::cases {

inline CaseTable case_table(Sizes sizes) {
    CaseTable table(sizes);
    add_linear_cases(table);
    add_norm_cases(table);
    add_attention_cases(table);
    add_embedding_cases(table);
    add_head_loss_cases(table);
    add_optimizer_cases(table);
    add_token_selection_cases(table);
    add_gemm_cases(table);
    add_activation_cases(table);
    add_dropout_cases(table);
    add_rope_cases(table);
    add_cache_cases(table);
    add_pooling_cases(table);
    add_class_token_cases(table);
    add_value_loss_cases(table);
    add_expert_gate_cases(table);
    add_expert_row_cases(table);
    add_grouped_linear_cases(table);
    add_sum_ranks_cases(table);
    return table;
}

inline std::vector<OpCase> made(const CaseTable& table, std::uint64_t seed) {
    std::vector<OpCase> cases;
    for (std::size_t i = 0; i < table.size(); ++i) cases.push_back(table.make(i, seed));
    return cases;
}

inline std::vector<OpCase> all_cases(std::uint64_t seed) {
    return made(case_table(Sizes::odd), seed);
}

}  // namespace deft::kernels::cases
