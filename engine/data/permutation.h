#pragma once
// A keyed permutation of 0 .. n-1 computed point by point: no table, no state.

#include <cstdint>

#include "kernels/philox.h"

namespace deft::engine {

// A Feistel network (Luby & Rackoff 1988) over the next power of four, walked until the image is below n (Black &
// Rogaway 2002, cycle walking). Equal (seed, purpose, epoch, n): the same permutation on every machine; all 64 bits of
// the epoch count.
class Permutation {
 public:
    Permutation(std::uint64_t n, std::uint64_t seed, kernels::RandomPurpose purpose, std::uint64_t epoch);

    std::uint64_t operator()(std::uint64_t i) const;  // i < n

 private:
    static constexpr int kRounds = 8;
    std::uint64_t n_;
    int half_bits_;
    std::uint32_t keys_[kRounds];
};

}  // namespace deft::engine
