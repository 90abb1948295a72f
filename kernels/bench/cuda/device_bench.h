#pragma once
// An op case on the device as a benchmark.

#include <functional>
#include <memory>

#include "kernels/bench/bench_case.h"
#include "kernels/bench/cuda/device_timer.h"
#include "kernels/cases/run_cuda.h"

namespace deft::kernels::cuda {

// Opened when it is first asked for, so that a list of cases needs no device.
class SharedTimer {
 public:
    DeviceTimer& get() {
        if (!timer_) timer_ = std::make_unique<DeviceTimer>();
        return *timer_;
    }

 private:
    std::unique_ptr<DeviceTimer> timer_;
};

// described: without buffers; make(): with them.
BenchCase device_bench(std::shared_ptr<SharedTimer>, const cases::OpCase& described, cases::Activations,
                       std::function<cases::OpCase()> make);

}  // namespace deft::kernels::cuda
