#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

// A thread adds one value of all ranks.
template <class Value>
__global__ void add_in_order(Value* sums, const Value* others, std::int64_t n, int rank, int ranks) {
    for (std::int64_t i = first_item(); i < n; i += item_stride()) {
        Value sum = rank == 0 ? sums[i] : others[i];
        for (int r = 1; r < ranks; ++r) sum += r == rank ? sums[i] : others[r * n + i];
        sums[i] = sum;
    }
}

}  // namespace

template <class Value>
void sum_ranks(Exec& exec, Value* sums, const Value* others, std::int64_t n, int rank, int ranks) {
    launch(exec, over_items("add_in_order", n), add_in_order<Value>, sums, others, n, rank, ranks);
}

template void sum_ranks<float>(Exec&, float*, const float*, std::int64_t, int, int);
template void sum_ranks<double>(Exec&, double*, const double*, std::int64_t, int, int);
template void sum_ranks<std::int64_t>(Exec&, std::int64_t*, const std::int64_t*, std::int64_t, int, int);

}  // namespace deft::kernels::cuda
