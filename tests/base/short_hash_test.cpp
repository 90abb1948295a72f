#include "base/short_hash.h"

#include "tests/catch.h"

using namespace deft;

TEST_CASE("a hash is cut to what people read, and what is no hash stays whole") {
    CHECK(short_hash("109c61ef7957aabbccdd") == "109c61ef7957");
    CHECK(short_hash("unknown") == "unknown");
    CHECK(short_hash("").empty());
}
