// Several BERT samples in a row.

#include "engine/data/bert/batch.h"

#include <numeric>
#include <random>

#include "base/error.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::engine;

TEST_CASE("packing by hand: the longest first, each where it first fits") {
    const std::vector<std::int64_t> lengths = {3, 6, 4, 7, 2, 10};
    const std::vector<BertPlace> places = packed(lengths, 10);
    std::vector<std::vector<std::int64_t>> found;
    for (const BertPlace& place : places) found.push_back({place.row, place.begin, place.draw});
    CHECK(found ==
          std::vector<std::vector<std::int64_t>>{{0, 0, 5}, {1, 0, 3}, {1, 7, 0}, {2, 0, 1}, {2, 6, 2}, {3, 0, 4}});
    CHECK(packed({}, 10).empty());
    CHECK_THROWS_AS(packed(std::vector<std::int64_t>{11}, 10), Error);
}

TEST_CASE("packed rows hold every sample once, one behind the other") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    constexpr std::int64_t kRow = 96;
    for (int round = 0; round < 20; ++round) {
        std::vector<std::int64_t> lengths(1 + random() % 30);
        for (std::int64_t& length : lengths) length = static_cast<std::int64_t>(1 + random() % 48);
        const std::vector<BertPlace> places = packed(lengths, kRow);
        std::vector<int> times(lengths.size());
        std::int64_t row = -1, end = 0;
        for (const BertPlace& place : places) {
            ++times[static_cast<std::size_t>(place.draw)];
            REQUIRE(place.length == lengths[static_cast<std::size_t>(place.draw)]);
            if (place.row != row) {
                REQUIRE(place.row == row + 1);
                row = place.row;
                end = 0;
            }
            REQUIRE(place.begin == end);
            end += place.length;
            REQUIRE(end <= kRow);
        }
        REQUIRE(times == std::vector<int>(lengths.size(), 1));
        const std::int64_t real = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
        // First fit never opens a row while two are half empty.
        REQUIRE((row == 0 || (row + 1) * kRow <= 2 * real + kRow));
    }
}
