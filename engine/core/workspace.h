#pragma once
// Bytes of workspace that an op needs at most for these extents, with its backward pass: what a part of a model
// reserves.

#include <cstddef>
#include <cstdint>

#include "engine/core/backend.h"

namespace deft::engine {

std::size_t embedding_workspace(const Backend&, std::int64_t B, std::int64_t T, std::int64_t C);
std::size_t norm_workspace(const Backend&, std::int64_t rows, std::int64_t C);
std::size_t linear_workspace(const Backend&, std::int64_t rows, std::int64_t in, std::int64_t out);
std::size_t attention_workspace(const Backend&, std::int64_t B, std::int64_t T, std::int64_t heads,
                                std::int64_t head_size);
// Rows of a vocabulary's table, including zero rows after its own V: as many as make the backend's products fast.
std::int64_t vocabulary_rows(const Backend&, std::int64_t V);
std::size_t head_workspace(const Backend&, std::int64_t rows, std::int64_t C, std::int64_t V);
// For rows that choose k of E experts each, by a gate and two linear layers with `before` columns after the first
// and `hidden` ones before the second.
std::size_t experts_workspace(const Backend&, std::int64_t rows, std::int64_t E, std::int64_t k, std::int64_t C,
                              std::int64_t before, std::int64_t hidden);
std::size_t select_tokens_workspace(const Backend&, std::int64_t T);
std::size_t sum_of_squares_workspace(const Backend&, std::int64_t elements);

}  // namespace deft::engine
