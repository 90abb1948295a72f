#pragma once
// The op cases that are quick under the emulator, and what a CUDA run of one should give.

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cases/all.h"
#include "kernels/cases/run_cuda.h"

namespace deft::kernels::cases {

inline std::vector<OpCase> small_cases(std::uint64_t seed) {
    constexpr std::size_t kMostItems = 1 << 16;
    std::vector<OpCase> cases = all_cases(seed);
    std::erase_if(cases, [](const OpCase& op) {
        std::size_t items = 0;
        for (const Buffer& buffer : op.buffers) items += buffer.value.size();
        return items > kMostItems;
    });
    return cases;
}

enum class Activations { f32, bf16 };

inline RunResult run_cuda(const cuda::Exec& exec, const OpCase& op, Activations type) {
    return type == Activations::bf16 ? run_cuda_bf16(exec, rounded_to_bf16(op)) : run_cuda_f32(exec, op);
}

// Runs the case against the reference: what differs, in words; empty when nothing does.
inline std::string disagreement(const cuda::Exec& exec, const OpCase& op, Activations type) {
    const bool is_bf16 = type == Activations::bf16;
    const RunResult result = run_cuda(exec, op, type);
    if (!result.broken_guards.empty()) return op.name + ": written outside or into an input:" + result.broken_guards;
    const RunResult expected = run_reference(is_bf16 ? rounded_to_bf16(op) : op);
    for (std::size_t i = 0; i < op.buffers.size(); ++i) {
        const Buffer& buffer = op.buffers[i];
        if (buffer.role == Role::input) continue;
        const double floor = is_bf16 ? bf16_floor(buffer) : buffer.floor;
        const double error = normalised_error(result.values[i], expected.values[i], floor);
        const double tolerance = is_bf16 ? bf16_tolerance(op, buffer) : float_tolerance(op, buffer);
        if (!(error <= tolerance))
            return fmt::format("{}: {} has a normalised error of {:.1e}, allowed is {:.1e}", op.name, buffer.name,
                               error, tolerance);
    }
    return {};
}

}  // namespace deft::kernels::cases
