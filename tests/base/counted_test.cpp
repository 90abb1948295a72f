#include "base/counted.h"

#include "tests/catch.h"

using namespace deft;

TEST_CASE("one is told from many, and none are many") {
    CHECK(counted(1, "session") == "1 session");
    CHECK(counted(std::size_t{0}, "session") == "0 sessions");
    CHECK(counted(2, "launch", "launches") == "2 launches");
    CHECK(counted(1, "launch", "launches") == "1 launch");
}
