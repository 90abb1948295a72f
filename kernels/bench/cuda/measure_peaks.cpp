// Peaks of a GPU (kernels/bench/cuda_peaks.h), in builds with CUDA.

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/median.h"
#include "kernels/bench/cuda/device_timer.h"
#include "kernels/bench/cuda/sum_words.h"
#include "kernels/bench/cuda_peaks.h"
#include "kernels/cuda/gemm.h"
#include "kernels/philox.h"

namespace deft::kernels::cuda {

namespace {

constexpr int kRounds = 5;

// Amount of work a second, of a run that does so much: the median of the rounds, since a clock may jump in one of them.
double usual_rate(DeviceTimer& timer, double amount, const DeviceTimer::Run& run) {
    const std::int64_t runs = timer.runs_of_an_interval(run, true);
    std::vector<double> seconds;
    for (int round = 0; round < kRounds; ++round) seconds.push_back(timer.in_a_row(run, runs, true));
    return amount * static_cast<double>(runs) / median(seconds);
}

double median_seconds(DeviceTimer& timer, const DeviceTimer::Run& run) {
    std::vector<double> seconds;
    for (int round = 0; round < 2 * kRounds + 1; ++round) seconds.push_back(timer.cold(run));
    return median(seconds);
}

// Normal values on the device, repeated after a million: drawing takes long, and zeros would be multiplied with less
// power and at higher clocks than anything real.
template <class Real>
DeviceMemory random_values(DeviceTimer& timer, std::int64_t n, std::uint32_t which) {
    std::vector<Real> values(static_cast<std::size_t>(std::min<std::int64_t>(n, 1 << 20)));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = from_float<Real>(static_cast<float>(
            philox_normal(philox_block(1, RandomPurpose::tests, which, 0, 0, static_cast<std::uint32_t>(i)))));
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(Real);
    DeviceMemory memory(allocate(bytes));
    std::size_t filled = values.size() * sizeof(Real);
    auto* const at = static_cast<std::byte*>(memory.get());
    copy_to_device(timer.exec(), at, values.data(), filled);
    for (; filled < bytes; filled = std::min(2 * filled, bytes))
        copy_on_device(timer.exec(), at + filled, at, std::min(filled, bytes - filled));
    synchronise(timer.exec());
    return memory;
}

// FLOP/s of the largest product that a benchmark would have: each matrix alone is larger than the cache.
template <class Real>
double product_rate(DeviceTimer& timer) {
    const auto side = static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>(std::sqrt(static_cast<double>(timer.cache_bytes())))));
    const DeviceMemory a = random_values<Real>(timer, side * side, 1), b = random_values<Real>(timer, side * side, 2);
    const DeviceMemory c(allocate(static_cast<std::size_t>(side * side) * sizeof(Real)));
    const double n = static_cast<double>(side);
    return usual_rate(timer, 2 * n * n * n, [&] {
        gemm<Real, Real>(timer.exec(), static_cast<Real*>(c.get()), {static_cast<const Real*>(a.get())},
                         {static_cast<const Real*>(b.get()), true}, side, side, side, 0.0f);
    });
}

}  // namespace

CudaPeaks measure_device_peaks() {
    DeviceTimer timer;
    CudaPeaks peaks;
    peaks.device = devices().front().name;
    peaks.cache_bytes = timer.cache_bytes();
    peaks.bf16_flops = product_rate<bf16>(timer);  // first: it brings the clocks to where work has them
    peaks.f32_flops = product_rate<float>(timer);
    const std::size_t large = 8 * static_cast<std::size_t>(timer.cache_bytes()), small = large / 32;
    const DeviceMemory from = random_values<float>(timer, static_cast<std::int64_t>(large / sizeof(float)), 3);
    const DeviceMemory to(allocate(large)), total(allocate(sizeof(std::uint32_t)));
    const auto read = [&](std::size_t bytes) {
        return usual_rate(timer, static_cast<double>(bytes), [&, bytes] {
            sum_words(timer.exec(), static_cast<std::uint32_t*>(total.get()), from.get(), bytes);
        });
    };
    peaks.read = read(large);
    peaks.cached_read = read(small);
    peaks.copy = usual_rate(timer, 2 * static_cast<double>(large),
                            [&] { copy_on_device(timer.exec(), to.get(), from.get(), large); });
    const std::int64_t items = timer.cache_bytes() / 64;
    const DeviceMemory ends(allocate(static_cast<std::size_t>(items) * sizeof(float)));
    peaks.exponentials = usual_rate(timer, static_cast<double>(items * kExponentialsOfItem),
                                    [&] { run_exponentials(timer.exec(), static_cast<float*>(ends.get()), items); });
    peaks.launch_seconds = 1 / usual_rate(timer, 1, [&] { launch_nothing(timer.exec()); });
    peaks.nothing_seconds = median_seconds(timer, [] {});
    peaks.empty_kernel_seconds = median_seconds(timer, [&] { launch_nothing(timer.exec()); });
    return peaks;
}

}  // namespace deft::kernels::cuda
