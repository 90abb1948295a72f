// Requests of tasks as padded batches.

#include "experiments/evaluation/scoring.h"
#include "tests/catch.h"

using namespace deft;
using experiments::Request;
using experiments::ScoringBatch;

TEST_CASE("scoring batches hold every request once, the longest first, padded with ignored targets", "[scoring]") {
    const std::vector<Request> requests = {{{1}, {2}}, {{3, 4, 5}, {6, 7}}, {{8, 9}, {10}}};
    const std::vector<ScoringBatch> batches = experiments::scoring_batches(requests, 8, 2);
    REQUIRE(batches.size() == 2);

    // Inputs are all but the last token: 3 4 5 6 and 8 9; targets are what follows, of the continuation alone.
    constexpr std::int32_t none = kernels::kIgnoreTarget;
    CHECK(batches[0].request == std::vector<std::size_t>{1, 2});
    CHECK(batches[0].length == 4);
    CHECK(batches[0].token == std::vector<std::int32_t>{3, 4, 5, 6, 8, 9, 0, 0});
    CHECK(batches[0].target == std::vector<std::int32_t>{none, none, 6, 7, none, 10, none, none});

    CHECK(batches[1].request == std::vector<std::size_t>{0});
    CHECK(batches[1].token == std::vector<std::int32_t>{1});
    CHECK(batches[1].target == std::vector<std::int32_t>{2});
}
