#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

// A thread copies kWidth values.
template <class Real, int kWidth>
__global__ void copy_to_cache(Real* cache, const Real* x, CacheRows s) {
    const std::int64_t vectors = s.C / kWidth;  // of a row
    for (std::int64_t item = first_item(); item < s.samples * s.K * vectors; item += item_stride()) {
        const std::int64_t c = item % vectors * kWidth, k = item / vectors % s.K, sample = item / vectors / s.K;
        const std::int64_t row = (s.B == 1 ? 0 : sample * s.K) + k;
        store_vector(cache + (sample * s.T + s.first(sample) + k) * s.C + c,
                     load_vector<kWidth>(x + row * s.x_stride + c));
    }
}

}  // namespace

template <class Real>
void cache_rows(Exec& exec, Real* cache, const Real* x, const CacheRows& s) {
    with_width<Real>(rows_are_wide<Real>(s.C, cache, x) && s.x_stride % kWide<Real> == 0, [&](auto width) {
        launch(exec, over_items("copy_to_cache", s.samples * s.K * (s.C / width)), copy_to_cache<Real, width>, cache, x,
               s);
    });
}

template void cache_rows<float>(Exec&, float*, const float*, const CacheRows&);
template void cache_rows<bf16>(Exec&, bf16*, const bf16*, const CacheRows&);

}  // namespace deft::kernels::cuda
