#pragma once
// A file descriptor that closes itself, and what the system says of an error.

#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace deft {

class Descriptor {
 public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        reset(std::exchange(other.number_, -1));
        return *this;
    }
    int number() const { return number_; }
    // 0, or -1 with errno: closing may be what reports a full disk on a network file system.
    int close() {
        const int status = number_ < 0 ? 0 : ::close(number_);
        number_ = -1;
        return status;
    }
    void reset(int number) {
        close();
        number_ = number;
    }

 private:
    int number_;
};

// "No such file or directory", of an errno.
inline std::string error_text(int error) {
    return std::generic_category().message(error);
}

// flock(2), which the kernel ends with the process however it ends. 0, or the error.
inline int lock_file(const Descriptor& file, int operation) {
    while (::flock(file.number(), operation) != 0)
        if (errno != EINTR) return errno;
    return 0;
}

}  // namespace deft
