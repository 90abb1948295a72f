#include "kernels/cuda/emulator/shared_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/cuda/emulator/block.h"

namespace deft::kernels::cuda::emulator {

namespace {

// NaN as bf16, float and double.
constexpr std::byte kPoison[2] = {std::byte{0xF5}, std::byte{0xFF}};

bool same_place(const std::source_location& a, const std::source_location& b) {
    return a.line() == b.line() && a.column() == b.column() && std::strcmp(a.file_name(), b.file_name()) == 0 &&
           std::strcmp(a.function_name(), b.function_name()) == 0;
}

std::size_t round_up(std::size_t bytes, std::size_t multiple) {
    return (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

// Every array may need a zone after it and its size rounded up.
SharedMemory::SharedMemory(std::size_t dynamic_bytes)
    : memory_(round_up(dynamic_bytes, kZone) + kMostStaticSharedMemory + (2 * kMostArrays + 1) * kZone) {
    arrays_[0] = {kZone, dynamic_bytes, {}};
    constexpr std::uint64_t kPoisonWord = 0xFFF5FFF5FFF5FFF5u;
    static_assert(kZone % sizeof kPoisonWord == 0 && std::endian::native == std::endian::little);
    auto* const words = reinterpret_cast<std::uint64_t*>(memory_.data());
    std::fill(words, words + memory_.size() / sizeof kPoisonWord, kPoisonWord);
}

void* SharedMemory::static_array(std::size_t bytes, const std::source_location& site) {
    std::size_t taken = 0;
    for (std::size_t i = 1; i < count_; ++i) {
        if (same_place(arrays_[i].site, site)) return memory_.data() + arrays_[i].offset;
        taken += arrays_[i].bytes;
    }
    if (count_ == kMostArrays || taken + bytes > kMostStaticSharedMemory) return nullptr;
    const Array& last = arrays_[count_ - 1];
    arrays_[count_] = {round_up(last.offset + last.bytes, kZone) + kZone, bytes, site};
    return memory_.data() + arrays_[count_++].offset;
}

std::size_t SharedMemory::bytes() const {
    std::size_t total = 0;
    for (std::size_t i = 0; i < count_; ++i) total += arrays_[i].bytes;
    return total;
}

std::string SharedMemory::excess() const {
    std::string less;
    for (const SharedMemoryLimit& limit : kSharedMemoryLimits)
        if (bytes() > limit.bytes)
            less += fmt::format("{}sm_{} has {}", less.empty() ? "" : ", ", limit.compute_capability, limit.bytes);
    return less.empty() ? less : fmt::format("{} bytes of shared memory: {}", bytes(), less);
}

std::size_t SharedMemory::written(std::size_t first, std::size_t last) const {
    const std::byte* const bytes = memory_.data();
    const auto holds_poison = [&](std::size_t i) { return bytes[i] == kPoison[i % 2]; };
    // A run that repeats every two bytes is equal to itself moved by two.
    if (last - first >= 2 && holds_poison(first) && holds_poison(first + 1) &&
        std::memcmp(bytes + first, bytes + first + 2, last - first - 2) == 0)
        return 0;
    std::size_t changed = 0;
    for (std::size_t i = first; i < last; ++i) changed += !holds_poison(i);
    return changed;
}

std::string SharedMemory::name(const Array& array) const {
    if (&array == arrays_) return fmt::format("the dynamic array of {} bytes", array.bytes);
    return fmt::format("the array of {} bytes at {}:{}", array.bytes, tree_path(array.site.file_name()),
                       array.site.line());
}

std::string SharedMemory::damage() const {
    std::string text;
    if (const std::size_t n = written(0, kZone)) text = fmt::format("{} bytes before {}", n, name(arrays_[0]));
    for (std::size_t i = 0; i < count_; ++i) {
        const std::size_t end = i + 1 < count_ ? arrays_[i + 1].offset : memory_.size();
        const std::size_t n = written(arrays_[i].offset + arrays_[i].bytes, end);
        if (n == 0) continue;
        text += fmt::format("{}{} bytes after {}", text.empty() ? "" : ", ", n, name(arrays_[i]));
        if (i + 1 < count_) text += " or before " + name(arrays_[i + 1]);
    }
    return text;
}

}  // namespace deft::kernels::cuda::emulator
