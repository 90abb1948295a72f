#pragma once
// Inputs of attention: heads as strided views, shapes, masks. Plain values that every backend shares.

#include <cstdint>

#include "kernels/device.h"
#include "kernels/philox.h"
#include "kernels/step_value.h"

namespace deft::kernels {

// Vectors (B, T, heads, d) in a buffer. All heads of position t of sample b are contiguous from
// data + b sample_stride + t row_stride on; for packed samples, from data + (start[b] + t) row_stride on.
template <class Real>
struct HeadRows {
    Real* data = nullptr;
    std::int64_t row_stride = 0, sample_stride = 0;
};

// Queries (B, Tq, H, d), keys and values (B, Tk, Hkv, d); or their gradients.
template <class Real>
struct AttentionHeads {
    HeadRows<Real> q, k, v;
};

// Which probabilities are dropped (Srivastava et al. 2014; of attention: Vaswani et al. 2017, section 5.4): each with
// probability p, by its head, query, key and the number of the sample's draw, so that padding, the split of a batch and
// the backend make no difference. Those that stay are scaled by 1 / (1 - p).
struct AttentionDropout {
    double p = 0;  // in [0, 1); 0: none
    std::uint64_t seed = 0;
    StepValue<std::uint64_t> step = 0;
    std::uint32_t layer = 0;
    const std::int64_t* draw = nullptr;  // (B), under 2^40

    // Limits of the counter.
    static constexpr std::int64_t kMostHeads = 1 << 8, kMostQueries = 1 << 18, kMostKeys = 1 << 16;

    // One block of four words serves four keys at a distance of kApart, matching the thread of a GPU that owns
    // them: key s takes word s / kApart % 4 of block s / (4 kApart) kApart + s % kApart.
    static constexpr std::int64_t kApart = 16, kKeysOfGroup = 4 * kApart;

    // A word below it is dropped.
    DEFT_HOST_DEVICE std::uint32_t threshold() const { return static_cast<std::uint32_t>(p * 4294967296.0); }
    DEFT_HOST_DEVICE float scale() const { return static_cast<float>(1.0 / (1.0 - p)); }
    DEFT_HOST_DEVICE PhiloxBlock block(std::int64_t b, std::int64_t h, std::int64_t query, std::int64_t number) const {
        return block_in(step.get(), b, h, query, number);
    }
    // For loops, outside which the step is read.
    DEFT_HOST_DEVICE PhiloxBlock block_in(std::uint64_t read_step, std::int64_t b, std::int64_t h, std::int64_t query,
                                          std::int64_t number) const {
        const std::uint64_t sample = static_cast<std::uint64_t>(draw[b]) | static_cast<std::uint64_t>(h) << 40;
        const auto position = static_cast<std::uint32_t>(query << 14 | number);
        return philox_block(seed, RandomPurpose::attention_dropout, read_step, layer, sample, position);
    }
    static DEFT_HOST_DEVICE std::int64_t block_of(std::int64_t key) {
        return key / kKeysOfGroup * kApart + key % kApart;
    }
};

// A query sees a key of its sample unless the key is padding; causal: only keys up to its own position. The last query
// is aligned with the last key.
struct AttentionSpec {
    std::int64_t B = 0, Tq = 0, Tk = 0;
    std::int64_t H = 0, Hkv = 0;  // query head h reads head h / (H / Hkv) of keys and values (Ainslie et al. 2023)
    std::int64_t d = 0;
    bool causal = false;                   // with Tq <= Tk: query t sees keys up to t + Tk - Tq
    const std::int32_t* length = nullptr;  // (B), not below 0: rows from there on are padding, of queries as of keys
    // (B + 1), with Tq == Tk == T: packed samples follow one another without padding, sample b in the rows from
    // start[b] to before start[b + 1], T at most. They have no length beside.
    const std::int32_t* start = nullptr;
    AttentionDropout dropout = {};

    DEFT_HOST_DEVICE std::int64_t group() const { return H / Hkv; }
    DEFT_HOST_DEVICE std::int64_t offset() const { return Tk - Tq; }
    // The number of the T rows of sample b that are not padding.
    DEFT_HOST_DEVICE std::int64_t real(std::int64_t b, std::int64_t T) const {
        if (start != nullptr) return start[b + 1] - start[b];
        return length == nullptr || length[b] > T ? T : length[b];
    }
    // How many rows of sample b there are, padding among them, and the number of the first in (B, T) or packed rows.
    DEFT_HOST_DEVICE std::int64_t rows(std::int64_t b, std::int64_t T) const {
        return start != nullptr ? real(b, T) : T;
    }
    DEFT_HOST_DEVICE std::int64_t first_row(std::int64_t b, std::int64_t T) const {
        return start != nullptr ? start[b] : b * T;
    }
    // The first vector of head h of sample b.
    template <class Real>
    DEFT_HOST_DEVICE Real* head(const HeadRows<Real>& rows, std::int64_t b, std::int64_t h) const {
        return rows.data + (start != nullptr ? start[b] * rows.row_stride : b * rows.sample_stride) + h * d;
    }
    // Whether a query sees a key, neither of which is padding.
    DEFT_HOST_DEVICE bool sees(std::int64_t query, std::int64_t key) const {
        return !causal || key <= query + offset();
    }
};

// The heads of a buffer qkv (B, T, (H + 2 Hkv) d) with queries first, then keys, then values. Hkv == H: (B, T, 3, H,
// d).
template <class Real>
AttentionHeads<Real> fused_heads(Real* qkv, const AttentionSpec& s) {
    const std::int64_t row = (s.H + 2 * s.Hkv) * s.d, sample = s.Tq * row;
    return {{qkv, row, sample}, {qkv + s.H * s.d, row, sample}, {qkv + (s.H + s.Hkv) * s.d, row, sample}};
}

// The same heads, only to be read.
template <class Real>
AttentionHeads<const Real> read_only(const AttentionHeads<Real>& heads) {
    const auto view = [](const HeadRows<Real>& rows) {
        return HeadRows<const Real>{rows.data, rows.row_stride, rows.sample_stride};
    };
    return {view(heads.q), view(heads.k), view(heads.v)};
}

}  // namespace deft::kernels
