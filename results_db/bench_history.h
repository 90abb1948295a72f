#pragma once
// The history of benchmark times, a row a launch of the program: what a trend is read from.

#include <cstdint>
#include <string>
#include <vector>

namespace deft::results_db {

struct BenchHistoryRow {
    // What tells one series from another.
    std::string kernel, impl, params_json;
    std::int64_t version = 1;
    std::string hostname, host_fingerprint, compiler;

    std::int64_t code_id = 0;
    std::string git_sha;
    std::int64_t started_ms = 0, ended_ms = 0;  // of the session
    double seconds = 0;                         // of one run: the launch's median
    double deviation = 0;                       // median absolute, of the launch's samples
    std::string cpu_model;
};

class Connection;

// Of sessions that measured one program (pairs ran beside another), verified or imported. By series and time.
std::vector<BenchHistoryRow> read_bench_history(Connection& connection);

}  // namespace deft::results_db
