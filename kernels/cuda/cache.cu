#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

// A thread copies one value.
template <class Real>
__global__ void copy_to_cache(Real* cache, const Real* x, CacheRows s) {
    for (std::int64_t item = first_item(); item < s.samples * s.K * s.C; item += item_stride()) {
        const std::int64_t c = item % s.C, k = item / s.C % s.K, sample = item / s.C / s.K;
        const std::int64_t row = (s.B == 1 ? 0 : sample * s.K) + k;
        cache[(sample * s.T + s.first + k) * s.C + c] = x[row * s.x_stride + c];
    }
}

}  // namespace

template <class Real>
void cache_rows(Exec& exec, Real* cache, const Real* x, const CacheRows& s) {
    launch(exec, over_items("copy_to_cache", s.samples * s.K * s.C), copy_to_cache<Real>, cache, x, s);
}

template void cache_rows<float>(Exec&, float*, const float*, const CacheRows&);
template void cache_rows<bf16>(Exec&, bf16*, const bf16*, const CacheRows&);

}  // namespace deft::kernels::cuda
