#include "kernels/cuda/emulator/allocations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "kernels/cuda/emulator/sanitizers.h"

namespace deft::kernels::cuda::emulator {

namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::byte kGuard{0x7F};  // the largest finite bf16, 3e38 as float, 1e306 as double, 2e9 as 32-bit integer

constexpr std::size_t round_up(std::size_t bytes, std::size_t multiple) {
    return (bytes + multiple - 1) / multiple * multiple;
}

// A plain loop: a sanitizer would take these reads for a kernel's.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] std::size_t written(const std::byte* first,
                                                                          const std::byte* last) {
    std::size_t changed = 0;
    for (; first != last; ++first) changed += *first != kGuard;
    return changed;
}

}  // namespace

void* Allocations::add(std::size_t bytes, std::string name) {
    const std::size_t room = round_up(std::max<std::size_t>(bytes, 1), kAlignment), pages = round_up(room, kPage);
    const auto map = [&] {
        try {
            return Mapping(kPage + pages + kPage);
        } catch (const std::bad_alloc&) {
            throw Error(ErrorKind::memory, fmt::format("no memory for {} bytes of the emulated device", bytes));
        }
    };
    Allocation made{map(), nullptr, bytes, std::move(name)};
    made.mapping.forbid(0, kPage);
    made.mapping.forbid(kPage + pages, kPage);
    made.memory = made.end_after() - room;
    std::fill(made.first_before(), made.memory, kGuard);
    std::fill(made.memory + bytes, made.end_after(), kGuard);
    asan::poison(made.mapping.data(), static_cast<std::size_t>(made.memory - made.mapping.data()));
    asan::poison(made.memory + bytes, room - bytes + kPage);
    void* const memory = made.memory;
    const std::lock_guard lock(mutex_);
    allocations_.emplace(reinterpret_cast<std::uintptr_t>(memory), std::move(made));
    return memory;
}

void Allocations::remove(void* memory) {
    if (memory == nullptr) return;
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(memory));
    if (found == allocations_.end()) std::abort();  // as free does
    asan::unpoison(found->second.mapping.data(), found->second.mapping.size());
    allocations_.erase(found);
}

bool Allocations::contains(std::uintptr_t address) const {
    const std::lock_guard lock(mutex_);
    const auto next = allocations_.upper_bound(address);
    return next != allocations_.begin() && address - std::prev(next)->first < std::prev(next)->second.bytes;
}

std::string Allocations::describe(std::uintptr_t address) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [start, allocation] : allocations_) {
        const auto first = reinterpret_cast<std::uintptr_t>(allocation.mapping.data());
        if (address < first || address >= first + allocation.mapping.size()) continue;
        if (address < start) return fmt::format("{} bytes before {}", start - address, allocation.name);
        return fmt::format("byte {} of {}, which has {}", address - start, allocation.name, allocation.bytes);
    }
    return fmt::format("address {:#x}, where the device has no memory", address);
}

std::string Allocations::damage() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    const auto add_to_text = [&](std::size_t bytes, const char* where, const Allocation& allocation) {
        if (bytes == 0) return;
        text += fmt::format("{}{} bytes {} the {} of {}", text.empty() ? "" : ", ", bytes, where, allocation.bytes,
                            allocation.name);
    };
    for (const auto& [start, allocation] : allocations_) {
        constexpr std::ptrdiff_t kLooked = kAlignment;  // all of a page would take long after each launch
        const std::byte* const before = std::max(allocation.first_before(), allocation.memory - kLooked);
        add_to_text(written(before, allocation.memory), "before", allocation);
        add_to_text(written(allocation.memory + allocation.bytes, allocation.end_after()), "after", allocation);
    }
    return text;
}

Allocations& allocations() {
    static Allocations of_the_device;
    return of_the_device;
}

}  // namespace deft::kernels::cuda::emulator
