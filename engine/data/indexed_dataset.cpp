#include "engine/data/indexed_dataset.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

constexpr std::uint8_t kInt32 = 4, kUint16 = 8;
constexpr std::int32_t kWideVocab = 65'500;

template <class T>
void append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

[[noreturn]] void refuse_dataset(const fs::path& file, const std::string& why, const std::string& fix = {}) {
    throw Error(ErrorKind::io, fmt::format("{}: {}", file.string(), why),
                fix.empty() ? "make the dataset again, or copy it again whole" : fix);
}

int width_of(std::uint8_t dtype, const fs::path& file) {
    if (dtype == kUint16) return 2;
    if (dtype == kInt32) return 4;
    refuse_dataset(file, fmt::format("its tokens have type code {}, which is not read", dtype),
                   "write the dataset with 16-bit unsigned (8) or 32-bit signed (4) tokens");
}

void require_equal(const fs::path& file, const char* what, std::int64_t index, std::int64_t found,
                   std::int64_t expected) {
    if (found != expected) refuse_dataset(file, fmt::format("{} {} is {}, expected {}", what, index, found, expected));
}

}  // namespace

fs::path bin_file(const fs::path& prefix) {
    return prefix.string() + ".bin";
}

fs::path idx_file(const fs::path& prefix) {
    return prefix.string() + ".idx";
}

IndexedDataset::IndexedDataset(const fs::path& prefix) : bin_(bin_file(prefix)) {
    const fs::path file = idx_file(prefix);
    const MappedFile index(file);
    const std::span<const std::byte> bytes = index.bytes();
    if (bytes.size() < kIndexMagicBytes || std::memcmp(bytes.data(), kIndexMagic, kIndexMagicBytes) != 0)
        refuse_dataset(file, "no Megatron index: it does not begin with MMIDIDX",
                       "give the prefix of a Megatron dataset");
    if (bytes.size() < kIndexHeaderBytes) refuse_dataset(file, "truncated in its header");
    const std::byte* at = bytes.data() + kIndexMagicBytes;
    if (const auto version = load_unaligned<std::uint64_t>(at); version != kIndexVersion)
        refuse_dataset(file, fmt::format("version {} of the format is not read, only {}", version, kIndexVersion));
    tokens_.width = width_of(load_unaligned<std::uint8_t>(at + 8), file);
    const auto sequences = load_unaligned<std::uint64_t>(at + 9), borders = load_unaligned<std::uint64_t>(at + 17);
    // Each sequence takes 12 bytes, each border 8; compared so that nothing overflows.
    const std::uint64_t left = bytes.size() - kIndexHeaderBytes;
    if (sequences > left / 12 || borders > (left - 12 * sequences) / 8)
        refuse_dataset(file, fmt::format("truncated: {} bytes cannot hold {} sequences and {} document borders",
                                         bytes.size(), sequences, borders));
    if (borders < 1) refuse_dataset(file, "no document borders");

    const std::byte* lengths = bytes.data() + kIndexHeaderBytes;
    const std::byte* offsets = lengths + 4 * sequences;
    const std::byte* documents = offsets + 8 * sequences;
    const auto count = static_cast<std::int64_t>(sequences);
    sequence_start_.reserve(sequences + 1);
    sequence_start_.push_back(0);
    for (std::int64_t s = 0; s < count; ++s) {
        const auto length = load_unaligned<std::int32_t>(lengths + 4 * s);
        if (length < 0) refuse_dataset(file, fmt::format("sequence {} has length {}", s, length));
        require_equal(file, "the byte offset of sequence", s, load_unaligned<std::int64_t>(offsets + 8 * s),
                      sequence_start_.back() * tokens_.width);
        sequence_start_.push_back(sequence_start_.back() + length);
    }
    tokens_.size = sequence_start_.back();
    const auto bin_bytes = static_cast<std::int64_t>(bin_.bytes().size());
    if (bin_bytes != tokens_.size * tokens_.width)
        refuse_dataset(bin_file(prefix),
                       fmt::format("{} bytes where its index declares {}: truncated, or of another dataset", bin_bytes,
                                   tokens_.size * tokens_.width));
    tokens_.data = bin_.bytes().data();

    std::int64_t previous = 0;
    for (std::uint64_t d = 0; d < borders; ++d) {
        const auto sequence = load_unaligned<std::int64_t>(documents + 8 * d);
        if (sequence < previous || sequence > count)
            refuse_dataset(file, fmt::format("document {} begins at sequence {} of {}", d, sequence, count));
        first_sequence_.push_back(sequence);
        previous = sequence;
    }
    if (document_start(0) != 0 || previous != count) refuse_dataset(file, "its documents do not cover its sequences");
}

