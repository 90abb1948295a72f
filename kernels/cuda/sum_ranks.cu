#include "kernels/cuda/cuda.h"
#include "kernels/cuda/flat_vectors.h"

namespace deft::kernels::cuda {

namespace {

// A thread adds neighbouring values of all ranks.
template <class Value, int kWidth>
__global__ void add_in_order(Value* sums, const Value* others, std::int64_t n, int rank, int ranks) {
    for_vectors<kWidth>(n, [&]<int kAtOnce>(std::int64_t i) {
        const auto own = load_vector<kAtOnce>(sums + i);
        auto sum = rank == 0 ? own : load_vector<kAtOnce>(others + i);
        for (int r = 1; r < ranks; ++r) {
            const auto more = r == rank ? own : load_vector<kAtOnce>(others + r * n + i);
            for (int j = 0; j < kAtOnce; ++j) sum.item[j] += more.item[j];
        }
        store_vector(sums + i, sum);
    });
}

}  // namespace

template <class Value>
void sum_ranks(Exec& exec, Value* sums, const Value* others, std::int64_t n, int rank, int ranks) {
    // The values of a rank start at a multiple of n.
    with_width<Value>(rows_are_wide<Value>(n, sums, others), [&](auto width) {
        launch(exec, over_vectors("add_in_order", n, width), add_in_order<Value, width>, sums, others, n, rank, ranks);
    });
}

template void sum_ranks<float>(Exec&, float*, const float*, std::int64_t, int, int);
template void sum_ranks<double>(Exec&, double*, const double*, std::int64_t, int, int);
template void sum_ranks<std::int64_t>(Exec&, std::int64_t*, const std::int64_t*, std::int64_t, int, int);

}  // namespace deft::kernels::cuda
