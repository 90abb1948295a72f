#include "kernels/bench/run_benchmarks.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>

namespace deft::kernels {

namespace {

// The arguments of one case at a time: of all together they would not fit.
class Preparations {
 public:
    Preparations(std::span<const BenchCase> cases, int threads) : cases_(cases), threads_(threads) {}

    const PreparedBench& of(std::size_t i) {
        if (!prepared_ || current_ != i) {
            prepared_.reset();
            prepared_ = cases_[i].prepare(threads_);
            current_ = i;
        }
        return *prepared_;
    }

 private:
    std::span<const BenchCase> cases_;
    int threads_;
    std::size_t current_ = 0;
    std::optional<PreparedBench> prepared_;
};

// Takes each row's repetitions, and hands everything to Google Benchmark's own JSON reporter.
class Collector : public benchmark::BenchmarkReporter {
 public:
    Collector(std::map<std::string, BenchResult*> rows, std::ostream* json,
              const std::function<void(const BenchResult&)>& done)
        : rows_(std::move(rows)), done_(done) {
        if (json == nullptr) return;
        json_.emplace();
        json_->SetOutputStream(json);
        json_->SetErrorStream(&unread_);
    }
    bool ReportContext(const Context& context) override { return !json_ || json_->ReportContext(context); }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            BenchResult& row = *rows_.at(run.run_name.function_name);
            if (run.run_type == Run::RT_Iteration && row.wrong.empty() && run.iterations > 0)
                row.seconds.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
        }
        // Their mean and deviation come in a call of their own.
        if (!runs.empty() && runs.front().run_type == Run::RT_Iteration)
            done_(*rows_.at(runs.front().run_name.function_name));
        if (json_) json_->ReportRuns(runs);
    }
    void Finalize() override {
        if (json_) json_->Finalize();
    }

 private:
    std::map<std::string, BenchResult*> rows_;
    const std::function<void(const BenchResult&)>& done_;
    std::optional<benchmark::JSONReporter> json_;
    std::ostringstream unread_;
};

void time_runs(benchmark::State& state, const std::function<void()>& run, const BenchResult& row) {
    run();  // pages, and hot caches
    for ([[maybe_unused]] auto _ : state) run();
    const auto rate = benchmark::Counter::kIsIterationInvariantRate;
    // Of zeros the library's JSON would have a NaN: their relative deviation.
    for (const auto& [name, amount] :
         {std::pair{"FLOP/s", row.flops}, {"bytes/s", row.bytes}, {"items/s", row.items}, {"of_roofline", row.least_seconds}})
        if (amount > 0) state.counters[name] = benchmark::Counter(amount, rate);
}

}  // namespace

const char* to_string(CacheState state) {
    return state == CacheState::hot ? "hot" : "cold";
}

double Peaks::least_seconds(const PreparedBench& bench, CacheState state) const {
    const bool is_cached = state == CacheState::hot && bench.footprint <= static_cast<double>(last_level_cache_bytes());
    const double carried = is_cached ? std::max(memory.cached_read, memory.best()) : memory.best();
    return std::max(bench.flops / fma.widest(), bench.bytes / carried);
}

Peaks measure_peaks(int threads) {
    return {measure_fma_peak(threads), measure_memory_peak(threads)};
}

std::vector<BenchResult> run_benchmarks(std::span<const BenchCase> cases, const BenchSettings& settings,
                                        const Peaks& peaks,
                                        const std::vector<std::pair<std::string, std::string>>& context,
                                        std::ostream* google_json,
                                        const std::function<void(const BenchResult&)>& done) {
    Preparations preparations(cases, settings.threads);
    std::vector<BenchResult> results;
    results.reserve(2 * cases.size());
    std::map<std::string, BenchResult*> rows;
    benchmark::ClearRegisteredBenchmarks();
    for (std::size_t i = 0; i < cases.size(); ++i)
        for (const CacheState state : {CacheState::hot, CacheState::cold}) {
            BenchResult* row = &results.emplace_back();
            row->name = cases[i].name;
            row->backend = cases[i].backend;
            row->state = state;
            const std::string name = row->name + "/" + row->backend + "/" + to_string(state);
            rows[name] = row;
            benchmark::RegisterBenchmark(name.c_str(),
                                         [&, i, row, state](benchmark::State& timing) {
                                             const PreparedBench& prepared = preparations.of(i);
                                             row->flops = prepared.flops;
                                             row->bytes = prepared.bytes;
                                             row->items = prepared.items;
                                             row->item = prepared.item;
                                             row->least_seconds = peaks.least_seconds(prepared, state);
                                             row->wrong = prepared.wrong;
                                             const auto& run = state == CacheState::hot ? prepared.hot : prepared.cold;
                                             if (row->wrong.empty() && run)
                                                 time_runs(timing, run, *row);
                                             else
                                                 timing.SkipWithError(row->wrong.empty() ? "there is no such way to run it" : row->wrong.c_str());
                                         })
                ->UseRealTime()
                ->MinTime(settings.min_seconds)
                ->Repetitions(settings.repetitions)
                ->Unit(benchmark::kMicrosecond);
        }
    for (const auto& [key, value] : context) benchmark::AddCustomContext(key, value);
    Collector collector(std::move(rows), google_json, done);
    benchmark::RunSpecifiedBenchmarks(&collector, nullptr, "all");
    benchmark::ClearRegisteredBenchmarks();
    std::erase_if(results, [](const BenchResult& row) { return row.wrong.empty() && row.seconds.empty(); });
    return results;
}

}  // namespace deft::kernels
