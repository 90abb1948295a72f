#pragma once
// Typed views into the scratch buffer of an Exec.

#include <string>

#include "base/error.h"
#include "kernels/cpu/exec.h"

namespace deft::kernels::cpu {

// Bytes of `count` items, rounded up so that what follows starts on a cache line again.
template <class Item>
std::size_t scratch_bytes(std::int64_t count) {
    return (static_cast<std::size_t>(count) * sizeof(Item) + 63) / 64 * 64;
}

// Errors: config, naming the kernel, when the workspace holds fewer bytes than it needs.
inline void require_workspace(const Exec& exec, std::size_t bytes, const char* kernel) {
    if (exec.workspace.size() >= bytes) return;
    throw Error(ErrorKind::config, std::string(kernel) + " needs a workspace of " + std::to_string(bytes) +
                                       " bytes, but was given " + std::to_string(exec.workspace.size()));
}

template <class Item>
Item* scratch(const Exec& exec, std::size_t offset_bytes) {
    return reinterpret_cast<Item*>(exec.workspace.data() + offset_bytes);
}

}  // namespace deft::kernels::cpu
