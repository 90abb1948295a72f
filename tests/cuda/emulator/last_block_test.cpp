// Sums that the last block of a launch finishes: the bits of a fixed order of addition, whichever block is last, also
// when a graph starts them again.

#include "kernels/cuda/last_block.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/emulator/emulator.h"
#include "kernels/cuda/graph.h"
#include "tests/catch.h"
#include "tests/cuda/device_array.h"

namespace deft::kernels::cuda {
namespace {

// Values whose sums round differently in another order.
std::vector<float> uneven(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::uint32_t state = 1;
    for (float& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<float>(static_cast<std::int32_t>(state)) * (state % 7 == 0 ? 1e-3f : 1e-9f);
    }
    return values;
}

// Eight sums over every eighth of the rows [first, end), added in their order.
float sum_by_eights(const std::vector<float>& y, std::int64_t cols, std::int64_t col, std::int64_t first,
                    std::int64_t end) {
    float sum = 0;
    for (std::int64_t lane = 0; lane < 8; ++lane) {
        float of_lane = 0;
        for (std::int64_t row = first + lane; row < end; row += 8)
            of_lane += y[static_cast<std::size_t>(row * cols + col)];
        sum = lane == 0 ? of_lane : sum + of_lane;
    }
    return sum;
}

std::vector<float> expected_sums(const std::vector<float>& y, std::int64_t rows, std::int64_t cols) {
    const std::int64_t chunk = column_chunk_rows(rows), chunks = std::max<std::int64_t>(1, ceil_div(rows, chunk));
    std::vector<float> partial, sums;
    for (std::int64_t first = 0; first < chunks * chunk; first += chunk)
        for (std::int64_t col = 0; col < cols; ++col)
            partial.push_back(sum_by_eights(y, cols, col, first, std::min(rows, first + chunk)));
    for (std::int64_t col = 0; col < cols; ++col) sums.push_back(sum_by_eights(partial, cols, col, 0, chunks));
    return sums;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

constexpr emulator::Schedule kSchedules[] = {
    {.shuffled = false}, {.shuffled = false, .last_block_first = true}, {.seed = 3}, {.seed = 4}};

struct Summed {
    Context context;
    Exec exec = context.exec();
    std::int64_t rows, cols;
    std::vector<float> values;
    DeviceArray<float> y, sums;
    DeviceArray<std::byte> workspace;

    Summed(std::int64_t row_count, std::int64_t col_count)
        : rows(row_count),
          cols(col_count),
          values(uneven(rows * cols)),
          y(exec, values),
          sums(exec, std::vector<float>(static_cast<std::size_t>(cols), 7)),
          workspace(exec, std::vector<std::byte>(column_sums_workspace(rows, cols), std::byte{0xff})) {
        exec.workspace = {workspace.data(), column_sums_workspace(rows, cols)};
    }
    void run(Accumulate accumulate = Accumulate::no) {
        column_sums(exec, sums.data(), y.data(), rows, cols, accumulate);
    }
    std::vector<float> result() { return sums.values(); }
    bool counters_are_zero() {
        std::vector<std::uint32_t> counters(kCounters);
        copy_to_host(exec, counters.data(), context.exec().counters.data(), kCounters * sizeof counters[0]);
        return std::all_of(counters.begin(), counters.end(), [](std::uint32_t one) { return one == 0; });
    }
};

TEST_CASE("column sums have the bits of one order of addition, whichever block is last") {
    // No row; one chunk; eight; more than eight; as many as there can be.
    for (const std::int64_t rows : {0, 5, 64, 512, 523, 1100, 8192})
        for (const std::int64_t cols : {1, 33, 132}) {
            if (rows * cols > 1 << 19) continue;
            Summed summed(rows, cols);
            const std::vector<float> expected = expected_sums(summed.values, rows, cols);
            for (const emulator::Schedule& schedule : kSchedules) {
                INFO(rows << " rows, " << cols << " columns, seed " << schedule.seed);
                emulator::set_schedule(schedule);
                emulator::forget_kernels();
                summed.run();
                CHECK(same_bits(summed.result(), expected));
                CHECK(summed.counters_are_zero());
                CHECK(emulator::kernels_run().at("sum_columns").launches == 1);
            }
        }
    emulator::set_schedule({});
}

TEST_CASE("column sums are added to what was there, after they are summed") {
    Summed summed(523, 33);
    std::vector<float> expected = expected_sums(summed.values, 523, 33);
    for (float& one : expected) one = 7 + one;
    summed.run(Accumulate::yes);
    CHECK(same_bits(summed.result(), expected));
}

TEST_CASE("more columns than there are counters take several launches, with the same bits") {
    Summed summed(150, 300);
    const std::vector<float> expected = expected_sums(summed.values, 150, 300);
    for (const std::size_t tiles : {1, 2}) {
        emulator::forget_kernels();
        summed.exec.counters = summed.context.exec().counters.first(tiles * kCountersOfSums);
        summed.run();
        CHECK(same_bits(summed.result(), expected));
        CHECK(emulator::kernels_run().at("sum_columns").launches == (tiles == 1 ? 3 : 2));
    }
    summed.exec.counters = summed.exec.counters.first(kCountersOfSums - 1);
    CHECK_THROWS_WITH(summed.run(), ContainsSubstring("column_sums needs 9 counters of blocks"));
}

TEST_CASE("a graph of sums has the same bits each time that it starts") {
    Summed summed(1100, 33);
    const std::vector<float> expected = expected_sums(summed.values, 1100, 33);
    const Graph graph(summed.exec, [&] { summed.run(); });
    CHECK(graph.nodes() == 1);
    for (const emulator::Schedule& schedule : kSchedules) {
        emulator::set_schedule(schedule);
        fill_bytes(summed.exec, summed.sums.data(), 0, 33 * sizeof(float));
        graph.start(summed.exec);
        CHECK(same_bits(summed.result(), expected));
        CHECK(summed.counters_are_zero());
    }
    emulator::set_schedule({});
}

TEST_CASE("the contexts of two streams share no counter") {
    const Context one, other;
    REQUIRE(one.exec().counters.size() == kCounters);
    const std::uint32_t *const first = one.exec().counters.data(), *const second = other.exec().counters.data();
    CHECK((first + kCounters <= second || second + kCounters <= first));
}

TEST_CASE("a sum of squares of several chunks has the same bits whichever block is last") {
    const std::int64_t n = 3 * kSquaresChunk + 5;
    const Context context;
    Exec exec = context.exec();
    const DeviceArray<float> x(exec, uneven(n));
    DeviceArray<double> total(exec, {0.0});
    DeviceArray<std::byte> workspace(exec, std::vector<std::byte>(sum_of_squares_workspace(n)));
    exec.workspace = {workspace.data(), sum_of_squares_workspace(n)};
    std::vector<double> first;
    for (const emulator::Schedule& schedule : kSchedules) {
        emulator::set_schedule(schedule);
        sum_of_squares(exec, total.data(), x.data(), n, Accumulate::no);
        if (first.empty()) first = total.values();
        CHECK(std::memcmp(total.values().data(), first.data(), sizeof(double)) == 0);
    }
    emulator::set_schedule({});
}

}  // namespace
}  // namespace deft::kernels::cuda
