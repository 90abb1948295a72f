#pragma once
// How fast a tokenised corpus is read, on one thread, beside the memory that it lies in.

#include <cstdint>
#include <filesystem>

#include "engine/data/token_corpus.h"

namespace deft::engine {

// Of all tokens, modulo 2^64.
std::uint64_t sum_of_tokens(TokenSpan tokens);

struct CorpusRates {
    std::int64_t tokens = 0;
    std::int64_t bytes = 0;     // of PREFIX.bin
    double open_seconds = 0;    // checks included
    double first_seconds = 0;   // the first sum: pages are mapped as they are read
    double hot_seconds = 0;     // the best of the later sums
    double memory_seconds = 0;  // the best sum of as many bytes of an ordinary buffer
};

// Errors: io, as IndexedDataset; usage, for an empty dataset.
CorpusRates corpus_rates(const std::filesystem::path& prefix, int rounds);

}  // namespace deft::engine
