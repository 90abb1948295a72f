#pragma once
// Shared parts of the emulator's tests: a mask of all lanes, and the emulator's reports.

#include <string>

#include "kernels/device.h"

namespace deft::kernels::cuda {

inline constexpr unsigned kAll = 0xffffffffu;

// The misuse that stops `action`.
template <class Action>
std::string misuse_of(const Action& action) {
    try {
        action();
    } catch (const emulator::Misuse& error) {
        return error.what();
    }
    return "nothing was reported";
}

}  // namespace deft::kernels::cuda
