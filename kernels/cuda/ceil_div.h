#pragma once

#include <cstdint>

#include "kernels/device.h"

namespace deft::kernels::cuda {

DEFT_HOST_DEVICE inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

}  // namespace deft::kernels::cuda
