#include "kernels/bench/run_benchmarks.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>

#include "kernels/bench/cpu_peaks.h"

namespace deft::kernels {

namespace {

// The arguments of one case at a time: those of all cases do not fit in memory.
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

void time_runs(benchmark::State& timing, const std::function<void()>& run) {
    run();  // pages, and hot caches
    for ([[maybe_unused]] auto _ : timing) run();
}

void time_on_device(benchmark::State& timing, const PreparedBench& prepared, CacheState state) {
    const std::int64_t runs = prepared.on_device(state).runs;
    while (timing.KeepRunningBatch(runs)) timing.SetIterationTime(prepared.on_device(state).seconds);
}

void time_row(benchmark::State& timing, const PreparedBench& prepared, CacheState state) {
    if (prepared.on_device) return time_on_device(timing, prepared, state);
    const std::function<void()>& run = state == CacheState::hot ? prepared.hot : prepared.cold;
    if (run)
        time_runs(timing, run);
    else
        timing.SkipWithError("this case does not support the requested cache state");
}

void set_rates(benchmark::State& timing, const BenchResult& row) {
    const auto rate = benchmark::Counter::kIsIterationInvariantRate;
    // Skips zeros, which give NaN in the library's JSON as their relative deviation.
    for (const auto& [name, amount] : {std::pair{"FLOP/s", row.flops},
                                       {"bytes/s", row.bytes},
                                       {"items/s", row.items},
                                       {"of_roofline", row.least_seconds}})
        if (amount > 0) timing.counters[name] = benchmark::Counter(amount, rate);
}

}  // namespace

const char* to_string(CacheState state) {
    switch (state) {
        case CacheState::hot:
            return "hot";
        case CacheState::cold:
            return "cold";
        case CacheState::rotating:
            break;
    }
    return "rotating";
}

std::optional<CacheState> cache_state(const std::string& text) {
    for (const CacheState state : {CacheState::hot, CacheState::cold, CacheState::rotating})
        if (text == to_string(state)) return state;
    return std::nullopt;
}

std::span<const CacheState> states_of(const BenchCase& bench) {
    static constexpr CacheState kOfHost[] = {CacheState::hot, CacheState::cold};
    static constexpr CacheState kOfDevice[] = {CacheState::cold, CacheState::hot, CacheState::rotating};
    if (bench.on_device) return kOfDevice;
    return kOfHost;
}

std::size_t count_rows(std::span<const BenchCase> cases) {
    std::size_t rows = 0;
    for (const BenchCase& bench : cases) rows += states_of(bench).size();
    return rows;
}

Ceilings Peaks::ceilings(const PreparedBench& bench, CacheState state, const std::string& backend) const {
    const auto of = [&](double flops, double from_memory, double from_cache, std::int64_t cache_bytes) {
        const bool is_cached =
            state == CacheState::hot && bench.footprint <= static_cast<double>(cache_bytes) && from_cache > from_memory;
        return Ceilings{flops, is_cached ? from_cache : from_memory, is_cached};
    };
    if (backend == kCpu) return of(fma.widest(), memory.best(), memory.cached_read, last_level_cache_bytes());
    if (!device) return {};
    return of(backend == kCudaBf16 ? device->bf16_flops : device->f32_flops, device->best(), device->cached_read,
              device->cache_bytes);
}

double Peaks::least_seconds(const PreparedBench& bench, CacheState state, const std::string& backend) const {
    const Ceilings most = ceilings(bench, state, backend);
    return most.flops > 0 ? std::max(bench.flops / most.flops, bench.bytes / most.bytes) : 0;
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
    results.reserve(count_rows(cases));
    std::map<std::string, BenchResult*> rows;
    benchmark::ClearRegisteredBenchmarks();
    for (std::size_t i = 0; i < cases.size(); ++i)
        for (const CacheState state : states_of(cases[i])) {
            BenchResult* row = &results.emplace_back();
            row->name = cases[i].name;
            row->backend = cases[i].backend;
            row->state = state;
            const std::string name = row->name + "/" + row->backend + "/" + to_string(state);
            rows[name] = row;
            const auto time = [&, i, row, state](benchmark::State& timing) {
                const PreparedBench& prepared = preparations.of(i);
                row->flops = prepared.flops;
                row->bytes = prepared.bytes;
                row->items = prepared.items;
                row->item = prepared.item;
                row->note = prepared.note;
                row->ceilings = peaks.ceilings(prepared, state, row->backend);
                row->least_seconds = peaks.least_seconds(prepared, state, row->backend);
                row->wrong = prepared.wrong;
                if (!row->wrong.empty()) return timing.SkipWithError(row->wrong.c_str());
                time_row(timing, prepared, state);
                set_rates(timing, *row);
            };
            const bool is_flushed = cases[i].on_device && state == CacheState::cold;
            benchmark::internal::Benchmark* const registered =
                benchmark::RegisterBenchmark(name.c_str(), time)
                    ->MinTime(is_flushed ? settings.min_seconds / 10 : settings.min_seconds)
                    ->Repetitions(settings.repetitions)
                    ->Unit(benchmark::kMicrosecond);
            if (cases[i].on_device)
                registered->UseManualTime();
            else
                registered->UseRealTime();
        }
    for (const auto& [key, value] : context) benchmark::AddCustomContext(key, value);
    Collector collector(std::move(rows), google_json, done);
    benchmark::RunSpecifiedBenchmarks(&collector, nullptr, "all");
    benchmark::ClearRegisteredBenchmarks();
    std::erase_if(results, [](const BenchResult& row) { return row.wrong.empty() && row.seconds.empty(); });
    return results;
}

}  // namespace deft::kernels
