#pragma once
// The one way kernels use threads: independent items, split statically. Which thread takes an item never changes its
// result.

#include <omp.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cstdint>
#include <exception>

#include "kernels/ceil_div.h"

namespace deft::kernels::cpu {

// While it lives, this thread flushes denormals to zero (decaying Adam moments would otherwise be slow), and libraries
// that ask OpenMP for threads are given one.
class WorkerScope {
 public:
    WorkerScope() : mxcsr_(_mm_getcsr()), max_threads_(omp_get_max_threads()) {
        constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
        _mm_setcsr(mxcsr_ | kFlushToZero | kDenormalsAreZero);
        omp_set_num_threads(1);
    }
    ~WorkerScope() {
        omp_set_num_threads(max_threads_);
        _mm_setcsr(mxcsr_);
    }
    WorkerScope(const WorkerScope&) = delete;
    WorkerScope& operator=(const WorkerScope&) = delete;

 private:
    unsigned mxcsr_;
    int max_threads_;
};

// body(item, thread) for every item in [0, items). The first exception of any thread is thrown again here.
template <class Body>
void parallel_items(int threads, std::int64_t items, const Body& body) {
    const int team = static_cast<int>(std::min<std::int64_t>(threads, items));
    if (team <= 1) {
        const WorkerScope scope;
        for (std::int64_t item = 0; item < items; ++item) body(item, 0);
        return;
    }
    std::exception_ptr failure;
#pragma omp parallel num_threads(team)
    {
        const WorkerScope scope;
#pragma omp for schedule(static)
        for (std::int64_t item = 0; item < items; ++item) {
            try {
                body(item, omp_get_thread_num());
            } catch (...) {
#pragma omp critical(deft_kernel_failure)
                if (!failure) failure = std::current_exception();
            }
        }
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace deft::kernels::cpu
