#include "base/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace deft {

MappedFile::MappedFile(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    int error = descriptor < 0 || ::fstat(descriptor, &status) != 0 ? errno : 0;
    if (error == 0 && status.st_size > 0) {
        size_ = static_cast<std::size_t>(status.st_size);
        void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (address == MAP_FAILED)
            error = errno;
        else
            data_ = static_cast<const std::byte*>(address);
    }
    if (descriptor >= 0) ::close(descriptor);
    if (error != 0)
        throw Error(ErrorKind::io,
                    fmt::format("cannot read {}: {}", file.string(), std::generic_category().message(error)),
                    error == ENOENT ? "check the path" : "");
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace deft
