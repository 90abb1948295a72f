#pragma once
// The op cases that are quick under the emulator.

#include <cstdint>
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

}  // namespace deft::kernels::cases
