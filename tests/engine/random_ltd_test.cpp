// The tokens that random-LTD keeps: the source of its draws, their evenness and independence.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/engine/small_dropping.h"

using namespace deft::engine;

namespace {

using DrawNumbers = std::vector<std::int64_t>;

// Row (layer, b) of an index (layers, B, K).
std::vector<std::int32_t> row_of(const std::vector<std::int32_t>& index, std::size_t B, std::size_t K,
                                 std::size_t layer, std::size_t b) {
    const auto first = index.begin() + static_cast<std::ptrdiff_t>((layer * B + b) * K);
    return {first, first + static_cast<std::ptrdiff_t>(K)};
}

std::int64_t common(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
    std::vector<std::int32_t> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return static_cast<std::int64_t>(both.size());
}

}  // namespace

TEST_CASE("kept tokens are the same at any split of a batch") {
    constexpr std::size_t K = 6, layers = 3;
    const DrawNumbers batch = {5, 900, 1ll << 40, 7, 6, 12, 13};
    SmallDropping dropping(random_ltd_on({1, 2, 5}, K), 6, 17, 31, 7);
    const auto whole = dropping.select(K, batch, 42, 9);
    // Micro-batches of one size; and two ranks that take every other sample, the later ones first.
    std::vector<DrawNumbers> splits;
    for (const std::size_t at_once : {1u, 2u, 3u, 5u})
        for (std::size_t first = 0; first < batch.size(); first += at_once)
            splits.emplace_back(batch.begin() + static_cast<std::ptrdiff_t>(first),
                                batch.begin() + static_cast<std::ptrdiff_t>(std::min(batch.size(), first + at_once)));
    splits.push_back({13, 6, 1ll << 40, 5});
    splits.push_back({12, 7, 900});
    for (const DrawNumbers& part : splits) {
        const auto index = dropping.select(K, part, 42, 9);
        for (std::size_t layer = 0; layer < layers; ++layer)
            for (std::size_t b = 0; b < part.size(); ++b) {
                const auto at =
                    static_cast<std::size_t>(std::find(batch.begin(), batch.end(), part[b]) - batch.begin());
                CHECK(row_of(index, part.size(), K, layer, b) == row_of(whole, batch.size(), K, layer, at));
            }
    }
}

TEST_CASE("a layer draws the same whichever other layers drop tokens, and every seed and step draws differently") {
    constexpr std::size_t K = 8;
    SmallDropping few(random_ltd_on({5}, K), 6, 32, 31, 1), many(random_ltd_on({1, 2, 5}, K), 6, 32, 31, 1);
    CHECK(few.select(K, {3}) == row_of(many.select(K, {3}), 1, K, 2, 0));
    std::set<std::vector<std::int32_t>> seen;
    for (const std::uint64_t seed : {1u, 2u})
        for (const std::int64_t step : {0, 1}) seen.insert(few.select(K, {3}, seed, step));
    CHECK(seen.size() == 4);
}

TEST_CASE("every position is kept equally often") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    constexpr std::size_t T = 16, K = 5, B = 2000, layers = 2;
    SmallDropping dropping(random_ltd_on({1, 2}, K), 4, T, 31, B);
    DrawNumbers draw(B);
    std::iota(draw.begin(), draw.end(), 0);
    std::vector<double> kept(T);
    for (const std::int32_t position : dropping.select(K, draw, seed)) kept[static_cast<std::size_t>(position)] += 1;
    const double rows = B * layers, share = static_cast<double>(K) / T;
    double chi_square = 0;
    for (const double count : kept) chi_square += std::pow(count - rows * share, 2) / (rows * share * (1 - share));
    chi_square *= (T - 1.0) / T;  // the counts of a row sum to K
    CHECK(chi_square < 65);       // 15 degrees of freedom: beyond it once in 30 million runs
    CHECK(chi_square > 0.5);
}

TEST_CASE("sets of two layers, samples and steps have as much in common as independent ones", "[reference-defect]") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    constexpr std::size_t T = 40, K = 15, B = 2000;
    SmallDropping dropping(random_ltd_on({1, 2}, K), 4, T, 31, B);
    DrawNumbers draw(B);
    std::iota(draw.begin(), draw.end(), 100);
    const auto now = dropping.select(K, draw, seed, 7), next = dropping.select(K, draw, seed, 8);
    double layers = 0, samples = 0, steps = 0;
    for (std::size_t b = 0; b < B; ++b) {
        const auto row = row_of(now, B, K, 0, b);
        layers += static_cast<double>(common(row, row_of(now, B, K, 1, b)));
        samples += static_cast<double>(common(row, row_of(now, B, K, 0, (b + 1) % B)));
        steps += static_cast<double>(common(row, row_of(next, B, K, 0, b)));
    }
    // Hypergeometric: K draws of T, K of which count.
    const double mean = 1.0 * K * K / T;
    const double deviation = std::sqrt(mean * (T - K) * (T - K) / (T * (T - 1.0)) / B);
    for (const double total : {layers, samples, steps}) CHECK(std::abs(total / B - mean) < 5.5 * deviation);
}

TEST_CASE("first positions are kept always, padding last, and positions ascend") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    constexpr std::int64_t T = 13, K = 6, B = 14, first = 2;
    SmallDropping dropping(random_ltd_on({1, 2}, K, first), 4, T, 31, B);
    DrawNumbers draw(B);
    std::iota(draw.begin(), draw.end(), 50);
    std::vector<std::int32_t> length(B);
    std::iota(length.begin(), length.end(), 0);  // 0 .. T real tokens
    const auto index = dropping.select(K, draw, seed, 3, {}, length);
    for (std::size_t row = 0; row < 2 * B; ++row) {
        const std::int32_t real = length[row % B];
        const auto kept = row_of(index, B, K, row / B, row % B);
        INFO("of " << real << " real tokens");
        CHECK(std::is_sorted(kept.begin(), kept.end()));
        CHECK(std::set<std::int32_t>(kept.begin(), kept.end()).size() == K);
        const auto kept_real = std::count_if(kept.begin(), kept.end(), [&](std::int32_t t) { return t < real; });
        CHECK(kept_real == std::min<std::int64_t>(real, K));
        for (std::int32_t t = 0; t < std::min<std::int32_t>(first, real); ++t)
            CHECK(kept[static_cast<std::size_t>(t)] == t);
        // The lowest positions of the padding, so that rows of real tokens come first.
        if (real < K) CHECK(kept.back() == K - 1);
    }
}

TEST_CASE("layers that a model has not are refused") {
    const auto plan = [](std::vector<std::int32_t> layers) {
        SmallDropping dropping(random_ltd_on(std::move(layers), 4), 4, 8, 31, 1);
    };
    plan({0, 3});
    CHECK_THROWS_WITH(plan({1, 4}), ContainsSubstring("layer 4"));
    CHECK_THROWS_WITH(plan({2, 2}), ContainsSubstring("each once"));
    CHECK_THROWS_WITH(plan({-1}), ContainsSubstring("layer -1"));
    CHECK_THROWS_WITH(plan({}), ContainsSubstring("no layer"));
}
