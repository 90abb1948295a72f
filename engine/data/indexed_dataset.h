#pragma once
// Megatron's indexed dataset: PREFIX.bin holds tokens end to end, PREFIX.idx says where sequences and documents lie.
//
//   PREFIX.idx, little-endian: "MMIDIDX\0\0" | u64 version = 1 | u8 dtype | u64 S sequences | u64 D = documents + 1 |
//   i32[S] lengths in tokens | i64[S] byte offsets into PREFIX.bin | i64[D] first sequence of each document, then S
//
// dtype 4 is i32 and 8 is u16. Other integer types are refused, and 6 and 7, which mean different types in
// different versions of the format.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/files.h"
#include "engine/data/token_corpus.h"

namespace deft::engine {

std::filesystem::path bin_file(const std::filesystem::path& prefix);
std::filesystem::path idx_file(const std::filesystem::path& prefix);

// Memory-mapped, checked when opened: every length, offset and document border.
class IndexedDataset {
 public:
    // Errors: io, naming the file and what is wrong with it: foreign, truncated, files of two datasets.
    explicit IndexedDataset(const std::filesystem::path& prefix);

    std::int64_t documents() const { return static_cast<std::int64_t>(first_sequence_.size()) - 1; }
    std::int64_t sequences() const { return static_cast<std::int64_t>(sequence_start_.size()) - 1; }
    TokenSpan tokens() const { return tokens_; }
    // First token of document d; d == documents(): the number of all tokens.
    std::int64_t document_start(std::int64_t d) const { return sequence_start(first_sequence(d)); }
    // First token of sequence s; s == sequences(): the number of all tokens.
    std::int64_t sequence_start(std::int64_t s) const { return sequence_start_[static_cast<std::size_t>(s)]; }
    // First sequence of document d; d == documents(): the number of all sequences.
    std::int64_t first_sequence(std::int64_t d) const { return first_sequence_[static_cast<std::size_t>(d)]; }

 private:
    MappedFile bin_;
    TokenSpan tokens_;
    std::vector<std::int64_t> sequence_start_;  // (sequences + 1), in tokens
    std::vector<std::int64_t> first_sequence_;  // (documents + 1)
};

// Writes both files; each is whole once finish() has returned, and the index is absent before.
class IndexedDatasetWriter {
 public:
    // Two bytes a token for vocabularies below 65,500, as Megatron has it, else four. Errors of all calls: io.
    IndexedDatasetWriter(const std::filesystem::path& prefix, std::int32_t vocab);
    ~IndexedDatasetWriter();
    IndexedDatasetWriter(const IndexedDatasetWriter&) = delete;
    IndexedDatasetWriter& operator=(const IndexedDatasetWriter&) = delete;

    // One sequence, a document of its own; its last token should be the end-of-document token.
    void add_document(std::span<const std::int32_t> tokens);
    // A sequence of the document that end_document() closes.
    void add_sequence(std::span<const std::int32_t> tokens);
    // The same piece by piece: tokens of the sequence that end_sequence() closes.
    void add_tokens(std::span<const std::int32_t> tokens);
    void end_sequence();
    void end_document();
    void finish();

    std::int64_t documents() const { return static_cast<std::int64_t>(borders_.size()) - 1; }
    std::int64_t tokens() const { return tokens_; }

 private:
    std::filesystem::path prefix_;
    int width_;
    std::FILE* bin_ = nullptr;
    std::vector<std::int32_t> lengths_;     // (S)
    std::vector<std::int64_t> borders_{0};  // (D)
    std::vector<std::uint16_t> narrow_;
    std::int64_t open_ = 0;  // tokens of the sequence that is not closed yet
    std::int64_t tokens_ = 0;
};

// Common parts of the .idx files of Megatron and of DeepSpeed's analyzer: the first bytes, and values that are not
// aligned. Their type codes differ, see indexed_dataset.h and deepspeed_rows.h.

inline constexpr char kIndexMagic[] = "MMIDIDX\0";  // nine bytes with the closing zero
inline constexpr std::size_t kIndexMagicBytes = 9;
inline constexpr std::uint64_t kIndexVersion = 1;
// The magic, u64 version, u8 type, u64 rows, u64 documents.
inline constexpr std::size_t kIndexHeaderBytes = kIndexMagicBytes + 8 + 1 + 8 + 8;

// A value at any address.
template <class T>
T load_unaligned(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

}  // namespace deft::engine
