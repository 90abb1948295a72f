#include "engine/train/padded_rows.h"

#include <algorithm>
#include <cstring>

namespace deft::engine {

PaddedRows padded_rows(const Tensor& rows, const SampleStarts& packed, std::int32_t padding) {
    const std::int64_t B = packed.samples(), T = packed.longest;
    const std::int64_t columns = rows.rank == 3 ? rows.columns() : 1;
    PaddedRows padded;
    padded.memory.resize(static_cast<std::size_t>(B * T * columns * size_of(rows.dtype)));
    padded.tensor = rows.rank == 3 ? make_tensor(padded.memory.data(), rows.dtype, {B, T, columns})
                                   : make_tensor(padded.memory.data(), rows.dtype, {B, T});
    if (rows.dtype == DType::i32 && rows.rank == 2) std::fill_n(padded.tensor.as<std::int32_t>(), B * T, padding);
    const auto row_bytes = static_cast<std::size_t>(columns * size_of(rows.dtype));
    const auto* from = static_cast<const std::byte*>(rows.data);
    const std::int32_t* start = packed.start.as<std::int32_t>();
    for (std::int64_t b = 0; b < B; ++b)
        std::memcpy(padded.memory.data() + static_cast<std::size_t>(b * T) * row_bytes,
                    from + static_cast<std::size_t>(start[b]) * row_bytes,
                    static_cast<std::size_t>(start[b + 1] - start[b]) * row_bytes);
    return padded;
}

PaddedRows padded_kept_index(const KeptTokens& kept, const SampleStarts& packed) {
    const std::int64_t sets = kept.index.dim(0), rows = kept.index.dim(2), B = packed.samples(),
                       K = kept.packed.longest;
    const std::int32_t *start = packed.start.as<std::int32_t>(), *kept_start = kept.packed.start.as<std::int32_t>();
    PaddedRows padded;
    padded.memory.resize(static_cast<std::size_t>(sets * B * K) * sizeof(std::int32_t));
    padded.tensor = make_tensor(padded.memory.data(), DType::i32, {sets, B, K});
    std::int32_t* index = padded.tensor.as<std::int32_t>();
    for (std::int64_t set = 0; set < sets; ++set)
        for (std::int64_t b = 0; b < B; ++b) {
            const std::int32_t* position = kept.position.as<std::int32_t>() + set * rows + kept_start[b];
            const std::int32_t real = kept_start[b + 1] - kept_start[b], length = start[b + 1] - start[b];
            for (std::int32_t k = 0; k < K; ++k) *index++ = k < real ? position[k] : length + k - real;
        }
    return padded;
}

}  // namespace deft::engine
