// Columns of integers as narrow as they fit.

#include "engine/data_efficiency/sampling/integer_column.h"

#include <limits>
#include <vector>

#include "engine/data_efficiency/sampling/difficulty_index.h"
#include "engine/io/npy.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft::engine;

TEST_CASE("the narrowest type of a range is the one whose limits hold it") {
    const std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       most = std::numeric_limits<std::int64_t>::max();
    CHECK(narrowest_integer(0, 255).text() == "u1");
    CHECK(narrowest_integer(0, 256).text() == "u2");
    CHECK(narrowest_integer(-1, 127).text() == "i1");
    CHECK(narrowest_integer(-128, 0).text() == "i1");
    CHECK(narrowest_integer(-129, 0).text() == "i2");
    CHECK(narrowest_integer(-1, 128).text() == "i2");
    CHECK(narrowest_integer(0, 65'536).text() == "u4");
    CHECK(narrowest_integer(-1, 32'768).text() == "i4");
    CHECK(narrowest_integer(0, 4'294'967'295).text() == "u4");
    CHECK(narrowest_integer(0, 4'294'967'296).text() == "i8");
    CHECK(narrowest_integer(-1, 2'147'483'648).text() == "i8");
    CHECK(narrowest_integer(least, most).text() == "i8");
}

TEST_CASE("a narrow copy reads as the integers that it was made of") {
    const std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       most = std::numeric_limits<std::int64_t>::max();
    for (const std::vector<std::int64_t>& values : {std::vector<std::int64_t>{},
                                                    {0, 255, 7},
                                                    {-128, 127},
                                                    {0, 65'535},
                                                    {-32'768, 5},
                                                    {4'294'967'295, 0},
                                                    {-2'147'483'648, 2'147'483'647},
                                                    {least, -1, 0, most}}) {
        const OwnedColumn copy = narrow_copy(values);
        CHECK(std::vector<std::int64_t>(copy.column.begin(), copy.column.end()) == values);
    }
}

TEST_CASE("a difficulty index is stored as narrow as its integers fit, and read again") {
    const deft::test::TemporaryFolder folder;
    write_difficulty_index(index_of_values({5, -300, 5, 0, 1}), folder.path(), "m");
    CHECK(read_npy(folder / "m.value.npy").type.text() == "i2");
    CHECK(read_npy(folder / "m.order.npy").type.text() == "u1");
    const DifficultyIndex read = read_difficulty_index(folder.path(), "m");
    CHECK(std::vector<std::int64_t>(read.value.begin(), read.value.end()) ==
          std::vector<std::int64_t>{5, -300, 5, 0, 1});
    CHECK(std::vector<std::int64_t>(read.order.begin(), read.order.end()) == std::vector<std::int64_t>{1, 3, 4, 0, 2});
    CHECK(read.sorted_value(0) == -300);

    // Neither an order with an id twice nor one out of range is taken.
    for (const std::vector<std::uint8_t>& order :
         {std::vector<std::uint8_t>{1, 3, 4, 0, 0}, {1, 3, 4, 0, 5}, {1, 3, 4, 2, 0}, {1, 3, 4, 0}}) {
        write_npy(folder / "m.order.npy", std::span(order));
        CHECK_THROWS_WITH(read_difficulty_index(folder.path(), "m"), ContainsSubstring("do not belong together"));
    }
}
