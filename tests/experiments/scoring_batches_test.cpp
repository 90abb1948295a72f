// Requests of tasks as batches: padded rows of which shared beginnings are computed once.

#include "experiments/evaluation/scoring.h"

#include "tests/catch.h"

using namespace deft;
using experiments::Request;
using experiments::scoring_batches;
using experiments::ScoringBatch;

namespace {

using Numbers = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("scoring batches hold every request once, the longest first, without padding", "[scoring]") {
    const std::vector<Request> requests = {{{1}, {2}}, {{3, 4, 5}, {6, 7}}, {{8, 9}, {10}}};
    const std::vector<ScoringBatch> batches = scoring_batches(requests, 8, 8);
    REQUIRE(batches.size() == 2);

    // Inputs are all but the last token: 3 4 5 6 and 8 9; targets are what follows, of the continuation alone.
    CHECK(batches[0].rows == 2);
    CHECK(batches[0].length == 4);
    CHECK(batches[0].token == Numbers{3, 4, 5, 6, 8, 9});
    CHECK(batches[0].position == Numbers{0, 1, 2, 3, 0, 1});
    CHECK(batches[0].computed == Numbers{0, 1, 2, 3, 4, 5});
    CHECK(batches[0].source == Numbers{0, 1, 2, 3, 4, 5, 0, 0});
    CHECK(batches[0].scored == Numbers{2, 3, 5});
    CHECK(batches[0].target == Numbers{6, 7, 10});
    CHECK(batches[0].request == std::vector<std::size_t>{1, 1, 2});

    CHECK(batches[1].token == Numbers{1});
    CHECK(batches[1].computed == Numbers{0});
    CHECK(batches[1].scored == Numbers{0});
    CHECK(batches[1].target == Numbers{2});
    CHECK(batches[1].request == std::vector<std::size_t>{0});
}

TEST_CASE("choices after one context compute it once, and all score its last position", "[scoring]") {
    const std::vector<Request> requests = {{{1, 2, 3}, {4}}, {{1, 2, 3}, {5, 6}}, {{1, 2, 3}, {5, 7}}};
    const std::vector<ScoringBatch> batches = scoring_batches(requests, 4, 12);
    REQUIRE(batches.size() == 1);
    CHECK(batches[0].length == 4);
    CHECK(batches[0].token == Numbers{1, 2, 3, 5, 5});
    CHECK(batches[0].position == Numbers{0, 1, 2, 3, 3});
    CHECK(batches[0].computed == Numbers{0, 1, 2, 7, 11});
    CHECK(batches[0].source == Numbers{0, 1, 2, 0, 0, 1, 2, 3, 0, 1, 2, 4});
    CHECK(batches[0].scored == Numbers{2, 2, 3, 2, 4});
    CHECK(batches[0].target == Numbers{4, 5, 6, 5, 7});
    CHECK(batches[0].request == std::vector<std::size_t>{0, 1, 1, 2, 2});
}

TEST_CASE("a batch takes a whole group of choices unless none could", "[scoring]") {
    const auto choices = [](std::int32_t context, std::size_t count) {
        std::vector<Request> requests;
        for (std::size_t i = 0; i < count; ++i) requests.push_back({{context, context + 1}, {90, 91}});
        return requests;
    };
    std::vector<Request> requests = choices(10, 2);
    for (const Request& request : choices(20, 3)) requests.push_back(request);
    // Rows of 3, four a batch: the second question would not fit beside the first.
    const std::vector<ScoringBatch> apart = scoring_batches(requests, 8, 12);
    REQUIRE(apart.size() == 2);
    CHECK(apart[0].rows == 2);
    CHECK(apart[1].rows == 3);
    CHECK(apart[1].computed.size() == 3);  // three equal choices

    const std::vector<ScoringBatch> divided = scoring_batches(choices(10, 5), 8, 8);  // two rows a batch
    REQUIRE(divided.size() == 3);
    CHECK(divided[0].computed.size() == 3);
    CHECK(divided[2].rows == 1);
}

TEST_CASE("a request that asks for nothing is in no batch", "[scoring]") {
    CHECK(scoring_batches(std::vector<Request>{{{1}, {}}}, 8, 8).empty());
}
