#pragma once
// All CPU kernels. kernels/ops.h says what each computes; here is what only the CPU has.

#include "kernels/attention.h"
#include "kernels/bf16.h"
#include "kernels/cpu/exec.h"
#include "kernels/dropout_key.h"
#include "kernels/embedding_tables.h"
#include "kernels/expert_routing.h"
#include "kernels/token_keys.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// Each op is defined for Real = float, as an explicit specialization. Further errors: embedding_forward and the losses
// of a head refuse an id or target outside [0, V); a head also refuses another number of targets than target_rows.
#include "kernels/ops.h"

// Bytes of Exec::workspace that op X needs: X_workspace(...).
std::size_t linear_backward_input_workspace(int threads, std::int64_t rows, std::int64_t in, Activation, Accumulate);
std::size_t linear_backward_weight_workspace(int threads, std::int64_t rows, std::int64_t in, std::int64_t out);
std::size_t norm_backward_workspace(std::int64_t rows, std::int64_t C);
std::size_t attention_forward_workspace(int threads, std::int64_t Tq, std::int64_t d);
std::size_t attention_backward_workspace(int threads, std::int64_t Tq, std::int64_t d);
std::size_t head_loss_workspace(std::int64_t rows, std::int64_t C, std::int64_t V);  // also of head_loss_train
std::size_t sum_of_squares_workspace(std::int64_t n);
std::size_t select_kept_tokens_workspace(int threads, std::int64_t T);
std::size_t gate_backward_weight_workspace(int threads, std::int64_t N, std::int64_t C, std::int64_t E);
std::size_t gate_losses_workspace(std::int64_t N, std::int64_t E);
std::size_t place_choices_workspace(std::int64_t N, std::int64_t E, std::int64_t k);
// For each of the three grouped linear ops.
std::size_t grouped_linear_workspace(int threads, std::int64_t slots, std::int64_t E, std::int64_t in,
                                     std::int64_t out);

}  // namespace deft::kernels::cpu
