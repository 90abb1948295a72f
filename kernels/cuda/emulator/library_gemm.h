#pragma once
// The library of matrix products that the emulated device has: what it takes, and what it was asked for.

#include <cstdint>

namespace deft::kernels::cuda::emulator {

struct LibraryRules {
    bool takes_products = true;
    bool takes_epilogues = false;  // bias and activation with the product
    // Its heuristics name so many algorithms, 0 the best; all compute the same.
    int algorithms = 2;
    int refused_at_start = 0;            // the first ones, which are refused when they are to run
    std::int64_t rows_of_first = 1;      // the first fits multiples of so many rows of activations alone
};
// From here on.
void set_library(const LibraryRules&);

struct LibraryCalls {
    int products = 0, bias = 0, float_gelu = 0, bf16_gelu = 0;  // that it took
};
LibraryCalls library_calls();
void forget_library_calls();

}  // namespace deft::kernels::cuda::emulator
