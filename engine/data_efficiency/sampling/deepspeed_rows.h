#pragma once
// DeepSpeed's MMapIndexedDataset: PREFIX.bin holds rows of integers end to end, PREFIX.idx their lengths.
//
//   PREFIX.idx, little-endian: "MMIDIDX\0\0" | u64 version = 1 | u8 dtype | u64 R rows | u64 D documents + 1 |
//   i32[R] lengths in elements | i64[R] byte offsets into PREFIX.bin | i64[D] first row of each document, then R
//
// dtype: 1 u8, 2 i8, 3 i16, 4 i32, 5 i64, 6 u16, 7 u32, 8 u64. Megatron's and fairseq's files begin alike, but there 6
// and 7 are floats and 8 is u16: see IndexedRows for what is refused.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/files.h"
#include "engine/data_efficiency/sampling/integer_column.h"

namespace deft::engine {

// Memory-mapped, checked when opened.
class IndexedRows {
 public:
    // Errors: io, naming the file: foreign, truncated, files of two datasets; elements whose width is not that of
    // their DeepSpeed code, hence another program's; and four-byte elements of code 7 that all read as floats too.
    explicit IndexedRows(const std::filesystem::path& prefix);

    std::int64_t rows() const { return rows_; }
    const IntegerColumn& elements() const { return elements_; }
    // Calls take(row, its first element's number, its length) for each row in turn.
    void for_each_row(const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& take) const;

 private:
    std::shared_ptr<const MappedFile> idx_, bin_;
    std::int64_t rows_ = 0;
    IntegerColumn elements_;
};

// Rows of length(row) elements, all of `elements` in turn, as one document. Elements are written with the narrowest of
// the codes 1 to 5, which every program reads alike. PREFIX.idx is absent until both files are whole.
// Errors: io; config, for a row of more than 2^31 - 1 elements, before anything is written.
void write_indexed_rows(const std::filesystem::path& prefix, const IntegerColumn& elements, std::int64_t rows,
                        const std::function<std::int64_t(std::int64_t row)>& length);

}  // namespace deft::engine
