#pragma once
// The library of matrix products that the emulated device has: what it takes, and what it was asked for.

namespace deft::kernels::cuda::emulator {

struct LibraryRules {
    bool takes_products = true;
    bool takes_epilogues = false;  // bias and activation with the product
};
// From here on.
void set_library(const LibraryRules&);

struct LibraryCalls {
    int products = 0, bias = 0, float_gelu = 0, bf16_gelu = 0;  // that it took
};
LibraryCalls library_calls();
void forget_library_calls();

}  // namespace deft::kernels::cuda::emulator
