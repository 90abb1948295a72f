// The timed layers of deft bench experts.

#include "engine/bench/expert_layer.h"
#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft::engine;

TEST_CASE("a timed layer of experts passes forward and backward, and reports the share of its routing") {
    for (const std::int64_t top : {1, 3}) {
        const ExpertLayerBench bench{.rows = 70, .width = 24, .hidden = 17, .experts = 3, .top = top, .threads = 2};
        LayerRun dense(bench, TimedLayer::dense), experts(bench, TimedLayer::experts);
        CHECK_FALSE(dense.is_sane());  // nothing ran
        for (LayerRun* run : {&dense, &experts}) {
            CHECK(run->run() > 0);
            CHECK(run->is_sane());
        }
        CHECK(dense.routing_share() == 0);
        CHECK(dense.busiest_load() == 1);
        const double share = experts.routing_share();
        CHECK(share > 0);
        CHECK(share < 1);
        if (top == 3) {
            CHECK(experts.busiest_load() == 1);  // each row takes all
        } else {
            CHECK(experts.busiest_load() > 1);  // 70 rows are no equal shares of three
            CHECK(experts.busiest_load() <= 3);
        }
    }
    CHECK(deft::test::refusal([] { LayerRun({.experts = 2, .top = 3}, TimedLayer::experts); }).find("3 of 2") !=
          std::string::npos);
}
