#pragma once
// Runs benchmark cases with Google Benchmark, and says how near each comes to the roofline of this machine.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/bench/bench_case.h"
#include "kernels/bench/cpu_peaks.h"
#include "kernels/bench/cuda_peaks.h"

namespace deft::kernels {

const char* to_string(CacheState state);
std::optional<CacheState> cache_state(const std::string& text);
// That a case is timed in.
std::span<const CacheState> states_of(const BenchCase&);
std::size_t count_rows(std::span<const BenchCase> cases);

struct BenchSettings {
    int threads = 1;
    double min_seconds = 0.05;  // of a repetition; a tenth of it where a flush, which takes long, precedes each run
    int repetitions = 5;
};

// The rates that bound a run: of its FLOPs, and of its bytes from where they are.
struct Ceilings {
    double flops = 0, bytes = 0;  // a second; 0: not measured
    bool is_cached = false;       // a cache has the bytes, at its own rate
};

// Ceilings, measured in the same process.
struct Peaks {
    FmaPeak fma;
    MemoryPeak memory;
    std::optional<CudaPeaks> device = std::nullopt;

    // The FMA peak (on a device: the rate of a large product), and the rate of memory; of hot arguments that fit the
    // last-level cache, that of the L2 caches where it is higher.
    Ceilings ceilings(const PreparedBench& bench, CacheState state, const std::string& backend = kCpu) const;
    // Seconds that a run takes at least under those (Williams et al. 2009). 0 for a device whose peaks were not
    // measured.
    double least_seconds(const PreparedBench& bench, CacheState state, const std::string& backend = kCpu) const;
};
// Peaks of the CPU.
Peaks measure_peaks(int threads);

// One row: a case in one state of the caches.
struct BenchResult {
    std::string name, backend;
    CacheState state = CacheState::hot;
    double flops = 0, bytes = 0, least_seconds = 0;  // of one run
    Ceilings ceilings = {};
    double items = 0;             // of one run
    std::string item;             // what one is
    std::vector<double> seconds;  // of one run, each repetition's mean
    std::string note;             // what else there is to say of it
    std::string wrong;            // why nothing was timed: what the outputs have wrong
};

// Each case is prepared, checked and timed before the next is prepared; a way to run that a case has not gets no row.
// done(result) is called after each row; google_json or null receives Google Benchmark's JSON, with `context` among it.
std::vector<BenchResult> run_benchmarks(std::span<const BenchCase> cases, const BenchSettings& settings,
                                        const Peaks& peaks,
                                        const std::vector<std::pair<std::string, std::string>>& context,
                                        std::ostream* google_json, const std::function<void(const BenchResult&)>& done);

}  // namespace deft::kernels
