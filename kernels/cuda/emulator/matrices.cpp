#include "kernels/cuda/emulator/matrices.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/emulator/block.h"
#include "kernels/cuda/emulator/emulator.h"
#include "kernels/cuda/emulator/warp.h"

namespace deft::kernels::cuda::emulator {

namespace {

CopyMistake mistake = CopyMistake::none;

float value_of(unsigned pair, int half) {
    return std::bit_cast<float>((pair >> 16 * half & 0xFFFFu) << 16);
}

// Matrix m of an x4 load is what lanes 8 m to 8 m + 7 name.
template <Transposed kTransposed>
void distribute(void* const* lanes) {
    for (int lane = 0; lane < kWarp; ++lane)
        for (int m = 0; m < 4; ++m) {
            const auto at = [&](int row, int col) {
                return unsigned{static_cast<const MatrixRow*>(lanes[8 * m + row])->value[col]};
            };
            const int i = lane / 4, j = 2 * (lane % 4);
            const bool swaps = kTransposed == Transposed::yes;
            const unsigned low = swaps ? at(j, i) : at(i, j), high = swaps ? at(j + 1, i) : at(i, j + 1);
            static_cast<MatrixRow*>(lanes[lane])->to[m] = low | high << 16;
        }
    std::int64_t conflicts = 0;
    for (int m = 0; m < 4; ++m) {
        int rows_in[8] = {};
        for (int row = 0; row < 8; ++row)
            ++rows_in[reinterpret_cast<std::uintptr_t>(static_cast<const MatrixRow*>(lanes[8 * m + row])->place) / 16 %
                      8];
        conflicts += *std::max_element(std::begin(rows_in), std::end(rows_in)) - 1;
    }
    running_block()->count_matrices(4, conflicts);
}

void multiply(void* const* lanes) {
    float a[16][16], b[16][8];
    for (int lane = 0; lane < kWarp; ++lane) {
        const MatrixProduct& mine = *static_cast<const MatrixProduct*>(lanes[lane]);
        const int g = lane / 4, t = 2 * (lane % 4);
        for (int half = 0; half < 2; ++half) {
            for (int i = 0; i < 4; ++i) a[g + i % 2 * 8][t + i / 2 * 8 + half] = value_of(mine.a[i], half);
            for (int i = 0; i < 2; ++i) b[t + i * 8 + half][g] = value_of(mine.b[i], half);
        }
    }
    for (int lane = 0; lane < kWarp; ++lane) {
        float* const c = static_cast<const MatrixProduct*>(lanes[lane])->c;
        for (int i = 0; i < 4; ++i) {
            const int row = lane / 4 + i / 2 * 8, col = 2 * (lane % 4) + i % 2;
            double sum = static_cast<double>(c[i]);
            for (int k = 0; k < 16; ++k) sum += static_cast<double>(a[row][k]) * static_cast<double>(b[k][col]);
            c[i] = static_cast<float>(sum);
        }
    }
}

}  // namespace

void require_shared_aligned(const void* place, std::size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(place) % bytes != 0) misaligned_access(place, bytes);
}

void require_copy_aligned(const void* to, const void* from, bool inside) {
    require_shared_aligned(to, 16);
    if (inside) require_shared_aligned(from, 16);
}

void too_many_copies(std::size_t count) {
    running_block()->misuse(
        fmt::format("thread {} has {} asynchronous copies or groups that it did not wait for, more "
                    "than the emulator keeps",
                    thread_index(), count));
}

void distribute_rows(MatrixRow& mine, Transposed transposed, const std::source_location& site) {
    collective(transposed == Transposed::yes ? distribute<Transposed::yes> : distribute<Transposed::no>, &mine, site);
}

void multiply_matrices(MatrixProduct& mine, const std::source_location& site) {
    collective(multiply, &mine, site);
}

void plant(CopyMistake planted) {
    mistake = planted;
}

CopyMistake planted_mistake() {
    return mistake;
}

}  // namespace deft::kernels::cuda::emulator
