#pragma once
// Positions sorted by their ids, without atomics whose order could be seen.

#include <cstdint>

#include "kernels/cuda/exec.h"

namespace deft::kernels::cuda {

// n ids in ascending order, each with its position; positions of one id ascend.
struct SortedIds {
    std::int32_t *id, *position;  // (n)
};

// ids (n), in [0, V). The result and the work space lie in the workspace from its first byte: sorted_ids_bytes(n).
SortedIds sort_ids(Exec&, const std::int32_t* ids, std::int64_t n, std::int64_t V);

}  // namespace deft::kernels::cuda
