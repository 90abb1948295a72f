#pragma once
// Typed views into the scratch buffer of an Exec.

#include "kernels/cpu/exec.h"

namespace deft::kernels::cpu {

// Bytes of `count` items, rounded up so that what follows starts on a cache line again.
template <class Item>
std::size_t scratch_bytes(std::int64_t count) {
    return (static_cast<std::size_t>(count) * sizeof(Item) + 63) / 64 * 64;
}

// Errors: config, naming the kernel, when the workspace holds fewer bytes than it needs.
void require_workspace(const Exec&, std::size_t bytes, const char* kernel);

template <class Item>
Item* scratch(const Exec& exec, std::size_t offset_bytes) {
    return reinterpret_cast<Item*>(exec.workspace.data() + offset_bytes);
}

}  // namespace deft::kernels::cpu
