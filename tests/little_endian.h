#pragma once
// Numbers as binary files hold them.

#include <cstdint>
#include <string>

namespace deft::test {

// Little-endian, as many bytes as said.
inline std::string little_endian(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 255));
    return text;
}

}  // namespace deft::test
