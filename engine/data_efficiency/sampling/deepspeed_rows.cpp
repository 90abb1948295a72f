#include "engine/data_efficiency/sampling/deepspeed_rows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "engine/data/indexed_dataset.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostInARow = std::numeric_limits<std::int32_t>::max();
// Indexed by DeepSpeed's code less one.
constexpr std::array<NumberType, 8> kTypes = {
    {{'u', 1}, {'i', 1}, {'i', 2}, {'i', 4}, {'i', 8}, {'u', 2}, {'u', 4}, {'u', 8}}};
constexpr std::uint8_t kUnsigned32 = 7;

[[noreturn]] void refuse_rows(const fs::path& file, const std::string& why, const std::string& fix = {}) {
    throw Error(ErrorKind::io, fmt::format("{}: {}", file.string(), why),
                fix.empty() ? "make the index again, or copy it again whole" : fix);
}

const std::byte* lengths_of(const MappedFile& idx) {
    return idx.bytes().data() + kIndexHeaderBytes;
}

// Checks the rows' lengths and offsets and gives the number of all elements.
std::int64_t check_rows(const MappedFile& idx, std::int64_t rows, std::int64_t width, const fs::path& file) {
    const std::byte* lengths = lengths_of(idx);
    const std::byte* offsets = lengths + 4 * rows;
    std::int64_t elements = 0;  // at most 2^31 for each of 2^60 rows: below 2^63 in any file that exists
    for (std::int64_t row = 0; row < rows; ++row) {
        const auto length = load_unaligned<std::int32_t>(lengths + 4 * row);
        if (length < 0) refuse_rows(file, fmt::format("row {} has length {}", row, length));
        const auto offset = load_unaligned<std::int64_t>(offsets + 8 * row);
        if (offset != elements * width)
            refuse_rows(file,
                        fmt::format("row {} begins at byte {}, and elements of {} bytes put it at {}", row, offset,
                                    width, elements * width),
                        "give an index of DeepSpeed's data analyzer: Megatron's datasets have other element types");
        elements += length;
    }
    return elements;
}

void check_documents(const MappedFile& idx, std::int64_t rows, std::uint64_t borders, const fs::path& file) {
    const std::byte* documents = lengths_of(idx) + 12 * rows;
    std::int64_t previous = 0;
    for (std::uint64_t d = 0; d < borders; ++d) {
        const auto row = load_unaligned<std::int64_t>(documents + 8 * d);
        if (row < previous || row > rows)
            refuse_rows(file, fmt::format("document {} begins at row {} of {}", d, row, rows));
        previous = row;
    }
}

// As 32-bit floats, integers below 2^23 are denormal, which no program writes for a measured value.
bool read_as_floats_too(std::span<const std::uint32_t> values) {
    return !values.empty() && std::all_of(values.begin(), values.end(), [](std::uint32_t value) {
        return value == 0 || std::isnormal(std::bit_cast<float>(value));
    }) && std::any_of(values.begin(), values.end(), [](std::uint32_t value) { return value != 0; });
}

class OutputFile {
 public:
    explicit OutputFile(fs::path path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wbe")) {
        if (file_ == nullptr) fail(errno);
    }
    ~OutputFile() {
        if (file_ != nullptr) std::fclose(file_);
    }
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(const void* data, std::size_t bytes) {
        if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) fail(errno);
    }
    template <class T>
    void write(const T& value) {
        write(&value, sizeof value);
    }
    void finish() {
        if (std::fflush(file_) != 0 || ::fsync(::fileno(file_)) != 0) fail(errno);
    }

 private:
    [[noreturn]] void fail(int error) const {
        throw Error(ErrorKind::io,
                    fmt::format("cannot write {}: {}", path_.string(), std::generic_category().message(error)),
                    "free some space, or choose another folder");
    }

    fs::path path_;
    std::FILE* file_;
};

std::uint8_t narrowest_code(const IntegerColumn& elements) {
    const auto [least, most] = range_of(elements);
    for (std::uint8_t code = 1; code < 5; ++code) {
        const NumberType type = kTypes[code - 1U];
        const std::int64_t values = std::int64_t{1} << (8 * type.bytes);
        if (type.kind == 'u' ? least >= 0 && most < values : least >= -values / 2 && most < values / 2) return code;
    }
    return 5;
}

void write_bin(const fs::path& file, const IntegerColumn& elements, NumberType type) {
    constexpr std::int64_t kBlock = 1 << 16;
    OutputFile bin(file);
    for (std::int64_t first = 0; first < elements.count; first += kBlock) {
        const std::int64_t count = std::min(kBlock, elements.count - first);
        const std::vector<std::byte> bytes = converted(
            {static_cast<const std::byte*>(elements.data) + first * elements.type.bytes, count, elements.type}, type);
        bin.write(bytes.data(), bytes.size());
    }
    bin.finish();
}

}  // namespace

