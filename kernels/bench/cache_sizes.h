#pragma once
// How large the caches are that a core of this machine reaches.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace deft::kernels {

// Of the data or unified cache of that level, by the kernel's description of a processor, or what the C library knows
// of it, which is all of a socket's even where a core reaches a part.
std::optional<std::int64_t> cache_bytes(int level,
                                        const std::filesystem::path& described = "/sys/devices/system/cpu/cpu0/cache");

// 32 MiB where the system does not say.
std::int64_t last_level_cache_bytes();

}  // namespace deft::kernels
