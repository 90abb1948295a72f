// Reading a sweep's curves takes time in proportion to its trials.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::test;

namespace {

// Processor seconds, the least of three times; every trial has a point and a validation.
double seconds_of_curves(std::size_t trials) {
    const TemporaryFolder folder;
    OneAttempt db(folder / "results.db");
    const auto journal = folder / "journal.jsonl";
    add_scored_trials(db, journal, trials);
    const results_db::Reader reader(folder / "results.db");
    const results_db::StoredSweep sweep = reader.sweep("quick");
    double least = 1e9;
    for (int i = 0; i < 3; ++i) {
        const std::clock_t begin = std::clock();
        const auto curves = reader.curves(sweep);
        least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        CHECK(curves.at(hash_of("beef0001")).validation_losses.size() == 1);
    }
    return least;
}

}  // namespace

// Quadratic time is sixteen times as much.
TEST_CASE("the curves of four times the trials take less than eight times as long to read") {
    const double few = seconds_of_curves(150), many = seconds_of_curves(600);
    std::printf("curves of 150 trials %.4f s, of 600 %.4f s\n", few, many);
    CHECK(many < 8 * few);
}
