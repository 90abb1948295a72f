#include "kernels/bench/cuda_peaks.h"

#include "base/error.h"
#include "kernels/cuda/exec.h"

namespace deft::kernels {

CudaPeaks measure_cuda_peaks() {
    if constexpr (cuda::kBuilt) return cuda::measure_device_peaks();
    throw Error(ErrorKind::missing, "this program was built without CUDA", "build it with ./deft --cuda");
}

}  // namespace deft::kernels
