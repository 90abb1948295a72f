#pragma once
// Atomics on integers. Relaxed, as on the device: they order no other access.

#include <concepts>
#include <type_traits>

#include "kernels/cuda/emulator/warp.h"

template <std::integral Item>
Item atomicAdd(Item* address, std::type_identity_t<Item> value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

// 0 after `most`.
inline unsigned atomicInc(unsigned* address, unsigned most) {
    deft::kernels::cuda::emulator::order_count(address);
    unsigned old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(address, &old, old >= most ? 0 : old + 1, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
    return old;
}

template <std::integral Item>
Item atomicOr(Item* address, std::type_identity_t<Item> value) {
    return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}

template <std::integral Item>
Item atomicMax(Item* address, std::type_identity_t<Item> value) {
    Item old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (old < value &&
           !__atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}

template <std::integral Item>
Item atomicMin(Item* address, std::type_identity_t<Item> value) {
    Item old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (value < old &&
           !__atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}
