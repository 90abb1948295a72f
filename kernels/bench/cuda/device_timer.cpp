#include "kernels/bench/cuda/device_timer.h"

#include "kernels/bench/cuda/sum_words.h"

namespace deft::kernels::cuda {

DeviceTimer::DeviceTimer()
    : exec_(context_.exec()),
      cache_bytes_(l2_cache_bytes()),
      flushed_(allocate(flushed_bytes())),
      sum_(allocate(sizeof(std::uint32_t))) {}

void DeviceTimer::flush() {
    ++pattern_;  // another each time: what is read is what this flush wrote
    fill_bytes(exec_, sum_.get(), 0, sizeof(std::uint32_t));
    fill_bytes(exec_, flushed_.get(), pattern_, flushed_bytes());
    sum_words(exec_, static_cast<std::uint32_t*>(sum_.get()), flushed_.get(), flushed_bytes());
}

std::uint32_t DeviceTimer::flushed_sum() {
    std::uint32_t sum = 0;
    copy_to_host(exec_, &sum, sum_.get(), sizeof sum);
    return sum;
}

double DeviceTimer::cold(const Run& run) {
    return in_a_row(run, 1, false);
}

double DeviceTimer::in_a_row(const Run& run, std::int64_t runs, bool warm) {
    flush();
    if (warm) run();
    first_.record(exec_);
    for (std::int64_t i = 0; i < runs; ++i) run();
    last_.record(exec_);
    return seconds_between(first_, last_);
}

std::int64_t DeviceTimer::runs_of_an_interval(const Run& run, bool warm) {
    constexpr double kLongEnough = 200e-6;
    constexpr std::int64_t kMostRuns = 1 << 16;
    std::int64_t runs = 1;
    in_a_row(run, runs, warm);  // what only the first run does: loading its code, choosing an algorithm
    while (runs < kMostRuns && in_a_row(run, runs, warm) < kLongEnough) runs *= 2;
    return runs;
}

}  // namespace deft::kernels::cuda
