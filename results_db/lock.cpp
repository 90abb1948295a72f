#include "results_db/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace deft::results_db {

namespace {

// The pid that the holder wrote, or "unknown".
std::string holder(int file) {
    std::array<char, 32> text{};
    const ssize_t got = pread(file, text.data(), text.size(), 0);
    std::string pid;
    for (ssize_t i = 0; i < got; ++i) {
        const char c = text[static_cast<std::size_t>(i)];
        if (c < '0' || c > '9') break;
        pid += c;
    }
    return pid.empty() ? "unknown" : pid;
}

}  // namespace

WriterLock::WriterLock(const std::filesystem::path& database) {
    const std::string path = database.string() + ".lock";
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) {
        const int error = errno;
        throw Error(ErrorKind::io, fmt::format("cannot open the lock file {}: {}", path, std::strerror(error)),
                    fmt::format("make {} exist and be writable for this user, or choose another root folder",
                                database.parent_path().string()),
                    "the database");
    }
    while (flock(file_, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        const int error = errno;
        const std::string pid = holder(file_);
        close(file_);
        if (error == EWOULDBLOCK)
            throw Error(ErrorKind::database,
                        fmt::format("another deft run (pid {}) is writing {}", pid, database.string()),
                        "wait until it ends, or use another root folder", "the database");
        throw Error(ErrorKind::io, fmt::format("cannot lock {}: {}", path, std::strerror(error)),
                    "choose a root folder on a file system with file locks", "the database");
    }
    const std::string text = fmt::format("{}\n", getpid());
    // The pid only serves the message above; the lock holds without it.
    if (ftruncate(file_, 0) == 0) (void)!pwrite(file_, text.data(), text.size(), 0);
}

WriterLock::~WriterLock() {
    // The file stays: removing it would let two processes lock two files of one name.
    (void)!ftruncate(file_, 0);
    close(file_);
}

}  // namespace deft::results_db
