#pragma once
// Of what the device's results depend on beside our own kernels.

#include <string>

namespace deft::kernels::cuda {

struct Versions {
    std::string driver;   // "13.0": the newest CUDA that it serves
    std::string runtime;  // "13.0"
    std::string library;  // cuBLASLt: "13.0.2"
};

// Asks without opening a device; a driver that is not there is "0.0".
Versions versions();

}  // namespace deft::kernels::cuda
