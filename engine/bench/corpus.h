#pragma once
// How fast a tokenised corpus is opened and read, on one thread, beside the memory that it lies in.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "engine/data/token_corpus.h"
#include "kernels/bench/bench_case.h"

namespace deft::engine {

// The sum of all tokens, modulo 2^64.
std::uint64_t sum_of_tokens(TokenSpan tokens);

// An invented corpus: opening it, every length, offset and border checked; summing all of its tokens, cold with its
// pages mapped as they are read; and summing as many bytes of an ordinary buffer, as 64-bit words.
std::vector<kernels::BenchCase> corpus_benches(std::uint64_t seed);
// The same of PREFIX.bin and PREFIX.idx. Errors: io, as IndexedDataset; usage, for an empty dataset.
std::vector<kernels::BenchCase> corpus_benches(const std::filesystem::path& prefix);

}  // namespace deft::engine
