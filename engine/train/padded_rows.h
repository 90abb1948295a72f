#pragma once
// Packed samples laid out in rows of their own again, with padding: for whoever looks at a step from outside.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/ops.h"
#include "engine/nn/rows.h"

namespace deft::engine {

// A tensor with its memory, on the host.
struct PaddedRows {
    std::vector<std::byte> memory;
    Tensor tensor;
};

// (B, longest, columns...) of rows (1, M, columns...) on the host, which may have 2 dimensions or 3: padding has zeros
// in every byte, or of rows (1, M) i32 this value.
PaddedRows padded_rows(const Tensor& rows, const SampleStarts& packed, std::int32_t padding = 0);

// The kept positions of each sample, (sets, B, K), from kept tokens of packed samples: the real ones first, then
// padding from the first on, as tokens are chosen of samples in rows of their own.
PaddedRows padded_kept_index(const KeptTokens& kept, const SampleStarts& packed);

}  // namespace deft::engine
