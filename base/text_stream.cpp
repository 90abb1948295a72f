#include "base/text_stream.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace deft {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBufferBytes = 1 << 18;

[[noreturn]] void damaged(const fs::path& file, const std::string& what) {
    throw Error(ErrorKind::io, fmt::format("{}: {}", file.string(), what), "copy or download the file again");
}

}  // namespace

// Uses zlib and zstd directly: libarchive (3.6, 3.7) does not check a gzip member's checksum and length. It takes
// bytes that follow a member for its end, so that a damaged corpus would pass as complete.
struct TextStream::State {
    struct CloseFile {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    struct EndInflate {
        void operator()(z_stream* stream) const {
            inflateEnd(stream);
            delete stream;
        }
    };
    struct FreeZstd {
        void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
    };

    fs::path path;
    std::unique_ptr<std::FILE, CloseFile> file;
    std::vector<char> stored = std::vector<char>(kBufferBytes);  // [given, filled) is yet to be decompressed
    std::size_t given = 0, filled = 0;
    std::int64_t taken = 0, size = 0;
    std::unique_ptr<z_stream, EndInflate> gzip;
    std::unique_ptr<ZSTD_DStream, FreeZstd> zstd;
    bool part_open = true;  // inside a gzip member or zstd frame; an empty file is truncated, too
    std::vector<char> text = std::vector<char>(kBufferBytes);  // [line_start, text_end) is yet to be read as lines
    std::size_t line_start = 0, text_end = 0;
    bool line_feed_seen = false;

    // False at the end of the file.
    bool refill() {
        if (given < filled) return true;
        given = 0;
        filled = std::fread(stored.data(), 1, stored.size(), file.get());
        if (filled == 0 && std::ferror(file.get()) != 0)
            throw Error(ErrorKind::io,
                        fmt::format("cannot read {}: {}", path.string(), std::generic_category().message(errno)));
        taken += static_cast<std::int64_t>(filled);
        return filled > 0;
    }

    std::size_t read_plain(char* out, std::size_t wanted) {
        if (!refill()) return 0;
        const std::size_t count = std::min(wanted, filled - given);
        std::memcpy(out, stored.data() + given, count);
        given += count;
        return count;
    }

    std::size_t read_gzip(char* out, std::size_t wanted) {
        for (;;) {
            const bool more = refill();
            if (!more && !part_open) return 0;
            // Members may follow each other; their texts are one text.
            if (!part_open && inflateReset(gzip.get()) != Z_OK) damaged(path, "damaged gzip data");
            part_open = true;
            gzip->next_in = reinterpret_cast<Bytef*>(stored.data() + given);
            gzip->avail_in = static_cast<uInt>(filled - given);
            gzip->next_out = reinterpret_cast<Bytef*>(out);
            gzip->avail_out = static_cast<uInt>(wanted);
            const int status = inflate(gzip.get(), Z_NO_FLUSH);
            given = filled - gzip->avail_in;
            if (status == Z_MEM_ERROR) throw std::bad_alloc();
            if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) damaged(path, "damaged gzip data");
            if (status == Z_STREAM_END) part_open = false;
            if (const std::size_t made = wanted - gzip->avail_out; made > 0) return made;
            if (part_open && !more) damaged(path, "truncated gzip data");
        }
    }

    std::size_t read_zstd(char* out, std::size_t wanted) {
        for (;;) {
            const bool more = refill();
            if (!more && !part_open) return 0;
            ZSTD_inBuffer from{stored.data(), filled, given};
            ZSTD_outBuffer to{out, wanted, 0};
            const std::size_t left = ZSTD_decompressStream(zstd.get(), &to, &from);
            if (ZSTD_isError(left)) damaged(path, fmt::format("damaged zstd data ({})", ZSTD_getErrorName(left)));
            given = from.pos;
            part_open = left != 0;  // 0 exactly at the end of a frame; frames may follow each other
            if (to.pos > 0) return to.pos;
            if (part_open && !more) damaged(path, "truncated zstd data");
        }
    }
};

TextStream::TextStream(const fs::path& file) : state_(std::make_unique<State>()) {
    require_regular_file(file);
    State& s = *state_;
    s.path = file;
    std::error_code error;
    s.size = static_cast<std::int64_t>(fs::file_size(file, error));
    if (!error) {
        s.file.reset(std::fopen(file.c_str(), "rbe"));
        if (!s.file) error = std::error_code(errno, std::generic_category());
    }
    if (error)
        throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", file.string(), error.message()), "check the path");
    if (file.extension() == ".gz") {
        auto stream = std::make_unique<z_stream>();
        if (inflateInit2(stream.get(), 15 + 16) != Z_OK) throw std::bad_alloc();
        s.gzip.reset(stream.release());
    } else if (file.extension() == ".zst") {
        s.zstd.reset(ZSTD_createDStream());
        if (!s.zstd) throw std::bad_alloc();
    }
}

TextStream::~TextStream() = default;
TextStream::TextStream(TextStream&&) noexcept = default;
TextStream& TextStream::operator=(TextStream&&) noexcept = default;

std::size_t TextStream::read(char* out, std::size_t size) {
    State& s = *state_;
    if (s.line_start < s.text_end) {  // what read_line() looked ahead
        const std::size_t count = std::min(size, s.text_end - s.line_start);
        std::memcpy(out, s.text.data() + s.line_start, count);
        s.line_start += count;
        return count;
    }
    if (s.gzip) return s.read_gzip(out, size);
    if (s.zstd) return s.read_zstd(out, size);
    return s.read_plain(out, size);
}

bool TextStream::read_line(std::string& line, std::size_t most) {
    State& s = *state_;
    line.clear();
    s.line_feed_seen = false;
    bool any = false;
    for (;;) {
        if (s.line_start == s.text_end) {
            s.line_start = s.text_end = 0;
            s.text_end = read(s.text.data(), s.text.size());
            if (s.text_end == 0) return any;
        }
        any = true;
        const char* start = s.text.data() + s.line_start;
        const auto* end = static_cast<const char*>(std::memchr(start, '\n', s.text_end - s.line_start));
        const std::size_t count = end != nullptr ? static_cast<std::size_t>(end - start) : s.text_end - s.line_start;
        line.append(start, count);
        s.line_start += count + (end != nullptr ? 1 : 0);
        if (end != nullptr) return s.line_feed_seen = true;
        if (line.size() > most) return true;
    }
}

bool TextStream::line_feed_seen() const {
    return state_->line_feed_seen;
}

std::int64_t TextStream::stored_bytes_read() const {
    return state_->taken;
}

std::int64_t TextStream::stored_bytes() const {
    return state_->size;
}

}  // namespace deft
