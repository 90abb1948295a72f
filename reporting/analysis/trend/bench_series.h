#pragma once
// The history of one benchmark case on one machine and compiler: a point a session.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results_db/bench_rows.h"

namespace deft::reporting {

struct SessionPoint {
    std::int64_t started_ms = 0;
    double seconds = 0;  // of one run: the median over its launches' medians
    std::size_t launches = 0;
    std::string git_sha;
    double low = 0, high = 0;  // the least and greatest launch; of one launch, its deviation around the median
    std::string machine = {};  // "Linux 6.1.0-13-amd64, Debian 12": of its newest launch; empty: unknown
};

struct BenchSeries {
    std::string case_name;             // "linear_forward/64x64x64"
    std::string name;                  // "linear_forward/64x64x64 (cpu, hot, 2 threads)"
    std::string where;                 // "node1 0a1b2c3d, GNU 12.2.0": two machines of one name differ in the hash
    std::vector<SessionPoint> points;  // oldest first
    std::string chart = {};            // the name without the state of the caches
    std::string caches = {};           // that state: "hot"; empty, and then chart is name: another program's, or none
    std::int64_t version = 1;          // of the case
    std::string hostname = {}, host_fingerprint = {}, cpu_model = {}, compiler = {};
};

// Launches of the same code that begin within that time after the one before ended are one session: what a machine does
// in an hour is not an independent look at it.
inline constexpr std::int64_t kLaunchGapMs = 30 * 60 * 1000;

// Rows by series and time, as the database gives them.
std::vector<BenchSeries> bench_series(std::span<const results_db::BenchHistoryRow> rows,
                                      std::int64_t launch_gap_ms = kLaunchGapMs);

}  // namespace deft::reporting