IndexedRows::IndexedRows(const fs::path& prefix) {
    const fs::path file = idx_file(prefix);
    idx_ = std::make_shared<const MappedFile>(file);
    const std::span<const std::byte> bytes = idx_->bytes();
    if (bytes.size() < kIndexMagicBytes || std::memcmp(bytes.data(), kIndexMagic, kIndexMagicBytes) != 0)
        refuse_rows(file, "no index of DeepSpeed: it does not begin with MMIDIDX");
    if (bytes.size() < kIndexHeaderBytes) refuse_rows(file, "truncated in its header");
    const std::byte* at = bytes.data() + kIndexMagicBytes;
    if (const auto version = load_unaligned<std::uint64_t>(at); version != kIndexVersion)
        refuse_rows(file, fmt::format("version {} of the format is not read, only {}", version, kIndexVersion));
    const auto code = load_unaligned<std::uint8_t>(at + 8);
    if (code < 1 || code > kTypes.size())
        refuse_rows(file, fmt::format("its elements have type code {}, which is not read", code));
    const NumberType type = kTypes[code - 1U];
    const auto rows = load_unaligned<std::uint64_t>(at + 9), borders = load_unaligned<std::uint64_t>(at + 17);
    // Each row takes 12 bytes, each border 8; compared so that nothing overflows.
    const std::uint64_t left = bytes.size() - kIndexHeaderBytes;
    if (rows > left / 12 || borders != (left - 12 * rows) / 8 || (left - 12 * rows) % 8 != 0)
        refuse_rows(file, fmt::format("{} bytes are not those of {} rows and {} document borders", bytes.size(), rows,
                                      borders));
    rows_ = static_cast<std::int64_t>(rows);
    const std::int64_t elements = check_rows(*idx_, rows_, type.bytes, file);
    check_documents(*idx_, rows_, borders, file);

    bin_ = std::make_shared<const MappedFile>(bin_file(prefix));
    const auto bin_bytes = static_cast<std::int64_t>(bin_->bytes().size());
    if (bin_bytes != elements * type.bytes)
        refuse_rows(bin_file(prefix),
                    fmt::format("{} bytes where its index declares {}: truncated, or of another dataset", bin_bytes,
                                elements * type.bytes));
    elements_ = {bin_->bytes().data(), elements, type};
    if (code == kUnsigned32 && read_as_floats_too(elements_.as<std::uint32_t>()))
        refuse_rows(file,
                    "type code 7 means integers in DeepSpeed and floats elsewhere, and its elements may be either",
                    "write it again with 64-bit integers (code 5)");
    if (type == NumberType{'u', 8}) {
        for (const std::uint64_t value : elements_.as<std::uint64_t>())
            if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                refuse_rows(bin_file(prefix), fmt::format("element {} is above 2^63 - 1", value));
        elements_.type = {'i', 8};
    }
}

void IndexedRows::for_each_row(const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& take) const {
    std::int64_t first = 0;
    for (std::int64_t row = 0; row < rows_; ++row) {
        const std::int64_t length = load_unaligned<std::int32_t>(lengths_of(*idx_) + 4 * row);
        take(row, first, length);
        first += length;
    }
}

void write_indexed_rows(const fs::path& prefix, const IntegerColumn& elements, std::int64_t rows,
                        const std::function<std::int64_t(std::int64_t)>& length) {
    for (std::int64_t row = 0; row < rows; ++row)
        if (length(row) > kMostInARow)
            throw Error(ErrorKind::config,
                        fmt::format("row {} of {} has {} elements, and DeepSpeed's layout at most 2^31 - 1", row,
                                    prefix.string(), length(row)),
                        "take a metric of more distinct values, or fewer samples", "nothing was written");
    std::error_code absent;
    fs::remove(idx_file(prefix), absent);  // it describes elements that are overwritten now
    const std::uint8_t code = narrowest_code(elements);
    const NumberType type = kTypes[code - 1U];
    write_bin(bin_file(prefix), elements, type);

    const fs::path unfinished = idx_file(prefix).string() + ".tmp";
    OutputFile idx(unfinished);
    idx.write(kIndexMagic, kIndexMagicBytes);
    idx.write(kIndexVersion);
    idx.write(code);
    idx.write(static_cast<std::uint64_t>(rows));
    idx.write(std::uint64_t{2});
    for (std::int64_t row = 0; row < rows; ++row) idx.write(static_cast<std::int32_t>(length(row)));
    std::int64_t offset = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
        idx.write(offset);
        offset += length(row) * type.bytes;
    }
    idx.write(std::int64_t{0});
    idx.write(rows);
    idx.finish();
    std::error_code error;
    fs::rename(unfinished, idx_file(prefix), error);
    if (error)
        throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", idx_file(prefix).string(), error.message()));
}

}  // namespace deft::engine
