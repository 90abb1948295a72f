#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

// y (B, N) = residual + keep x scale; a thread draws for kGroups groups of four values, which it moves kWidth at a
// time.
template <class Real, int kGroups, int kWidth>
__global__ void drop_groups(Real* y, const Real* x, const Real* residual, std::int64_t B, std::int64_t N,
                            DropoutKey key, std::uint32_t first_kept, float scale) {
    constexpr int kValues = kGroups * kDropoutGroup;
    const std::int64_t items = ceil_div(N, kValues);  // of the longest sample
    for (std::int64_t item = first_item(); item < B * items; item += item_stride()) {
        const std::int64_t b = item / items, first = item % items * kValues, end = key.values(b, N);
        if (first >= end) continue;
        PhiloxBlock words[kGroups];
        for (int g = 0; g < kGroups; ++g) words[g] = key.words(b, first / kDropoutGroup + g);
        const std::int64_t at = key.first(b, N) + first;
        for (int v = 0; v < kValues; v += kWidth) {
            if (first + v >= end) break;
            float kept[kWidth], other[kWidth] = {};
            load(kept, x + at + v);
            if (residual != nullptr) load(other, residual + at + v);
            for (int i = 0; i < kWidth; ++i) {
                const bool is_kept = words[(v + i) / kDropoutGroup].word[(v + i) % kDropoutGroup] >= first_kept;
                kept[i] = is_kept ? kept[i] * scale : 0.0f;
                if (residual != nullptr) kept[i] += other[i];
            }
            store(y + at + v, kept);
        }
    }
}

}  // namespace

template <class Real>
void dropout(Exec& exec, Real* y, const Real* x, const Real* residual, std::int64_t B, std::int64_t N,
             const DropoutKey& key) {
    constexpr int kGroups = kWide<Real> / kDropoutGroup;
    const std::int64_t columns = key.start == nullptr ? N : key.columns;  // samples begin at a multiple of them
    with_width<Real>(rows_are_wide<Real>(columns, y, x, residual), [&](auto width) {
        launch(exec, over_items("drop_groups", B * ceil_div(N, kWide<Real>)), drop_groups<Real, kGroups, width>, y, x,
               residual, B, N, key, key.first_kept(), static_cast<float>(key.scale()));
    });
}

template void dropout<float>(Exec&, float*, const float*, const float*, std::int64_t, std::int64_t, const DropoutKey&);
template void dropout<bf16>(Exec&, bf16*, const bf16*, const bf16*, std::int64_t, std::int64_t, const DropoutKey&);

}  // namespace deft::kernels::cuda
