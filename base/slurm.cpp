#include "base/slurm.h"

#include <charconv>
#include <string_view>

namespace deft::slurm {

std::optional<std::int64_t> number_in(const char* name, const Variables& variables) {
    const char* const value = variables(name);
    if (value == nullptr) return std::nullopt;
    const std::string_view text = value;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
    return number;
}

bool is_in_job(const Variables& variables) {
    return variables("SLURM_JOB_ID") != nullptr;
}

// SLURM_NTASKS and SLURM_PROCID do not show a step: sbatch and salloc set the first for the whole allocation, in which
// a driver is one process, and the second, as 0, for the batch script. The steps that Slurm makes for itself (batch,
// extern, interactive) have numbers at the end of 32 bits.
bool is_in_step(const Variables& variables) {
    constexpr std::int64_t kSlurmsOwn = 0xfffffff0;
    for (const char* name : {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"})
        if (variables(name) == nullptr) return false;
    return is_in_job(variables) && number_in("SLURM_STEP_ID", variables).value_or(kSlurmsOwn) < kSlurmsOwn;
}

}  // namespace deft::slurm
