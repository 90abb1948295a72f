#pragma once
// Benchmarks in the results database.

#include <cstdint>
#include <string>
#include <vector>

namespace deft::results_db {

struct BenchSamples {
    std::string kernel;              // "linear_forward"
    std::string impl;                // "cpu"
    std::string params_json = "{}";  // sizes and variant, caches, threads
    std::int64_t version = 1;
    double flops = 0, bytes = 0;
    std::int64_t code_id = 0;
    std::string arm = "A";        // of two that are compared
    std::vector<double> seconds;  // of one run, in the order measured; not empty
    bool verified = false;        // the output met the reference in the same run
};

struct BenchSession {
    std::string uid;              // empty: drawn. One that is there already is the same session
    std::string mode = "single";  // single | ab | import
    std::int64_t host_id = 0;
    std::int64_t started_ms = 0, ended_ms = 0;
    std::string env_json = "{}", settings_json = "{}";
    std::vector<BenchSamples> results;
};

class Connection;

// In the caller's transaction. False, and nothing is added, where a session of that uid is there. Errors: database.
bool insert_bench_session(Connection& connection, const BenchSession& session);

// A stored result.
struct BenchRow {
    std::string kernel, impl, params_json;
    std::string session_uid, arm, git_sha, host_fingerprint;
    std::int64_t started_ms = 0;
    std::vector<double> seconds;
    bool verified = false;
};
// Ordered by case and time.
std::vector<BenchRow> read_bench_rows(Connection& connection);

// The history of benchmark times, a row a launch of the program: what a trend is read from.

struct BenchHistoryRow {
    // The identity of a series.
    std::string kernel, impl, params_json;
    std::int64_t version = 1;
    std::string hostname, host_fingerprint, compiler;

    std::int64_t code_id = 0;
    std::string git_sha;
    std::int64_t started_ms = 0, ended_ms = 0;  // of the session
    double seconds = 0;                         // of one run: the launch's median
    double deviation = 0;                       // median absolute, of the launch's samples
    std::string cpu_model;
    std::string machine_json = {};  // of the session, as machine_json() has it; empty: the session does not say
};

class Connection;

// Rows of sessions that measured one program (pairs ran beside another), verified or imported. By series and time.
std::vector<BenchHistoryRow> read_bench_history(Connection& connection);

}  // namespace deft::results_db
