// Difficulties out of files of other tools.

#include "engine/data_efficiency/sampling/value_column.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "engine/io/npy.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft::engine;
using deft::test::TemporaryFolder;
using deft::test::write_text;

namespace {

std::string wrong_csv(const std::string& text, std::int64_t samples) {
    const TemporaryFolder folder;
    write_text(folder / "a.csv", text);
    // A config error, since the same file fails again on every try.
    return deft::test::refusal([&] { difficulty_of_column(folder / "a.csv", samples); }, "a.csv");
}

template <class T>
std::vector<std::int64_t> order_of_npy(const std::vector<T>& values) {
    const TemporaryFolder folder;
    write_npy(folder / "a.npy", std::span(values));
    const DifficultyIndex index = difficulty_of_column(folder / "a.npy", static_cast<std::int64_t>(values.size()));
    return {index.order.begin(), index.order.end()};
}

}  // namespace

TEST_CASE("columns: integers are the difficulties themselves") {
    const TemporaryFolder folder;
    write_text(folder / "a.csv", "5\r\n -3 \n9223372036854775807\n0");
    const DifficultyIndex index = difficulty_of_column(folder / "a.csv", 4);
    CHECK(std::vector<std::int64_t>(index.value.begin(), index.value.end()) ==
          std::vector<std::int64_t>{5, -3, std::numeric_limits<std::int64_t>::max(), 0});
    CHECK(order_of_npy<std::int16_t>({5, -3, 7, -3}) == std::vector<std::int64_t>{1, 3, 0, 2});
    CHECK(order_of_npy<std::uint64_t>({5, 1ULL << 62, 0}) == std::vector<std::int64_t>{2, 0, 1});
    CHECK_THROWS_WITH(order_of_npy<std::uint64_t>({5, 1ULL << 63}),
                      ContainsSubstring("sample 1") && ContainsSubstring("2^63"));
}

TEST_CASE("columns: floats are ordered exactly") {
    const double next = std::nextafter(1.0, 2.0), tiny = std::numeric_limits<double>::denorm_min();
    CHECK(order_of_npy<double>({next, 1.0, -next, -1.0, tiny, 0.0, -0.0, -tiny, 1e308, -1e308}) ==
          std::vector<std::int64_t>{9, 2, 3, 7, 5, 6, 4, 1, 0, 8});
    CHECK(order_of_npy<float>({2.5F, -1.25F, 2.25F}) == std::vector<std::int64_t>{1, 2, 0});
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 10'000; ++i) {
        const double a = std::bit_cast<double>(random()), b = std::bit_cast<double>(random());
        if (!std::isfinite(a) || !std::isfinite(b)) continue;
        REQUIRE((a < b) == (ordered_key(a) < ordered_key(b)));
        REQUIRE(of_ordered_key(ordered_key(a)) == a);
    }
}

TEST_CASE("columns: a CSV column with any fraction is one of floats") {
    const TemporaryFolder folder;
    write_text(folder / "a.csv", "3\n2.5\n1e-3\n-4\n");
    const ValueColumn column = read_value_column(folder / "a.csv");
    CHECK(column.floats);
    std::vector<double> values;
    for (const std::int64_t key : column.value) values.push_back(of_ordered_key(key));
    CHECK(values == std::vector<double>{3, 2.5, 1e-3, -4});
}

TEST_CASE("columns: wrong lengths, text, several columns, NaN and infinity are refused, naming the line") {
    CHECK(wrong_csv("1\n2\n", 2) == "accepted");
    CHECK_THAT(wrong_csv("1\n2\n", 3), ContainsSubstring("2 values") && ContainsSubstring("3 samples"));
    CHECK_THAT(wrong_csv("", 3), ContainsSubstring("0 values"));
    CHECK_THAT(wrong_csv("loss\n1\n2\n", 2), ContainsSubstring("a.csv:1") && ContainsSubstring("header"));
    CHECK_THAT(wrong_csv("1\nhello\n2\n", 3),
               ContainsSubstring("a.csv:2") && ContainsSubstring("\"hello\" is not a number"));
    CHECK_THAT(wrong_csv("1\n\n2\n", 3), ContainsSubstring("a.csv:2"));
    CHECK_THAT(wrong_csv("1,2\n3,4\n", 2), ContainsSubstring("more than one column"));
    CHECK_THAT(wrong_csv("1\nnan\n", 2), ContainsSubstring("a.csv:2") && ContainsSubstring("sample 1"));
    CHECK_THAT(wrong_csv("1\n2\n-inf\n", 3), ContainsSubstring("a.csv:3"));
    CHECK_THAT(wrong_csv("1e999\n", 1), ContainsSubstring("a.csv:1"));
    CHECK_THAT(wrong_csv("1\n2 3\n", 2), ContainsSubstring("a.csv:2"));
    CHECK_THAT(wrong_csv("1\n\xff\xfe\x00z\n", 2), ContainsSubstring("a.csv:2"));
    CHECK_THROWS_WITH(order_of_npy<float>({1, NAN}), ContainsSubstring("sample 1"));
    CHECK_THROWS_WITH(order_of_npy<double>({INFINITY, 1}), ContainsSubstring("sample 0"));
}
