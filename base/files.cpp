#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <memory>
#include <system_error>
#include <vector>

#include "base/error.h"

namespace deft {

namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
    return std::generic_category().message(error);
}

std::string fix_for(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return "free some space, or choose another folder";
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

class Descriptor {
 public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }
    // Closing may be what reports a full disk on a network file system.
    int close() {
        const int status = ::close(number_);
        number_ = -1;
        return status;
    }

 private:
    int number_;
};

// Removes the temporary file unless it has been renamed.
struct TemporaryFile {
    fs::path path;
    bool kept = false;
    ~TemporaryFile() {
        if (!kept) ::unlink(path.c_str());
    }
};

int open_new_file_beside(const fs::path& file, fs::path& name) {
    static std::atomic<unsigned> counter{0};
    for (int tries = 0; tries < 100; ++tries) {
        name = file.parent_path() / fmt::format(".{}.{}.{}.tmp", file.filename().string(), ::getpid(), counter++);
        const int number = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (number >= 0 || errno != EEXIST) return number;
    }
    return -1;
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

[[noreturn]] void damaged(const fs::path& file, const std::string& what) {
    throw Error(ErrorKind::io, fmt::format("{}: {}", file.string(), what), "copy or download the file again");
}

std::string gunzip(const std::string& packed, const fs::path& file) {
    z_stream stream{};
    if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();
    const std::unique_ptr<z_stream, decltype(&inflateEnd)> guard(&stream, &inflateEnd);
    std::string text;
    std::array<char, 1 << 16> buffer{};
    std::size_t given = 0;
    int status = Z_OK;
    bool member_open = true;  // an empty file is truncated, too
    stream.next_in = nullptr;
    for (;;) {
        if (stream.avail_in == 0 && given < packed.size()) {
            const std::size_t count = std::min<std::size_t>(packed.size() - given, 1u << 30);
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + given));
            stream.avail_in = static_cast<uInt>(count);
            given += count;
        }
        if (!member_open) {
            if (stream.avail_in == 0) return text;
            // gzip members may follow each other; their texts are one text.
            if (inflateReset(&stream) != Z_OK) damaged(file, "damaged gzip data");
            member_open = true;
        }
        stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream.avail_out = buffer.size();
        status = inflate(&stream, Z_NO_FLUSH);
        if (status == Z_MEM_ERROR) throw std::bad_alloc();
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) damaged(file, "damaged gzip data");
        const std::size_t made = buffer.size() - stream.avail_out;
        text.append(buffer.data(), made);
        if (status == Z_STREAM_END)
            member_open = false;
        else if (made == 0 && stream.avail_in == 0 && given == packed.size())
            damaged(file, "truncated gzip data");
    }
}

std::string unzstd(const std::string& packed, const fs::path& file) {
    const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), &ZSTD_freeDStream);
    if (!stream) throw std::bad_alloc();
    std::string text;
    std::vector<char> buffer(ZSTD_DStreamOutSize());
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    std::size_t left = 1;  // 0 exactly at the end of a frame; frames may follow each other
    for (;;) {
        ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
        if (in.pos == in.size && left == 0) return text;
        left = ZSTD_decompressStream(stream.get(), &out, &in);
        if (ZSTD_isError(left)) damaged(file, fmt::format("damaged zstd data ({})", ZSTD_getErrorName(left)));
        text.append(buffer.data(), out.pos);
        if (in.pos == in.size && out.pos < out.size && left != 0) damaged(file, "truncated zstd data");
    }
}

}  // namespace

void write_file_atomically(const fs::path& file, std::string_view bytes) {
    const auto fail = [&](int error) {
        throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", file.string(), reason(error)), fix_for(error),
                    fs::exists(file.string().c_str()) ? "the old " + file.filename().string() : std::string());
    };
    fs::path name;
    const int number = open_new_file_beside(file, name);
    if (number < 0) fail(errno);
    TemporaryFile temporary{name};
    Descriptor descriptor(number);
    if (const int error = write_all(number, bytes)) fail(error);
    if (::fsync(number) != 0) fail(errno);
    if (descriptor.close() != 0) fail(errno);
    if (::rename(name.c_str(), file.c_str()) != 0) fail(errno);
    temporary.kept = true;

    // The rename itself lasts only once the folder is on the disk. Some file systems cannot sync a folder.
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.number() >= 0) ::fsync(directory.number());
}

std::string read_file(const fs::path& file) {
    const auto fail = [&](int error) {
        throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", file.string(), reason(error)),
                    error == ENOENT ? "check the path" : "");
    };
    const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (descriptor.number() < 0) fail(errno);
    struct stat status {};
    if (::fstat(descriptor.number(), &status) != 0) fail(errno);
    std::string bytes;
    if (S_ISREG(status.st_mode)) bytes.reserve(static_cast<std::size_t>(status.st_size));
    std::array<char, 1 << 16> buffer{};
    for (;;) {
        const ssize_t count = ::read(descriptor.number(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail(errno);
        if (count == 0) return bytes;
        bytes.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

std::string read_text_file(const fs::path& file) {
    std::string bytes = read_file(file);
    if (file.extension() == ".gz") return gunzip(bytes, file);
    if (file.extension() == ".zst") return unzstd(bytes, file);
    return bytes;
}

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    // A path that is there as a plain file is no error to the library.
    if (!error && !fs::is_directory(folder, error)) error = std::make_error_code(std::errc::not_a_directory);
    if (error)
        throw Error(ErrorKind::io, fmt::format("cannot make the folder {}: {}", folder.string(), error.message()),
                    "choose a folder that you may write to");
}

}  // namespace deft
