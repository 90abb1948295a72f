#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text_stream.h"

namespace deft {

namespace {

namespace fs = std::filesystem;

int open_new_file_beside(const fs::path& file, mode_t mode, fs::path& name) {
    static std::atomic<unsigned> counter{0};
    for (int tries = 0; tries < 100; ++tries) {
        name = file.parent_path() / fmt::format(".{}.{}.{}.tmp", file.filename().string(), ::getpid(), counter++);
        const int number = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (number >= 0 || errno != EEXIST) return number;
    }
    return -1;
}

// A file without a name, for the bytes of a stream: they come in any order and leave in one piece.
int open_nameless_file() {
    std::error_code ignored;
    std::string name = (fs::temp_directory_path(ignored) / "deft_XXXXXX").string();
    const int number = ::mkostemp(name.data(), O_CLOEXEC);
    if (number >= 0) ::unlink(name.c_str());
    return number;
}

// The owner stays where this process may give it, and so does the group.
int keep_owner_and_mode(int descriptor, const struct stat& old) {
    if (::fchown(descriptor, old.st_uid, old.st_gid) != 0)
        (void)!::fchown(descriptor, static_cast<uid_t>(-1), old.st_gid);
    return ::fchmod(descriptor, old.st_mode & 0777) == 0 ? 0 : errno;
}

// 0, or the error.
int write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

// 0, or the error.
int copy_all(int from, int to) {
    if (::lseek(from, 0, SEEK_SET) != 0) return errno;
    std::array<char, 1 << 16> buffer{};
    for (;;) {
        const ssize_t count = ::read(from, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        if (count == 0) return 0;
        if (const int error = write_all(to, {buffer.data(), static_cast<std::size_t>(count)})) return error;
    }
}

// A rename lasts only once its folder is on the disk.
void sync_folder_of(const fs::path& file) {
    sync_folder(file.has_parent_path() ? file.parent_path() : fs::path("."));
}

[[noreturn]] void fail_to_read(const fs::path& file, int error) {
    throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", file.string(), error_text(error)),
                error == ENOENT ? "check the path" : "");
}

}  // namespace

std::string fix_for_write(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return "free some space, or choose another folder";
        case EFBIG:
            return "raise the limit on the size of a file (ulimit -f), or choose another folder";
        case EACCES:
        case EPERM:
        case EROFS:
            return "choose a folder that you may write to";
        case ENOENT:
            return "check the path";
        default:
            return {};
    }
}

void sync_folder(const fs::path& folder) {
    const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.number() >= 0) ::fsync(directory.number());
}

void write_file_atomically(const fs::path& file, std::string_view bytes) {
    AtomicFile out(file);
    out.write(bytes);
    out.finish();
}

AtomicFile::AtomicFile(fs::path file) : file_(std::move(file)) {
    if (const int error = find_output_target(file_, target_)) fail(error);
    if (is_stream())
        descriptor_.reset(open_nameless_file());
    else
        descriptor_.reset(open_new_file_beside(target_.file, target_.replaced ? 0600 : 0666, temporary_));
    if (descriptor_.number() >= 0) return;
    temporary_.clear();
    fail(errno);
}

AtomicFile::~AtomicFile() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(int error) const {
    throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", file_.string(), error_text(error)),
                fix_for_write(error), target_.replaced ? "the old " + file_.filename().string() : std::string());
}

void AtomicFile::write(std::string_view bytes) {
    if (const int error = write_all(descriptor_.number(), bytes)) fail(error);
}

void AtomicFile::write_at(std::int64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(descriptor_.number(), bytes.data(), bytes.size(), offset);
        if (written < 0) {
            if (errno == EINTR) continue;
            fail(errno);
        }
        offset += written;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

void AtomicFile::sync() {
    if (is_stream() || descriptor_.number() < 0) return;
    if (target_.replaced)
        if (const int error = keep_owner_and_mode(descriptor_.number(), *target_.replaced)) fail(error);
    if (::fsync(descriptor_.number()) != 0) fail(errno);
    if (descriptor_.close() != 0) fail(errno);
}

void AtomicFile::finish() {
    if (is_stream()) {
        if (const int error = copy_all(descriptor_.number(), target_.stream.number())) fail(error);
        if (target_.stream.close() != 0) fail(errno);
        return;
    }
    sync();
    if (::rename(temporary_.c_str(), target_.file.c_str()) != 0) fail(errno);
    temporary_.clear();
    sync_folder_of(target_.file);
}

void rename_durably(const fs::path& from, const fs::path& to) {
    const auto fail = [&](int error) {
        throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", to.string(), error_text(error)),
                    fix_for_write(error));
    };
    Descriptor descriptor(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
    if (descriptor.number() < 0) fail(errno);
    if (::fsync(descriptor.number()) != 0) fail(errno);
    if (::rename(from.c_str(), to.c_str()) != 0) fail(errno);
    sync_folder_of(to);
}

void require_regular_file(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) fail_to_read(file, errno);
    if (S_ISDIR(status.st_mode)) fail_to_read(file, EISDIR);
    if (!S_ISREG(status.st_mode))
        throw Error(ErrorKind::io, fmt::format("cannot read {}: it is a pipe, a device or a socket", file.string()),
                    "put a regular file in its place");
}

