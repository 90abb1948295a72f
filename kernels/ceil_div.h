#pragma once
// Division that rounds up: how many chunks hold all items.

#include <cstdint>

#include "kernels/device.h"

namespace deft::kernels {

DEFT_HOST_DEVICE inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

}  // namespace deft::kernels
