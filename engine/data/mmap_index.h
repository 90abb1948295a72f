#pragma once
// What the .idx files of Megatron and of DeepSpeed's analyzer have in common: the first bytes, and values that are not
// aligned. Their type codes differ, see indexed_dataset.h and deepspeed_rows.h.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace deft::engine {

inline constexpr char kIndexMagic[] = "MMIDIDX\0";  // nine bytes with the closing zero
inline constexpr std::size_t kIndexMagicBytes = 9;
inline constexpr std::uint64_t kIndexVersion = 1;
// The magic, u64 version, u8 type, u64 rows, u64 documents.
inline constexpr std::size_t kIndexHeaderBytes = kIndexMagicBytes + 8 + 1 + 8 + 8;

// A value at any address.
template <class T>
T load_unaligned(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

}  // namespace deft::engine
