#pragma once
// The dot product that the reference's products are made of.

#include <cstdint>

namespace deft::kernels::reference {

// In eight partial sums: one chain of additions would wait for each, and benchmarks check large products.
template <class Real>
Real dot(const Real* a, const Real* b, std::int64_t n) {
    constexpr std::int64_t kParts = 8;
    Real part[kParts] = {};
    std::int64_t i = 0;
    for (; i + kParts <= n; i += kParts)
        for (std::int64_t j = 0; j < kParts; ++j) part[j] += a[i + j] * b[i + j];
    Real sum = 0;
    for (; i < n; ++i) sum += a[i] * b[i];
    for (const Real p : part) sum += p;
    return sum;
}

}  // namespace deft::kernels::reference
