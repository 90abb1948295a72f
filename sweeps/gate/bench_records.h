#pragma once
// Stores the measurements of `deft bench` in the results database.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "kernels/bench/run_benchmarks.h"
#include "results_db/writer.h"
#include "sweeps/gate/compare.h"

namespace deft::sweeps {

class BenchRecorder {
 public:
    // Errors: database, io, as results_db::Writer.
    explicit BenchRecorder(const std::filesystem::path& root);

    const std::filesystem::path& file() const { return file_; }
    results_db::Writer& writer() { return writer_; }

    // Rows with wrong outputs are left out: they have no times.
    void record(std::span<const kernels::BenchResult> results, const kernels::BenchSettings& settings,
                const kernels::Peaks& peaks, const results_db::Code& code);
    // The samples of a comparison, in sessions of mode 'ab': base is arm A, head arm B. The first measurements are one
    // session, the second ones another.
    void record(std::span<const ComparedCase> cases, const KnownArms& arms, const ComparisonSettings& settings);

 private:
    std::filesystem::path file_;
    results_db::Writer writer_;
    std::int64_t started_ms_;
};

// The peaks of a run, as a session stores them.
Json peaks_json(const kernels::Peaks& peaks);

// The rule of a comparison, and how it was measured.
Json settings_json(const ComparisonSettings& settings);

// Times on the CPU of something that has no benchmark case.
kernels::BenchResult cpu_result(const std::string& name, double flops, const std::vector<double>& seconds);

// The series that the times of a case belong to, without code and times. The number of threads is part of it on the CPU
// only.
results_db::BenchSamples bench_series(const std::string& name, const std::string& backend, kernels::CacheState state,
                                      int threads);
// The load of the last minute; negative where the system does not say.
double load_average();

// For Google Benchmark's JSON: code, host, build and peaks. What deft bench import reads is deft_code, deft_host and
// deft_threads.
std::vector<std::pair<std::string, std::string>> bench_context(const results_db::Code& code,
                                                               const kernels::Peaks& peaks, int threads);

}  // namespace deft::sweeps
