#pragma once
// How fast the difficulty analyzer reads tokens and orders samples, beside the memory that the tokens lie in.

#include <cstdint>
#include <filesystem>

namespace deft::engine {

struct AnalyzerBench {
    std::int64_t tokens = std::int64_t{1} << 28;  // two bytes each
    std::int64_t seqlen = 1024;
    std::int32_t vocab = 50'257;
    std::int64_t index_samples = 100'000'000;  // 0: none
    std::int64_t memory_bytes = 4'000'000'000;
    int threads = 2;
    int rounds = 3;
};

struct AnalyzerRates {
    double both_seconds = 0;       // seqlen and voc: both passes, their parts written and synced; best of the rounds
    double cpu_seconds = 0;        // the same of all threads together, which others on the machine hardly change
    double memory_seconds = 0;     // the same bytes summed as words on as many threads, in the same rounds
    double index_seconds = 0;      // joining and ordering index_samples values
    double index_cpu_seconds = 0;  // of all threads together
    std::int64_t peak_bytes = 0;   // resident in this process at most, mapped files among them
};

// A made-up corpus in FOLDER/tokens.bin, mapped and read once before: token ranks follow Zipf's law, their ids are
// shuffled. Errors: io.
AnalyzerRates analyzer_rates(const AnalyzerBench& bench, const std::filesystem::path& folder);

}  // namespace deft::engine
