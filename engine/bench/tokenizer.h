#pragma once
// How fast text becomes tokens, on one thread.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "kernels/bench/bench_case.h"

namespace deft::engine {

// Invented text, encoded whole: byte-pair encoding learnt from it, and WordPiece.
std::vector<kernels::BenchCase> tokenizer_benches(std::uint64_t seed);

// A text file, plain, .gz or .zst, with the tokenizer of a folder with vocab.json and merges.txt, or with vocab.txt; as
// bytes where the folder's name is empty. Errors: io; usage, for an empty file.
kernels::BenchCase tokenizer_bench(const std::filesystem::path& text, const std::filesystem::path& folder);

}  // namespace deft::engine
