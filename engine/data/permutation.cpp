#include "engine/data/permutation.h"

#include <bit>

namespace deft::engine {

namespace {

// A 32-bit finaliser with full avalanche (Appleby, MurmurHash3).
std::uint32_t mix(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}

}  // namespace

Permutation::Permutation(std::uint64_t n, std::uint64_t seed, kernels::RandomPurpose purpose, std::uint64_t epoch)
    : n_(n), half_bits_((std::bit_width(n > 0 ? n - 1 : 0) + 1) / 2) {
    // A draw's step has 32 bits: the epoch's others go where a sample's number would.
    for (int round = 0; round < kRounds; ++round)
        keys_[round] = kernels::philox_u32(seed, purpose, epoch, 0, epoch >> 32, static_cast<std::uint32_t>(round));
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    do {
        std::uint64_t left = i >> half_bits_, right = i & mask;
        for (const std::uint32_t key : keys_) {
            const std::uint64_t next = left ^ (mix(static_cast<std::uint32_t>(right) ^ key) & mask);
            left = right;
            right = next;
        }
        i = (left << half_bits_) | right;
    } while (i >= n_);
    return i;
}

}  // namespace deft::engine
