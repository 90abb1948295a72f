#include "kernels/cuda/emulator/emulator.h"
#include "tests/cuda/schedule.h"

namespace deft::kernels::cuda {

void use_schedule(std::uint64_t seed) {
    emulator::set_schedule({.shuffled = true, .seed = seed});
}

bool device_is_emulated() {
    return true;
}

bool device_is_slow() {
#ifdef DEFT_SANITIZED
    return true;
#else
    return false;
#endif
}

}  // namespace deft::kernels::cuda
