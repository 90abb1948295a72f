#pragma once
// Work of rank 0 alone, such as writing a file, while the others wait for its result.

#include <functional>

#include "engine/comm/communicator.h"

namespace deft::engine {

// Runs `work` on rank 0. What it throws is thrown on every rank, with the same kind and text: those that cannot write
// fail together, and none waits for one that is gone. All ranks call it.
void on_first_rank(const Communicator& ranks, const std::function<void()>& work);

// Rank 0's answer, on every rank: what clocks and signals decide is decided once. All ranks call it.
bool decided_by_first(const Communicator& ranks, bool answer);

}  // namespace deft::engine
