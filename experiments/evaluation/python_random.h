#pragma once
// Python's random.Random, number for number: lm-evaluation-harness shuffles documents and draws shots with it.

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace deft::experiments {

// MT19937 seeded as CPython seeds it with an integer (init_by_array over the seed's 32-bit words).
class PythonRandom {
 public:
    explicit PythonRandom(std::uint64_t seed);

    // The top `bits` bits of one 32-bit output; 1 <= bits <= 32.
    std::uint32_t getrandbits(int bits) { return next() >> (32 - bits); }
    // In [0, 1), 53 bits of two outputs.
    double random();
    // Uniform in [0, n), by rejection; 1 <= n < 2^32.
    std::uint32_t randbelow(std::uint32_t n);

    template <class T>
    void shuffle(std::vector<T>& items) {
        for (std::size_t i = items.size(); i-- > 1;)
            std::swap(items[i], items[randbelow(static_cast<std::uint32_t>(i + 1))]);
    }
    // k different indices of [0, n), as sample(range(n), k). Errors: config, for k > n.
    std::vector<std::size_t> sample(std::size_t n, std::size_t k);
    // k indices of [0, n), repeats allowed, as choices(range(n), k=k).
    std::vector<std::size_t> choices(std::size_t n, std::size_t k);

 private:
    std::uint32_t next() { return static_cast<std::uint32_t>(engine_()); }

    std::mt19937 engine_;
};

}  // namespace deft::experiments
