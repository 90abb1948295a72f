#pragma once
// Changed inputs: what damaged, truncated and hostile files look like.

#include <random>
#include <string>
#include <vector>

namespace deft::fuzz {

// One to eight random changes of `input`: flipped bits, set bytes, cut ends, extremes in binary and in decimal digits,
// copied and erased blocks, a tail of one of `others`.
std::string mutated(std::string input, const std::vector<std::string>& others, std::mt19937_64& random);

}  // namespace deft::fuzz
