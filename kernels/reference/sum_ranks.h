#pragma once
// Sums over ranks that train one model together.

#include <cstdint>

#include "kernels/reference/exec.h"

namespace deft::kernels::reference {

template <class Value>
void sum_ranks(Exec&, Value* sums, const Value* others, std::int64_t n, int rank, int ranks) {
    for (std::int64_t i = 0; i < n; ++i) {
        Value sum = 0;
        for (int r = 0; r < ranks; ++r) sum += r == rank ? sums[i] : others[r * n + i];
        sums[i] = sum;
    }
}

}  // namespace deft::kernels::reference
