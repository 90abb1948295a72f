#include "results_db/line_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "results_db/store.h"

namespace deft::results_db {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::size_t kLongestLine = std::size_t{1} << 24;  // far above any record: a longer one is damage

}  // namespace

LineReader::LineReader(const std::filesystem::path& file, std::int64_t offset) : path_(file.string()), offset_(offset) {
    file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    struct stat status {};
    if (fstat(file_, &status) != 0 || status.st_size < offset) {
        close(file_);
        throw JournalError(ErrorKind::io,
                           fmt::format("{} is shorter than the {} bytes already read from it", path_, offset),
                           "restore the file; a journal is only ever appended to", "the rows already stored");
    }
}

LineReader::~LineReader() {
    close(file_);
}

bool LineReader::next(std::string_view& line) {
    for (;;) {
        if (const std::size_t end = buffer_.find('\n', scanned_); end != std::string::npos) {
            line = std::string_view(buffer_).substr(begin_, end - begin_);
            offset_ += static_cast<std::int64_t>(end + 1 - begin_);
            begin_ = scanned_ = end + 1;
            return true;
        }
        buffer_.erase(0, begin_);
        begin_ = 0;
        scanned_ = buffer_.size();
        if (scanned_ > kLongestLine)
            throw JournalError(ErrorKind::io, fmt::format("{} is damaged: a line longer than {} bytes at byte {}",
                                                          path_, kLongestLine, offset_));
        buffer_.resize(scanned_ + kBlock);
        ssize_t got = -1;
        do {
            got = pread(file_, buffer_.data() + scanned_, kBlock, offset_ + static_cast<std::int64_t>(scanned_));
        } while (got < 0 && errno == EINTR);
        const int error = errno;
        buffer_.resize(scanned_ + static_cast<std::size_t>(got > 0 ? got : 0));
        if (got < 0) throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", path_, std::strerror(error)));
        if (got == 0) return false;
    }
}

}  // namespace deft::results_db
