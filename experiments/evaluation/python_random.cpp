#include "experiments/evaluation/python_random.h"

#include <fmt/format.h>

#include <bit>
#include <unordered_set>

#include "base/error.h"

namespace deft::experiments {

// Constants and recurrences: Matsumoto and Nishimura, mt19937ar.
PythonRandom::PythonRandom(std::uint64_t seed) {
    state_[0] = 19650218;
    for (std::uint32_t i = 1; i < kWords; ++i) state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;

    const std::uint32_t key[] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
    const std::uint32_t key_words = key[1] != 0 ? 2 : 1;
    std::size_t i = 1;
    const auto advance = [&] {
        if (++i == kWords) {
            state_[0] = state_[kWords - 1];
            i = 1;
        }
    };
    for (std::uint32_t k = 0; k < kWords; ++k) {
        const std::uint32_t j = k % key_words;
        state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + key[j] + j;
        advance();
    }
    for (std::size_t k = 1; k < kWords; ++k) {
        state_[i] =
            (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) - static_cast<std::uint32_t>(i);
        advance();
    }
    state_[0] = 0x80000000u;
}

void PythonRandom::refill() {
    constexpr std::size_t kMiddle = 397;
    for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kWords] & 0x7fffffffu);
        state_[i] = state_[(i + kMiddle) % kWords] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0u);
    }
    at_ = 0;
}

std::uint32_t PythonRandom::next() {
    if (at_ == kWords) refill();
    std::uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

double PythonRandom::random() {
    const std::uint32_t high = next() >> 5, low = next() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

std::uint32_t PythonRandom::randbelow(std::uint32_t n) {
    const int bits = std::bit_width(n);
    std::uint32_t drawn = getrandbits(bits);
    while (drawn >= n) drawn = getrandbits(bits);
    return drawn;
}

std::vector<std::size_t> PythonRandom::sample(std::size_t n, std::size_t k) {
    if (k > n) throw Error(ErrorKind::config, fmt::format("a sample of {} from {} records", k, n));
    // CPython copies small populations and remembers what was drawn of large ones; the two use the draws differently.
    std::size_t copy_limit = 21;
    if (k > 5) {
        std::size_t power = 1;
        while (power < 3 * k) power *= 4;
        copy_limit += power;
    }
    std::vector<std::size_t> drawn;
    if (n <= copy_limit) {
        std::vector<std::size_t> pool(n);
        for (std::size_t i = 0; i < n; ++i) pool[i] = i;
        for (std::size_t i = 0; i < k; ++i) {
            const std::size_t j = randbelow(static_cast<std::uint32_t>(n - i));
            drawn.push_back(pool[j]);
            pool[j] = pool[n - i - 1];
        }
        return drawn;
    }
    std::unordered_set<std::size_t> taken;
    while (drawn.size() < k) {
        const std::size_t j = randbelow(static_cast<std::uint32_t>(n));
        if (taken.insert(j).second) drawn.push_back(j);
    }
    return drawn;
}

std::vector<std::size_t> PythonRandom::choices(std::size_t n, std::size_t k) {
    std::vector<std::size_t> drawn;
    for (std::size_t i = 0; i < k; ++i) drawn.push_back(static_cast<std::size_t>(random() * static_cast<double>(n)));
    return drawn;
}

}  // namespace deft::experiments
