// sweeps/gate/google_benchmark.h: what is taken from a file can be stored

#include "sweeps/gate/google_benchmark.h"

#include <cmath>

#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    sweeps::GoogleBenchmarkFile file;
    try {
        file = sweeps::parse_google_benchmark(std::string(fuzz::view(data, size)), "x.json");
    } catch (const Error&) {
        return 0;
    }
    (void)canonical_json(file.context);
    for (const sweeps::ImportedBenchmark& benchmark : file.benchmarks) {
        if (benchmark.name.empty() || benchmark.seconds.empty() || benchmark.threads < 1)
            throw std::logic_error("a benchmark without name, time or threads");
        if (!std::isfinite(benchmark.flops) || !std::isfinite(benchmark.bytes))
            throw std::logic_error("work that is not a number");
        for (const double seconds : benchmark.seconds)
            if (!(seconds > 0 && std::isfinite(seconds))) throw std::logic_error("a time that is none");
    }
    return 0;
}

std::vector<std::string> fuzz::seeds() {
    return {R"({"context": {"date": "2024-05-01T10:00:00+02:00", "host_name": "h", "executable": "./b", "num_cpus": 2,
        "caches": [{"type": "Data", "level": 1, "size": 32768}], "library_build_type": "release"}, "benchmarks": [
        {"name": "BM_a/8/min_time:0.1/repeats:2/threads:2", "family_index": 0, "per_family_instance_index": 0,
        "run_name": "BM_a/8/min_time:0.1/repeats:2/threads:2", "run_type": "iteration", "repetitions": 2,
        "repetition_index": 0, "threads": 2, "iterations": 10, "real_time": 1.5, "cpu_time": 1.4, "time_unit": "us",
        "FLOP/s": 1e9, "bytes/s": NaN}, {"name": "BM_a_mean", "run_name": "BM_a", "run_type": "aggregate",
        "aggregate_name": "mean", "aggregate_unit": "time", "real_time": 2, "time_unit": "ms"}, {"name": "BM_b",
        "run_type": "iteration", "error_occurred": true, "error_message": "no"}]})",
            R"({"benchmarks": [{"name": "BM_a/8", "real_time": 5e-1, "time_unit": "s"}, {"name": "BM_a/8_median",
        "real_time": 4, "time_unit": "ns"}, {"name": "x", "skipped": true, "real_time": -Infinity}]})"};
}
