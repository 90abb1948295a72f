#include "experiments/datasets/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace deft::experiments {

FileLock::FileLock(const std::filesystem::path& file)
    : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    int status = descriptor_ < 0 ? -1 : 0;
    if (descriptor_ >= 0) do {
            status = ::flock(descriptor_, LOCK_EX);
        } while (status != 0 && errno == EINTR);
    if (status == 0) return;
    const int error = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Error(ErrorKind::io,
                fmt::format("cannot lock {}: {}", file.string(), std::generic_category().message(error)),
                "choose a folder that you may write to");
}

FileLock::~FileLock() {
    ::close(descriptor_);
}

}  // namespace deft::experiments
