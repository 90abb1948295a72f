#include "sweeps/driver/rank_cards.h"

#include "tests/catch.h"

using namespace deft::sweeps;

TEST_CASE("a rank sees all GPUs of its slot, its own first") {
    CHECK(own_card_first("GPU-a,GPU-b,GPU-c", 0) == "GPU-a,GPU-b,GPU-c");
    CHECK(own_card_first("GPU-a,GPU-b,GPU-c", 1) == "GPU-b,GPU-c,GPU-a");
    CHECK(own_card_first("GPU-a,GPU-b,GPU-c", 2) == "GPU-c,GPU-a,GPU-b");
    CHECK(own_card_first("GPU-a", 3) == "GPU-a");
    CHECK(own_card_first("", 1) == "");
}
