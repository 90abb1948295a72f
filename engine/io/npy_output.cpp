#include "engine/io/npy_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "engine/io/npy.h"

namespace deft::engine {

NpyOutput::NpyOutput(const std::filesystem::path& file, NumberType type, std::int64_t count)
    : file_(file),
      temporary_(file.parent_path() / fmt::format(".{}.{}.tmp", file.filename().string(), ::getpid())),
      width_(type.bytes) {
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(errno);
    const std::string header = npy_header(type, count);
    header_bytes_ = static_cast<std::int64_t>(header.size());
    try {
        write_bytes(0, header.data(), header_bytes_);
    } catch (...) {
        ::close(descriptor_);
        ::unlink(temporary_.c_str());
        throw;
    }
}

NpyOutput::~NpyOutput() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
}

void NpyOutput::fail(int error) const {
    throw Error(ErrorKind::io,
                fmt::format("cannot write {}: {}", file_.string(), std::generic_category().message(error)),
                error == ENOSPC || error == EDQUOT ? "free some space, or choose another folder"
                                                   : "choose a folder that you may write to");
}

void NpyOutput::write_bytes(std::int64_t offset, const char* data, std::int64_t size) {
    while (size > 0) {
        const ssize_t written = ::pwrite(descriptor_, data, static_cast<std::size_t>(size), offset);
        if (written < 0) {
            if (errno == EINTR) continue;
            fail(errno);
        }
        data += written;
        offset += written;
        size -= written;
    }
}

void NpyOutput::write(std::int64_t first, const void* data, std::int64_t count) {
    write_bytes(header_bytes_ + first * width_, static_cast<const char*>(data), count * width_);
}

void NpyOutput::finish() {
    if (::fsync(descriptor_) != 0) fail(errno);
    if (::close(std::exchange(descriptor_, -1)) != 0 || ::rename(temporary_.c_str(), file_.c_str()) != 0) {
        const int error = errno;
        ::unlink(temporary_.c_str());
        fail(error);
    }
}

}  // namespace deft::engine
