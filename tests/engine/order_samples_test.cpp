// Samples by (value, id): any threads, any memory, any width of values.

#include "engine/data_efficiency/sampling/order_samples.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

#include "tests/catch.h"

using namespace deft::engine;

namespace {

std::vector<std::int64_t> ordered(const std::vector<std::int64_t>& values, int threads, std::int64_t memory) {
    const OwnedColumn column = narrow_copy(values);
    std::vector<std::int64_t> order(values.size(), -1);
    std::mutex mutex;
    order_samples(column.column, threads, memory, [&](std::int64_t rank, std::span<const std::uint64_t> ids) {
        const std::lock_guard lock(mutex);
        for (const std::uint64_t id : ids) {
            CHECK(order.at(static_cast<std::size_t>(rank)) == -1);  // every rank once
            order[static_cast<std::size_t>(rank++)] = static_cast<std::int64_t>(id);
        }
    });
    return order;
}

std::vector<std::int64_t> expected(const std::vector<std::int64_t>& values) {
    std::vector<std::int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
    });
    return order;
}

}  // namespace

TEST_CASE("ordering: few values, many values, wide and extreme ones, in any memory and on any number of threads") {
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto draw = [&](std::size_t count, auto value) {
        std::vector<std::int64_t> values(count);
        for (std::int64_t& v : values) v = value();
        return values;
    };
    const std::vector<std::vector<std::int64_t>> cases = {
        {},
        {7},
        {5, 1, 5, 0, 1},
        draw(3000, [] { return 4; }),
        draw(3000, [&] { return static_cast<std::int64_t>(random() % 3); }),
        draw(3000, [&] { return static_cast<std::int64_t>(random() % 100'000) - 50'000; }),
        draw(3000, [&] { return static_cast<std::int64_t>(random() >> 20); }),  // 44 bits and 12 of an id: one word
        draw(3000, [&] { return static_cast<std::int64_t>(random()); }),        // 64 bits: two words
        draw(3000,
             [&] {
                 return random() % 2 == 0
                            ? std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(random() % 9)
                            : std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(random() % 9);
             }),
    };
    for (const auto& values : cases)
        for (const int threads : {1, 3})
            for (const std::int64_t memory : {1, 16 * 700, 1 << 20}) {
                if (memory == 1 && values.size() > 100 && values[0] != values[1]) continue;  // a reading for each value
                INFO(values.size() << " values, " << threads << " threads, " << memory << " bytes");
                CHECK(ordered(values, threads, memory) == expected(values));
            }
}

TEST_CASE("ordering: memory for two samples still gives the order") {
    CHECK(ordered({9, 9, 9, 2, 2, -5, 1'000'000'000'000, 3}, 1, 32) ==
          std::vector<std::int64_t>{5, 3, 4, 7, 0, 1, 2, 6});
}
