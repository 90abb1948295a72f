#pragma once
// Warp-wide instructions of tensor cores and asynchronous copies on the host. Included by device_words.h alone; what
// each does is written in the file of the same name for nvcc.
//
// A copy happens at its wait and no sooner, and its target is NaN until then: a missing wait, commit or barrier shows.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <source_location>

#include "kernels/cuda/emulator/emulator.h"
#include "kernels/cuda/emulator/matrices.h"

namespace deft::kernels::cuda {

struct SharedAddress {
    std::byte* place;
    SharedAddress operator+(int values) const { return {place + 2 * std::ptrdiff_t{values}}; }
};
inline SharedAddress shared_address(const void* place) {
    return {static_cast<std::byte*>(const_cast<void*>(place))};
}

// Each lane reads the row that it names, so that a sanitizer sees who reads what.
inline void ldmatrix_x4(unsigned (&to)[4], SharedAddress row,
                        std::source_location site = std::source_location::current()) {
    emulator::MatrixRow mine(row.place, to);
    emulator::distribute_rows(mine, emulator::Transposed::no, site);
}
inline void ldmatrix_x4_transposed(unsigned (&to)[4], SharedAddress row,
                                   std::source_location site = std::source_location::current()) {
    emulator::MatrixRow mine(row.place, to);
    emulator::distribute_rows(mine, emulator::Transposed::yes, site);
}

inline void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                         std::source_location site = std::source_location::current()) {
    emulator::MatrixProduct mine{c, {a[0], a[1], a[2], a[3]}, {b0, b1}};
    emulator::multiply_matrices(mine, site);
}

class AsyncCopies {
 public:
    void copy_16_bytes(SharedAddress to, const void* from, bool inside) {
        emulator::require_copy_aligned(to.place, from, inside);
        if (count_ == copies_.size()) emulator::too_many_copies(count_);
        std::memset(to.place, 0xFF, 16);  // NaN in every floating type
        copies_[count_++] = {to.place, inside ? from : nullptr};
    }
    void commit() {
        if (emulator::planted_mistake() == emulator::CopyMistake::no_commit) return;
        if (groups_ == ends_.size()) emulator::too_many_copies(groups_);
        ends_[groups_++] = count_;
    }
    template <int kPending>
    void wait() {
        wait_for(static_cast<std::size_t>(kPending));
    }

 private:
    struct Copy {
        std::byte* to;
        const void* from;  // null: zeros
    };
    void wait_for(std::size_t pending) {
        if (emulator::planted_mistake() == emulator::CopyMistake::no_wait) return;
        if (emulator::planted_mistake() == emulator::CopyMistake::one_group_too_few) ++pending;
        if (groups_ <= pending) return;
        const std::size_t groups = groups_ - pending, done = ends_[groups - 1];
        for (std::size_t i = 0; i < done; ++i)
            if (copies_[i].from != nullptr)
                std::memcpy(copies_[i].to, copies_[i].from, 16);
            else
                std::memset(copies_[i].to, 0, 16);
        for (std::size_t i = done; i < count_; ++i) copies_[i - done] = copies_[i];
        for (std::size_t i = groups; i < groups_; ++i) ends_[i - groups] = ends_[i] - done;
        count_ -= done;
        groups_ = pending;
    }

    std::array<Copy, 192> copies_;
    std::array<std::size_t, 16> ends_;  // of the groups, in copies_
    std::size_t count_ = 0, groups_ = 0;
};

inline void load_pair(float& first, float& second, SharedAddress at) {
    emulator::require_shared_aligned(at.place, 8);
    std::memcpy(&first, at.place, 4);
    std::memcpy(&second, at.place + 4, 4);
}

inline unsigned pack_bf16(float first, float second) {
    return emulator::round_to_bf16(first) | emulator::round_to_bf16(second) << 16;
}

inline float exp2_approximate(float x) {
    const float power = std::exp2(x);
    return power < 0x1p-126f ? 0.0f : power;
}

inline unsigned reread_block_index() {
    return emulator::block_index();
}

}  // namespace deft::kernels::cuda
