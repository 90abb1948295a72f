#pragma once
// What `deft bench` measured, set down in the results database.

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/bench/run_benchmarks.h"
#include "results_db/store.h"

namespace deft::sweeps {

// The results database of a root, whose folder is made. Errors: io.
std::filesystem::path database_in(const std::filesystem::path& root);

class BenchRecorder {
 public:
    // Errors: database, io, as results_db::Writer.
    explicit BenchRecorder(const std::filesystem::path& root);

    const std::filesystem::path& file() const { return file_; }
    const results_db::Code& code() const { return code_; }
    // Rows with wrong outputs are left out: they have no times.
    void record(std::span<const kernels::BenchResult> results, const kernels::BenchSettings& settings,
                const kernels::Peaks& peaks);

 private:
    std::filesystem::path file_;
    results_db::Writer writer_;
    results_db::Code code_;
    std::int64_t started_ms_;
};

// The series that times of a case belong to, without its code and times. Threads are the CPU's, and begin no other
// series of a GPU.
results_db::BenchSamples bench_series(const std::string& name, const std::string& backend, kernels::CacheState state,
                                      int threads);
// The load of the last minute; negative where the system does not say.
double load_average();

// For Google Benchmark's JSON: code, host, build and peaks. What deft bench import reads is deft_code, deft_host and
// deft_threads.
std::vector<std::pair<std::string, std::string>> bench_context(const results_db::Code& code,
                                                               const kernels::Peaks& peaks, int threads);

}  // namespace deft::sweeps
