#pragma once
// The limits of the control groups that hold this process, of version 1 and of version 2.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace deft {

// The smallest quota from this process's group up to the top, in processors. Nothing where none is set. `root` is the
// folder that holds /proc and /sys.
std::optional<double> processor_quota(const std::filesystem::path& root = "/");
// The smallest limit of memory likewise, in bytes.
std::optional<std::int64_t> group_memory(const std::filesystem::path& root = "/");

}  // namespace deft
