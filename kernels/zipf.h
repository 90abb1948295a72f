#pragma once
// Zipf's law, by which words are frequent: the k-th most frequent of V has a share of about 1 / (k ln V).

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace deft::kernels {

// A rank from 0 to V - 1, of a uniform number between 0 and 1. Inversion: ln(rank + 1) is uniform.
inline std::int64_t zipf_rank(double uniform, std::int64_t V) {
    return std::min(V, static_cast<std::int64_t>(std::exp(uniform * std::log(static_cast<double>(V))))) - 1;
}

}  // namespace deft::kernels
