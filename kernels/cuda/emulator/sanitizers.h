#pragma once
// Reports fibers and barriers to the sanitizers; has no effect in a program without them. The sources of
// the emulator are themselves compiled without ThreadSanitizer.

#include <cstddef>

extern "C" {
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* stack, std::size_t bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** old_stack, std::size_t* old_bytes);
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* address, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* address, std::size_t bytes);
}

namespace deft::kernels::cuda::emulator {

namespace tsan {

inline bool active() {
    return __tsan_create_fiber != nullptr;
}
// Accesses of the creator so far happen before those of the fiber.
inline void* create_fiber() {
    return active() ? __tsan_create_fiber(0) : nullptr;
}
inline void destroy_fiber(void* fiber) {
    if (active()) __tsan_destroy_fiber(fiber);
}
inline void* current_fiber() {
    return active() ? __tsan_get_current_fiber() : nullptr;
}
// Unordered: a switch does not synchronise.
inline void switch_to(void* fiber) {
    constexpr unsigned kNoSync = 1;
    if (active()) __tsan_switch_to_fiber(fiber, kNoSync);
}
// Accesses of the current fiber so far happen before those of others after acquire of the same tag.
inline void release(void* tag) {
    if (active()) __tsan_release(tag);
}
inline void acquire(void* tag) {
    if (active()) __tsan_acquire(tag);
}

}  // namespace tsan

namespace asan {

inline void start_switch(void** fake_stack, const void* stack, std::size_t bytes) {
    if (__sanitizer_start_switch_fiber != nullptr) __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
}
inline void finish_switch(void* fake_stack, const void** old_stack, std::size_t* old_bytes) {
    if (__sanitizer_finish_switch_fiber != nullptr) __sanitizer_finish_switch_fiber(fake_stack, old_stack, old_bytes);
}
inline void poison(const void* address, std::size_t bytes) {
    if (__asan_poison_memory_region != nullptr) __asan_poison_memory_region(address, bytes);
}
inline void unpoison(const void* address, std::size_t bytes) {
    if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(address, bytes);
}

}  // namespace asan

}  // namespace deft::kernels::cuda::emulator
