// Lines and bytes of plain, gzip and zstd files, wherever buffers end.

#include "base/text_stream.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/packed_text.h"
#include "tests/temporary_folder.h"

using namespace deft;
using test::gzip;
using test::TemporaryFolder;
using test::write_text;
using test::zstd;

namespace {

constexpr std::size_t kBuffer = 1 << 18;  // of the stream

// The text as it is, packed, and packed in two parts that follow each other.
void write_forms(const TemporaryFolder& folder, const std::string& text) {
    const std::string first = text.substr(0, text.size() / 3), second = text.substr(text.size() / 3);
    write_text(folder / "a.txt", text);
    write_text(folder / "a.gz", gzip(text));
    write_text(folder / "a.zst", zstd(text));
    write_text(folder / "two.gz", gzip(first) + gzip(second));
    write_text(folder / "two.zst", zstd(first) + zstd(second));
}

const char* const kForms[] = {"a.txt", "a.gz", "a.zst", "two.gz", "two.zst"};

std::string joined(TextStream& stream) {
    std::string text, line;
    while (stream.read_line(line)) text += line + (stream.line_feed_seen() ? "\n" : "");
    return text;
}

}  // namespace

TEST_CASE("text stream: lines across the borders of buffers") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::string text;
    // Lines whose line feed falls just before, on and after a border; empty ones; one longer than two buffers.
    for (int border = 1; border <= 4; ++border) {
        const std::size_t end = static_cast<std::size_t>(border) * kBuffer + random() % 3 - 1;
        while (text.size() + 200 < end) text += std::string(random() % 100, 'a' + random() % 26) + "\n";
        text += std::string(end - text.size() - 1, 'x') + "\n\n";
    }
    text += std::string(2 * kBuffer + 17, 'y') + "\n" + "the last line";
    const TemporaryFolder folder;
    for (const std::string& whole : {text, text + "\n", text + "\n\n", text.substr(0, kBuffer)}) {
        write_forms(folder, whole);
        for (const char* form : kForms) {
            INFO(form);
            TextStream lines(folder / form);
            CHECK(joined(lines) == whole);
            CHECK(lines.stored_bytes_read() == lines.stored_bytes());
            std::string line;
            CHECK_FALSE(lines.read_line(line));
        }
    }
}

TEST_CASE("text stream: bytes after lines go on where the lines ended") {
    const std::string text = "first\nsecond\n" + std::string(kBuffer, 'z') + "\nend";
    const TemporaryFolder folder;
    write_forms(folder, text);
    for (const char* form : kForms) {
        INFO(form);
        TextStream stream(folder / form);
        std::string line, rest;
        REQUIRE(stream.read_line(line));
        char bytes[1000];
        while (const std::size_t count = stream.read(bytes, sizeof bytes)) rest.append(bytes, count);
        CHECK(line + "\n" + rest == text);
    }
}

TEST_CASE("text stream: carriage returns and zero bytes belong to the line") {
    const TemporaryFolder folder;
    write_forms(folder, std::string("a\r\n\0b\n\xff\xfe", 8));
    for (const char* form : kForms) {
        TextStream stream(folder / form);
        std::string line;
        REQUIRE(stream.read_line(line));
        CHECK(line == "a\r");
        REQUIRE(stream.read_line(line));
        CHECK(line == std::string("\0b", 2));
        REQUIRE(stream.read_line(line));
        CHECK(line == "\xff\xfe");
        CHECK_FALSE(stream.line_feed_seen());
    }
}

TEST_CASE("text stream: truncated and damaged files are errors, wherever they end") {
    std::mt19937 random(7);
    std::string text(5000, ' ');
    for (char& c : text) c = static_cast<char>(random());
    const TemporaryFolder folder;
    write_forms(folder, text);
    for (const char* form : {"a.gz", "a.zst"}) {
        const std::string packed = test::read_text(folder / form);
        for (std::size_t size = 0; size < packed.size(); size += 1 + size / 7) {
            INFO(form << " cut to " << size << " of " << packed.size());
            write_text(folder / form, packed.substr(0, size));
            CHECK_THROWS_AS(
                [&] {
                    TextStream stream(folder / form);
                    joined(stream);
                }(),
                Error);
        }
        std::string damaged = packed;
        if (form == std::string("a.gz")) {
            damaged[packed.size() - 6] ^= 1;  // the checksum alone
            write_text(folder / form, damaged);
            TextStream stream(folder / form);
            CHECK_THROWS_WITH(joined(stream), ContainsSubstring("damaged"));
        }
        damaged = packed;
        damaged[packed.size() / 2] ^= 0x55;
        damaged[1] ^= 0x55;
        write_text(folder / form, damaged);
        TextStream stream(folder / form);
        CHECK_THROWS_WITH(joined(stream), ContainsSubstring("damaged") && ContainsSubstring(form));
    }
}
