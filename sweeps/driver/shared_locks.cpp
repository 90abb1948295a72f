#include "sweeps/driver/shared_locks.h"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <array>
#include <system_error>
#include <utility>

namespace deft::sweeps {

std::string_view system_of_doubtful_locks(unsigned long type) {
    // linux/magic.h and the sources of the systems that are outside the kernel
    constexpr std::array<std::pair<unsigned long, std::string_view>, 10> kSystems = {{
        {0x6969, "NFS"},
        {0x65735546, "FUSE"},
        {0x517B, "SMB"},
        {0xFF534D42, "CIFS"},
        {0xFE534D42, "SMB"},
        {0x0BD00BD0, "Lustre"},
        {0x19830326, "BeeGFS"},
        {0x5346414F, "AFS"},
        {0x01021997, "9P"},
        {0x786F4256, "a shared folder of VirtualBox"},
    }};
    for (const auto& [known, name] : kSystems)
        if (known == (type & 0xFFFFFFFF)) return name;  // some kernels extend the sign
    return {};
}

std::string warning_of_locks(const std::filesystem::path& root) {
    std::error_code error;
    std::filesystem::path there = std::filesystem::absolute(root, error);
    while (!error && !std::filesystem::exists(there, error) && there.has_relative_path()) there = there.parent_path();
    struct statfs status {};
    if (::statfs(there.c_str(), &status) != 0) return {};
    const std::string_view system = system_of_doubtful_locks(static_cast<unsigned long>(status.f_type));
    if (system.empty()) return {};
    return fmt::format(
        "{} is on {}, whose file locks may not hold between machines: run deft on it from one machine at a time",
        root.string(), system);
}

}  // namespace deft::sweeps
