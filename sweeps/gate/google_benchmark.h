#pragma once
// The JSON that programs built on Google Benchmark write with --benchmark_out, of any version since 1.4.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace deft::sweeps {

// A benchmark and its repetitions.
struct ImportedBenchmark {
    std::string name;  // without suffixes that only say how long it was timed; "#2" marks a second of one name
    std::int64_t threads = 1;
    std::vector<double> seconds;  // real time of one iteration, a value a repetition; not empty
    bool summarised = false;      // the one value is their median, or mean: the file has no repetitions
    double flops = 0, bytes = 0;  // of one iteration, where the program counts "FLOP/s" and "bytes/s"
};

struct GoogleBenchmarkFile {
    Json context = Json::object();
    std::vector<ImportedBenchmark> benchmarks;                  // in the order of the file
    std::vector<std::pair<std::string, std::string>> left_out;  // names, and why
};

// NaN and infinity, which the library writes as bare words, read as null. Errors: data, with the place in `file`, for
// text that is not such JSON. A fault of one benchmark leaves that one out.
GoogleBenchmarkFile parse_google_benchmark(const std::string& text, const std::filesystem::path& file);

// Errors: io; and data, also for files larger than any benchmark writes.
std::string read_google_benchmark(const std::filesystem::path& file);

}  // namespace deft::sweeps
