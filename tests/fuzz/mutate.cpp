#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace deft::fuzz {

namespace {

constexpr std::size_t kLongest = 1 << 16;

// Where arithmetic overflows, signs turn and counts are off by one.
// clang-format off
constexpr std::array<std::uint64_t, 20> kExtremes = {
    0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
    0x100000000, 0x1fffffffffffffff, 0x7fffffffffffffff, 0xffffffffffffffff};

constexpr const char* kNumbers[] = {"0", "-1", "1", "2147483648", "4294967296", "9223372036854775807",
                                    "-9223372036854775808", "18446744073709551615", "18446744073709551616", "1e308",
                                    "1e999", "0.5", "null", "\"\"", "[]", "{}", "true"};
// clang-format on

std::size_t below(std::size_t n, std::mt19937_64& random) {
    return n == 0 ? 0 : static_cast<std::size_t>(random() % n);
}

void set_extreme(std::string& input, std::mt19937_64& random) {
    const std::size_t width = std::size_t{1} << below(4, random);
    if (input.size() < width) return;
    std::size_t at = below(input.size() - width + 1, random);
    if (below(2, random) == 0) at -= at % width;
    std::uint64_t value = kExtremes[below(kExtremes.size(), random)];
    if (below(3, random) == 0) {  // a neighbour of what is there
        value = 0;
        std::memcpy(&value, input.data() + at, width);
        value += below(2, random) == 0 ? 1 : ~std::uint64_t{0};
    }
    std::memcpy(input.data() + at, &value, width);
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

void set_number(std::string& input, std::mt19937_64& random) {
    const auto from = input.begin() + static_cast<std::ptrdiff_t>(below(input.size(), random));
    const auto first = std::find_if(from, input.end(), is_digit);
    const auto last = std::find_if_not(first, input.end(), is_digit);
    if (first != last) input.replace(first, last, kNumbers[below(std::size(kNumbers), random)]);
}

void change(std::string& input, const std::vector<std::string>& others, std::mt19937_64& random) {
    const std::size_t at = below(input.size(), random),
                      length = 1 + below(std::min<std::size_t>(64, input.size()), random);
    switch (below(10, random)) {
        case 0:
        case 1:
            if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << below(8, random)));
            return;
        case 2:
            if (!input.empty()) input[at] = static_cast<char>(random());
            return;
        case 3:
            input.resize(at);
            return;
        case 4:
            input.erase(at, length);
            return;
        case 5:
            input.insert(at, input.substr(below(input.size(), random), length));
            return;
        case 6: {
            const std::string& other = others[below(others.size(), random)];
            input = input.substr(0, at) + other.substr(std::min(at, other.size()));
            return;
        }
        case 7:
            set_number(input, random);
            return;
        default:
            set_extreme(input, random);
    }
}

}  // namespace

std::string mutated(std::string input, const std::vector<std::string>& others, std::mt19937_64& random) {
    for (std::size_t changes = 1 + below(8, random); changes > 0; --changes) change(input, others, random);
    if (input.size() > kLongest) input.resize(kLongest);
    return input;
}

}  // namespace deft::fuzz
