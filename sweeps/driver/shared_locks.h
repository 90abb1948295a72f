#pragma once
// File systems whose file locks may not hold between machines.

#include <filesystem>
#include <string>
#include <string_view>

namespace deft::sweeps {

// "NFS", for a type of statfs(2) whose locks depend on how it was mounted; empty for a type whose locks hold, or that
// is of one machine.
std::string_view system_of_doubtful_locks(unsigned long type);

// The warning that a run on this root prints; empty where locks hold.
std::string warning_of_locks(const std::filesystem::path& root);

}  // namespace deft::sweeps
