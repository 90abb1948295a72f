#pragma once
// Runs of the small op cases under the emulator.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/cuda/emulator/emulator.h"
#include "tests/cuda/small_cases.h"

namespace deft::kernels::cases {

struct EmulatedCase {
    std::string name;
    Activations type;
    std::map<std::string, cuda::emulator::KernelRecord> kernels;

    std::int64_t threads() const {
        std::int64_t total = 0;
        for (const auto& [kernel, record] : kernels) total += record.threads;
        return total;
    }
    bool passes(const cuda::emulator::Barrier& barrier) const {
        for (const auto& [kernel, record] : kernels)
            if (record.barriers.count(barrier) != 0) return true;
        return false;
    }
};

// Runs each case once under each seed's schedule.
inline std::vector<EmulatedCase> emulate(const std::vector<OpCase>& cases, Activations type,
                                         const std::vector<std::uint64_t>& seeds) {
    std::vector<EmulatedCase> emulated;
    const cuda::Context context;
    for (const OpCase& op : cases) {
        cuda::emulator::forget_kernels();
        for (const std::uint64_t seed : seeds) {
            cuda::emulator::set_schedule({.shuffled = true, .seed = seed});
            run_cuda(context.exec(), op, type);
        }
        emulated.push_back({op.name, type, cuda::emulator::kernels_run()});
    }
    cuda::emulator::set_schedule({});
    return emulated;
}

}  // namespace deft::kernels::cases
