#pragma once
// Times work on a device by the device's own clock: events of its stream before and after. What the host takes to
// launch is hidden by the flush of the cache that every interval begins with: the stream is still at it when the
// work and both events have long been enqueued.

#include <cstdint>
#include <functional>

#include "kernels/cuda/runtime.h"

namespace deft::kernels::cuda {

class DeviceTimer {
 public:
    using Run = std::function<void()>;  // enqueues work in the stream of exec()

    // Errors: missing, where no device can be used; memory.
    DeviceTimer();

    Exec& exec() { return exec_; }
    std::int64_t cache_bytes() const { return cache_bytes_; }

    // Leaves nothing in the cache of what was there: twice its size is written and then read. Without the reading, the
    // lines written would be sent to memory while the work that is timed runs.
    void flush();
    // Checksum of the words that the last flush read.
    std::uint32_t flushed_sum();
    std::size_t flushed_bytes() const { return 2 * static_cast<std::size_t>(cache_bytes_); }

    // Seconds of a run after a flush.
    double cold(const Run& run);
    // Seconds of that many consecutive runs. warm: after one more that is not timed.
    double in_a_row(const Run& run, std::int64_t runs, bool warm);
    // As many as take 200 us, for which events are precise enough.
    std::int64_t runs_of_an_interval(const Run& run, bool warm);

 private:
    Context context_;
    Exec exec_;
    std::int64_t cache_bytes_;
    unsigned char pattern_ = 0;
    DeviceMemory flushed_, sum_;
    Event first_, last_;
};

}  // namespace deft::kernels::cuda
