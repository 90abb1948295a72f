#include "sweeps/gate/worker.h"

#include <algorithm>
#include <istream>
#include <limits>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/installed_files.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "kernels/bench/bench_case.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/gate/bench_cases.h"

namespace deft::sweeps {

namespace {

using kernels::BenchCase;
using kernels::PreparedBench;

double time_together(const std::function<void()>& run, long runs) {
    const auto start = Clock::now();
    for (long i = 0; i < runs; ++i) run();
    return seconds_since(start);
}

// The least of a few batches long enough for the clock.
double about_seconds_a_run(const std::function<void()>& run) {
    constexpr double kLongEnough = 2e-4;
    run();
    long runs = 1;
    double seconds = time_together(run, runs);
    while (seconds < kLongEnough) seconds = time_together(run, runs *= 2);
    for (int again = 0; again < 2; ++again) seconds = std::min(seconds, time_together(run, runs));
    return seconds / static_cast<double>(runs);
}

class Worker {
 public:
    explicit Worker(int threads) : threads_(threads) {}

    Json answer(const std::string& request) {
        std::istringstream words(request);
        std::string word, rest;
        words >> word;
        std::getline(words >> std::ws, rest);
        if (word == "describe") return code_json(describe_code());
        if (word == "list") return list();
        if (word == "prepare") return prepare(rest);
        if (word == "run") return run(rest);
        return {{"error", "no such request: " + word}};
    }

 private:
    Json list() const {
        Json names = Json::array();
        for (const BenchCase& bench : bench_cases()) names.push_back(bench.name);
        return {{"cases", names}};
    }

    Json prepare(const std::string& which) {
        prepared_.reset();
        std::istringstream words(which);
        std::size_t place = 0;
        std::string name;
        words >> place >> name;
        const std::optional<BenchCase> bench = find_bench_case(name, place);
        if (!bench) return {{"unknown", name}};
        PreparedBench prepared = bench->prepare(threads_);
        if (!prepared.wrong.empty()) return {{"wrong", prepared.wrong}};
        Json ready = {{"ready", true},
                      {"backend", bench->backend},
                      {"flops", prepared.flops},
                      {"bytes", prepared.bytes},
                      {"hot", about_seconds_a_run(prepared.hot)}};
        if (prepared.cold) ready["cold"] = about_seconds_a_run(prepared.cold);
        prepared_ = std::move(prepared);
        return ready;
    }

    Json run(const std::string& how) const {
        std::istringstream words(how);
        std::string caches;
        long runs = 0;
        words >> caches >> runs;
        if (!prepared_) return {{"error", "nothing is prepared"}};
        const std::function<void()>& once = caches == "cold" ? prepared_->cold : prepared_->hot;
        if (runs < 1 || (caches != "hot" && caches != "cold") || !once) return {{"error", "cannot run " + how}};
        once();
        return {{"seconds", time_together(once, runs)}};
    }

    int threads_;
    std::optional<PreparedBench> prepared_;
};

}  // namespace

void serve_benches(std::istream& requests, std::ostream& answers, int threads) {
    answers << canonical_json({{"deft_bench", kBenchProtocol}}) << std::endl;
    Worker worker(threads);
    for (std::string request; std::getline(requests, request) && request != "quit";) {
        Json answer;
        try {
            answer = worker.answer(request);
        } catch (const std::exception& failure) {
            answer = {{"error", first_line(failure.what())}};
        }
        answers << canonical_json(answer) << std::endl;
    }
}

}  // namespace deft::sweeps
