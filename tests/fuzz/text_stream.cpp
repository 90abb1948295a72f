// base/text_stream.h: the first byte says plain, gzip or zstd, and whether lines or pieces are read

#include "base/text_stream.h"

#include <zlib.h>
#include <zstd.h>

#include "tests/fuzz/target.h"

using namespace deft;

namespace {

std::string as_zstd(const std::string& text) {
    std::string stored(ZSTD_compressBound(text.size()), '\0');
    stored.resize(ZSTD_compress(stored.data(), stored.size(), text.data(), text.size(), 1));
    return stored;
}

std::string as_gzip(const std::string& text) {
    const auto file = fuzz::scratch() / "seed.gz";
    gzFile out = gzopen(file.c_str(), "wb");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    return fuzz::read(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    constexpr const char* kNames[] = {"x.txt", "x.gz", "x.zst"};
    constexpr std::int64_t kMost = 1 << 22;  // of decompressed bytes: a small file may hold gigabytes
    const auto file = fuzz::write(kNames[data[0] % 3], fuzz::view(data + 1, size - 1));
    return fuzz::read_or_refuse([&] {
        TextStream stream(file);
        std::string line(1000, '\0');
        std::int64_t taken = 0;
        if (data[0] & 128) {
            while (taken < kMost && stream.read_line(line)) taken += static_cast<std::int64_t>(line.size()) + 1;
        } else {
            while (const std::size_t count = taken < kMost ? stream.read(line.data(), line.size()) : 0)
                taken += static_cast<std::int64_t>(count);
        }
        if (stream.stored_bytes_read() > stream.stored_bytes()) throw std::logic_error("more bytes than the file has");
    });
}

std::vector<std::string> fuzz::seeds() {
    const std::string text = "one\n\ntwo lines and a half\nhalf", more(5000, 'x');
    std::vector<std::string> seeds;
    for (const int lines : {0, 129}) {  // 129 is a multiple of three, too
        const auto add = [&](int kind, const std::string& stored) {
            seeds.push_back(static_cast<char>(lines + kind) + stored);
        };
        add(0, text);
        add(1, as_gzip(text));
        add(1, as_gzip(text) + as_gzip(more));
        add(2, as_zstd(text));
        add(2, as_zstd(text) + as_zstd(more));
    }
    return seeds;
}
