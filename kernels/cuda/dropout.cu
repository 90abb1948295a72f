#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

// y (B, N) = residual + keep x scale; a thread draws for the four values of a group.
template <class Real>
__global__ void drop_groups(Real* y, const Real* x, const Real* residual, std::int64_t B, std::int64_t N,
                            DropoutKey key, std::uint32_t first_kept, float scale) {
    const std::int64_t groups = ceil_div(N, kDropoutGroup);  // of the longest sample
    for (std::int64_t item = first_item(); item < B * groups; item += item_stride()) {
        const std::int64_t b = item / groups, group = item % groups, values = key.values(b, N);
        if (group * kDropoutGroup >= values) continue;
        const PhiloxBlock words = key.words(b, group);
        for (int i = 0; i < kDropoutGroup; ++i) {
            const std::int64_t value = group * kDropoutGroup + i, at = key.first(b, N) + value;
            if (value >= values) break;
            float kept = words.word[i] < first_kept ? 0.0f : to_float(x[at]) * scale;
            if (residual != nullptr) kept += to_float(residual[at]);
            y[at] = from_float<Real>(kept);
        }
    }
}

}  // namespace

template <class Real>
void dropout(Exec& exec, Real* y, const Real* x, const Real* residual, std::int64_t B, std::int64_t N,
             const DropoutKey& key) {
    launch(exec, over_items("drop_groups", B * ceil_div(N, kDropoutGroup)), drop_groups<Real>, y, x, residual, B, N,
           key, key.first_kept(), static_cast<float>(key.scale()));
}

template void dropout<float>(Exec&, float*, const float*, const float*, std::int64_t, std::int64_t, const DropoutKey&);
template void dropout<bf16>(Exec&, bf16*, const bf16*, const bf16*, std::int64_t, std::int64_t, const DropoutKey&);

}  // namespace deft::kernels::cuda
