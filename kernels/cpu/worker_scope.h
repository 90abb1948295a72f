#pragma once
// How a thread computes while it runs kernels.

#include <omp.h>
#include <xmmintrin.h>

namespace deft::kernels::cpu {

// While it lives, this thread flushes denormals to zero (decaying Adam moments would otherwise be slow), and libraries
// that ask OpenMP for threads get one.
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

}  // namespace deft::kernels::cpu