IndexedDatasetWriter::IndexedDatasetWriter(const fs::path& prefix, std::int32_t vocab)
    : prefix_(prefix), width_(vocab < kWideVocab ? 2 : 4) {
    std::error_code absent;
    fs::remove(idx_file(prefix), absent);  // it describes tokens that are overwritten now
    bin_ = std::fopen(bin_file(prefix).c_str(), "wbe");
    if (bin_ == nullptr)
        throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", bin_file(prefix).string(),
                                               std::generic_category().message(errno)));
}

IndexedDatasetWriter::~IndexedDatasetWriter() {
    if (bin_ != nullptr) std::fclose(bin_);
}

void IndexedDatasetWriter::add_document(std::span<const std::int32_t> tokens) {
    add_sequence(tokens);
    end_document();
}

void IndexedDatasetWriter::end_document() {
    borders_.push_back(static_cast<std::int64_t>(lengths_.size()));
}

void IndexedDatasetWriter::add_sequence(std::span<const std::int32_t> tokens) {
    add_tokens(tokens);
    end_sequence();
}

void IndexedDatasetWriter::end_sequence() {
    lengths_.push_back(static_cast<std::int32_t>(std::exchange(open_, 0)));
}

void IndexedDatasetWriter::add_tokens(std::span<const std::int32_t> tokens) {
    open_ += static_cast<std::int64_t>(tokens.size());
    if (open_ > std::numeric_limits<std::int32_t>::max())
        throw Error(ErrorKind::io, "a document of more than 2^31 - 1 tokens does not fit the format", "split it");
    const void* data = tokens.data();
    if (width_ == 2) {
        narrow_.assign(tokens.begin(), tokens.end());
        data = narrow_.data();
    }
    // An empty document has no data to point at.
    if (!tokens.empty() && std::fwrite(data, static_cast<std::size_t>(width_), tokens.size(), bin_) != tokens.size())
        throw Error(
            ErrorKind::io,
            fmt::format("cannot write {}: {}", bin_file(prefix_).string(), std::generic_category().message(errno)),
            "free some space, or choose another folder");
    tokens_ += static_cast<std::int64_t>(tokens.size());
}

void IndexedDatasetWriter::finish() {
    const bool flushed = std::fflush(bin_) == 0 && ::fsync(::fileno(bin_)) == 0;
    const int error = errno;
    std::fclose(std::exchange(bin_, nullptr));
    if (!flushed)
        throw Error(
            ErrorKind::io,
            fmt::format("cannot write {}: {}", bin_file(prefix_).string(), std::generic_category().message(error)),
            "free some space, or choose another folder");
    std::string bytes(kIndexMagic, kIndexMagicBytes);
    const std::uint64_t sequences = lengths_.size();
    append(bytes, kIndexVersion);
    append(bytes, width_ == 2 ? kUint16 : kInt32);
    append(bytes, sequences);
    append(bytes, static_cast<std::uint64_t>(borders_.size()));
    for (const std::int32_t length : lengths_) append(bytes, length);
    std::int64_t offset = 0;
    for (const std::int32_t length : lengths_) {
        append(bytes, offset);
        offset += std::int64_t{length} * width_;
    }
    for (const std::int64_t border : borders_) append(bytes, border);
    write_file_atomically(idx_file(prefix_), bytes);
}

}  // namespace deft::engine
