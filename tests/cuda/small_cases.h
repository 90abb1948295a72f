#pragma once
// The op cases that are quick under the emulator.

#include <cstdint>
#include <vector>

#include "kernels/cases/all.h"
#include "kernels/cases/run_cuda.h"

namespace deft::kernels::cases {

// most_items: of all buffers together.
inline std::vector<OpCase> small_cases(std::uint64_t seed, std::size_t most_items = 1 << 16) {
    std::vector<OpCase> cases = all_cases(seed);
    std::erase_if(cases, [&](const OpCase& op) {
        std::size_t items = 0;
        for (const Buffer& buffer : op.buffers) items += buffer.value.size();
        return items > most_items;
    });
    return cases;
}

}  // namespace deft::kernels::cases