std::string read_file(const fs::path& file) {
    require_regular_file(file);
    return read_input(file);
}

std::string read_input(const fs::path& file) {
    constexpr std::size_t kMostStreamed = std::size_t{1} << 28;
    const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (descriptor.number() < 0) fail_to_read(file, errno);
    struct stat status {};
    if (::fstat(descriptor.number(), &status) != 0) fail_to_read(file, errno);
    std::string bytes;
    if (S_ISREG(status.st_mode)) bytes.reserve(static_cast<std::size_t>(status.st_size));
    std::array<char, 1 << 16> buffer{};
    for (;;) {
        const ssize_t count = ::read(descriptor.number(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_to_read(file, errno);
        if (count == 0) return bytes;
        bytes.append(buffer.data(), static_cast<std::size_t>(count));
        if (!S_ISREG(status.st_mode) && bytes.size() > kMostStreamed)
            throw Error(ErrorKind::io,
                        fmt::format("cannot read {}: it gives more than {} bytes", file.string(), kMostStreamed),
                        "name a regular file");
    }
}

std::string read_text_file(const fs::path& file) {
    TextStream stream(file);
    std::string text;
    std::vector<char> buffer(1 << 18);
    while (const std::size_t count = stream.read(buffer.data(), buffer.size())) text.append(buffer.data(), count);
    return text;
}

std::optional<fs::path> find_text_file(const fs::path& file) {
    for (const char* packed : {"", ".gz", ".zst"}) {
        const fs::path path = file.string() + packed;
        std::error_code ignored;
        if (fs::is_regular_file(path, ignored)) return path;
    }
    return std::nullopt;
}

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    // create_directories succeeds where the path is a plain file.
    if (!error && !fs::is_directory(folder, error)) error = std::make_error_code(std::errc::not_a_directory);
    if (error)
        throw Error(ErrorKind::io, fmt::format("cannot make the folder {}: {}", folder.string(), error.message()),
                    "choose a folder that you may write to");
}

MappedFile::MappedFile(const fs::path& file) : path_(file) {
    require_regular_file(file);
    descriptor_.reset(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    int error = descriptor_.number() < 0 || ::fstat(descriptor_.number(), &status) != 0 ? errno : 0;
    if (error == 0 && status.st_size > 0) {
        size_ = static_cast<std::size_t>(status.st_size);
        void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_.number(), 0);
        if (address == MAP_FAILED)
            error = errno;
        else
            data_ = static_cast<const std::byte*>(address);
    }
    if (error != 0) fail_to_read(file, error);
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::require_whole() const {
    struct stat status {};
    if (::fstat(descriptor_.number(), &status) == 0 && static_cast<std::size_t>(status.st_size) >= size_) return;
    throw Error(ErrorKind::io, fmt::format("cannot read {}: it was cut short while it was read", path_.string()));
}

void MappedFile::release(std::span<const std::byte> bytes) const {
    if (bytes.empty()) return;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto first = static_cast<std::size_t>(bytes.data() - data_) / page * page;
    const auto end = static_cast<std::size_t>(bytes.data() - data_) + bytes.size();
    ::madvise(const_cast<std::byte*>(data_) + first, end - first, MADV_DONTNEED);
}

FileLock::FileLock(const fs::path& file) : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    int error = file_.number() < 0 ? errno : lock_file(file_, LOCK_EX | LOCK_NB);
    if (error == EWOULDBLOCK) {
        const Clock::time_point start = Clock::now();
        error = lock_file(file_, LOCK_EX);
        waited_seconds_ = seconds_since(start);
    }
    if (error != 0)
        throw Error(ErrorKind::io, fmt::format("cannot lock {}: {}", file.string(), error_text(error)),
                    "choose a folder that you may write to");
}

}  // namespace deft
