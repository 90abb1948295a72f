#include "experiments/evaluation/python_random.h"

#include <fmt/format.h>

#include <bit>
#include <unordered_set>

#include "base/error.h"

namespace deft::experiments {

namespace {

// mt19937ar's init_by_array (Matsumoto and Nishimura) over the seed's 32-bit words, as a seed sequence of the standard
// library's engine, whose state it gives word by word.
struct SeedByArray {
    using result_type = std::uint32_t;
    std::uint64_t seed;

    template <class Word>
    void generate(Word first, Word last) const {
        const auto words = static_cast<std::size_t>(last - first);
        first[0] = 19650218;
        for (std::uint32_t i = 1; i < words; ++i) first[i] = 1812433253u * mixed(first[i - 1]) + i;
        const std::uint32_t key[] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
        const std::uint32_t key_words = key[1] != 0 ? 2 : 1;
        std::size_t i = 1;
        const auto advance = [&] {
            if (++i == words) {
                first[0] = first[words - 1];
                i = 1;
            }
        };
        for (std::uint32_t k = 0; k < words; ++k, advance())
            first[i] = (first[i] ^ (mixed(first[i - 1]) * 1664525u)) + key[k % key_words] + k % key_words;
        for (std::size_t k = 1; k < words; ++k, advance())
            first[i] = (first[i] ^ (mixed(first[i - 1]) * 1566083941u)) - static_cast<std::uint32_t>(i);
        first[0] = 0x80000000u;
    }
    static std::uint32_t mixed(std::uint32_t word) { return word ^ (word >> 30); }
};

std::mt19937 seeded(std::uint64_t seed) {
    SeedByArray words{seed};
    return std::mt19937(words);
}

}  // namespace

PythonRandom::PythonRandom(std::uint64_t seed) : engine_(seeded(seed)) {}

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
