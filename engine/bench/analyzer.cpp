#include "engine/bench/analyzer.h"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/stopwatch.h"
#include "engine/bench/corpus.h"
#include "engine/bench/zipf_tokens.h"
#include "engine/data_efficiency/sampling/analyzer.h"
#include "engine/data_efficiency/sampling/parallel_tasks.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

// CPU time of this process, including the kernel.
double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TokenCorpus made_up_corpus(const AnalyzerBench& bench, const fs::path& folder) {
    const std::vector<std::uint16_t> token = zipf_tokens<std::uint16_t>(bench.tokens, bench.vocab, 1);
    write_file_atomically(folder / "tokens.bin",
                          {reinterpret_cast<const char*>(token.data()), token.size() * sizeof token[0]});
    const auto mapped = std::make_shared<const MappedFile>(folder / "tokens.bin");
    TokenCorpus corpus;
    corpus.tokens = {mapped->bytes().data(), bench.tokens, 2};
    corpus.owner = mapped;
    return corpus;
}

// Words of a buffer summed on several threads.
double read_seconds(std::span<const std::uint64_t> words, int threads) {
    constexpr std::size_t kBlock = 1 << 16;
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(threads) * 8, 0);
    const Clock::time_point start = Clock::now();
    run_tasks(threads, static_cast<std::int64_t>((words.size() + kBlock - 1) / kBlock),
              [&](int thread, std::int64_t i) {
                  const std::size_t first = static_cast<std::size_t>(i) * kBlock;
                  std::uint64_t sum = 0;
                  for (const std::uint64_t word : words.subspan(first, std::min(kBlock, words.size() - first)))
                      sum += word;
                  sums[static_cast<std::size_t>(thread) * 8] += sum;
              });
    const double seconds = seconds_since(start);
    asm volatile("" : : "r"(sums.data()) : "memory");
    return seconds;
}

AnalyzerOptions options_of(const AnalyzerBench& bench, const fs::path& parts) {
    AnalyzerOptions options;
    options.parts = parts;
    options.threads = bench.threads;
    options.memory_bytes = bench.memory_bytes;
    return options;
}

// The time of mapping all parts, and the CPU's.
std::pair<double, double> map_seconds(const SampleSource& source, std::span<const Metric> metrics,
                                      const AnalyzerOptions& options) {
    fs::remove_all(options.parts);
    const double cpu = cpu_seconds();
    const Clock::time_point start = Clock::now();
    map_samples(source, metrics, samples_of_part(source), options);
    return {seconds_since(start), cpu_seconds() - cpu};
}

// Samples are mapped first: only their reduction is timed.
void time_index(const AnalyzerBench& bench, const TokenCorpus& corpus, const fs::path& folder, AnalyzerRates& rates) {
    const SampleSource source{
        bench.index_samples, 1, bench.vocab, "bench",
        [&](std::int64_t i, std::vector<std::int32_t>&) { return corpus.tokens.part(i % bench.tokens, 1); }};
    const Metric first{"first", 1, false,
                       [](const MeasuredSample& s, const TokenRarity&) { return std::int64_t{s.tokens[0]}; }};
    const AnalyzerOptions options = options_of(bench, folder / "index-parts");
    map_samples(source, {&first, 1}, samples_of_part(source), options);
    const double cpu = cpu_seconds();
    const Clock::time_point start = Clock::now();
    reduce_parts(source.samples, first, samples_of_part(source), options, folder, "first");
    rates.index_seconds = seconds_since(start);
    rates.index_cpu_seconds = cpu_seconds() - cpu;
}

}  // namespace

AnalyzerRates analyzer_rates(const AnalyzerBench& bench, const fs::path& folder) {
    const TokenCorpus corpus = made_up_corpus(bench, folder);
    const SampleSource source = packed_samples(corpus, bench.seqlen, bench.vocab);
    const AnalyzerOptions options = options_of(bench, folder / "parts");
    const std::vector<Metric> metrics = {built_in_metric("seqlen"), built_in_metric("voc")};
    AnalyzerRates rates;
    rates.both_seconds = rates.cpu_seconds = rates.memory_seconds = std::numeric_limits<double>::infinity();
    {
        const std::vector<std::uint64_t> words(static_cast<std::size_t>(bench.tokens / 4), 1);
        volatile std::uint64_t touched = sum_of_tokens(corpus.tokens);
        static_cast<void>(touched);
        for (int round = 0; round < bench.rounds; ++round) {
            const auto [seconds, cpu] = map_seconds(source, metrics, options);
            rates.both_seconds = std::min(rates.both_seconds, seconds);
            rates.cpu_seconds = std::min(rates.cpu_seconds, cpu);
            rates.memory_seconds = std::min(rates.memory_seconds, read_seconds(words, bench.threads));
        }
    }
    if (bench.index_samples > 0) time_index(bench, corpus, folder, rates);
    struct rusage usage {};
    ::getrusage(RUSAGE_SELF, &usage);
    rates.peak_bytes = std::int64_t{usage.ru_maxrss} * 1024;
    return rates;
}

}  // namespace deft::engine
