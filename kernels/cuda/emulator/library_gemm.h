#pragma once
// The library of matrix products that the emulated device has: what it takes, and what it was asked for.

#include <cstdint>

namespace deft::kernels::cuda::emulator {

struct LibraryRules {
    bool takes_products = true;
    bool takes_epilogues = false;    // bias and activation with the product
    int algorithms = 2;              // that its heuristics name, 0 the best; all compute the same
    int refused_at_start = 0;        // the first ones of them, which fit but do not run
    std::int64_t rows_of_first = 1;  // the first fits multiples of this number of rows alone
};
// From here on.
void set_library(const LibraryRules&);

struct LibraryCalls {
    int products = 0, bias = 0, float_gelu = 0, bf16_gelu = 0;  // that it took
};
LibraryCalls library_calls();
void forget_library_calls();

}  // namespace deft::kernels::cuda::emulator
