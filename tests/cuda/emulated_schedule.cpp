#include "kernels/cuda/emulator/emulator.h"
#include "tests/cuda/schedule.h"

namespace deft::kernels::cuda {

void use_schedule(std::uint64_t seed) {
    emulator::set_schedule({.shuffled = true, .seed = seed});
}

}  // namespace deft::kernels::cuda
