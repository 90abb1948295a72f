#include "base/output_target.h"

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>

namespace deft {

namespace {

namespace fs = std::filesystem;

// The number N of a path that names /proc/self/fd/N, directly or through /dev/fd; -1 for any other path. Opening such a
// path would start at the beginning of the file, and fails for a socket.
int own_descriptor(const fs::path& file) {
    std::error_code error;
    if (fs::canonical(file.has_parent_path() ? file.parent_path() : fs::path("."), error) !=
            fs::canonical("/proc/self/fd", error) ||
        error)
        return -1;
    const std::string name = file.filename().string();
    int number = -1;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    return wrong == std::errc() && end == name.data() + name.size() ? number : -1;
}

int set_stream(int number, Descriptor& stream) {
    if (number < 0) return errno;
    stream.reset(number);
    return 0;
}

}  // namespace

int find_output_target(const fs::path& file, OutputTarget& target) {
    constexpr int kMostLinks = 40;  // the kernel's own limit
    target.file = file;
    for (int links = 0;; ++links) {
        if (const int number = own_descriptor(target.file); number >= 0)
            return set_stream(::fcntl(number, F_DUPFD_CLOEXEC, 0), target.stream);
        std::error_code error;
        const fs::path next = fs::read_symlink(target.file, error);
        if (error) break;  // no link, or nothing there
        if (links == kMostLinks) return ELOOP;
        target.file = target.file.parent_path() / next;
    }
    struct stat status {};
    if (::stat(target.file.c_str(), &status) != 0) return errno == ENOENT ? 0 : errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    if (!S_ISREG(status.st_mode))
        return set_stream(::open(target.file.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC), target.stream);
    target.replaced = status;
    return 0;
}

}  // namespace deft
