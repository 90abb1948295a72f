#pragma once
// The tables whose rows an embedding sums: plain views, few enough to be handed to a kernel by value.

#include <cstdint>

#include "kernels/device.h"
#include "kernels/types.h"

namespace deft::kernels {

inline constexpr int kMostEmbeddingTables = 4;

template <class Table>
struct FewTables {
    Table table[kMostEmbeddingTables] = {};
    int count = 0;

    DEFT_HOST_DEVICE const Table& operator[](int i) const { return table[i]; }
};

// weight (V, C); position (b, t) takes row id[b, t].
template <class Real>
struct EmbeddingTable {
    const Real* weight = nullptr;
    const std::int32_t* id = nullptr;  // (B, T); null: position t takes row t
    std::int64_t V = 0;
};
template <class Real>
using EmbeddingTables = FewTables<EmbeddingTable<Real>>;

// The gradient (V, C) of such a table, which no other of the call overlaps.
template <class Real>
struct EmbeddingGradient {
    Real* weight = nullptr;
    const std::int32_t* id = nullptr;  // as of the table
    std::int64_t V = 0;
    // Added to what is there, which for a tied weight its head has written; or written, with zeros in rows that no
    // position takes.
    Accumulate accumulate = Accumulate::no;
};
template <class Real>
using EmbeddingGradients = FewTables<EmbeddingGradient<Real>>;

}  // namespace deft::kernels
