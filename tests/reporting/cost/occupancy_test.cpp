#include "reporting/analysis/cost/occupancy.h"

#include "tests/catch.h"

using deft::reporting::Occupancy;
using deft::reporting::occupancy;

TEST_CASE("occupancy counts the union of intervals and their largest overlap") {
    CHECK(occupancy({}).most_at_once == 0);
    // Two that overlap by a second, a pause of 5 s, and one that begins where another ends.
    const Occupancy found = occupancy({{1000, 4000}, {3000, 6000}, {11000, 12000}, {12000, 13000}});
    CHECK(found.seconds == Approx(7.0));
    CHECK(found.most_at_once == 2);
    // An attempt that has not started or not ended does not count.
    CHECK(occupancy({{0, 5000}, {7000, 0}}).seconds == Approx(0.0));
}
