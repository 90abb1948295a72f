#pragma once
// Signs that measured times are noise, as sentences below a table.

#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "kernels/bench/run_benchmarks.h"

namespace deft::sweeps {

struct MedianTime {
    double median = 0, deviation = 0;  // median absolute deviation
};

MedianTime median_time(std::vector<double> seconds);

// Rows whose repetitions spread widely, and cases that cold caches made faster than hot ones. Empty without any.
std::vector<std::string> noise_notes(std::span<const kernels::BenchResult> results);

// The same of the steps of a profile; empty where they spread little.
std::string step_noise_note(const std::vector<double>& seconds);

// Peaks that are far from those of this machine's last run at as many threads, both as peaks_json() has them. Empty
// where `last` is not an object.
std::string peaks_note(const Json& now, const Json& last, int threads);

}  // namespace deft::sweeps
