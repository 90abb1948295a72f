// Time of a step beside its products, by hand.

#include "experiments/step_time.h"

#include "tests/experiments/trial_config.h"

using namespace deft;
using namespace deft::experiments;

namespace {

Device two_in_a_machine() {
    Device device;
    device.name = "X";
    device.memory_bytes_per_second = 2000;
    device.links = {{"link", 100, "a sheet"}, {"slower", 1, "a sheet"}};
    device.machine = DeviceMachine{"box", 2, "net", 10, "a paper"};
    return device;
}

CommunicationPlan a_plan(int ranks, int expert_ranks) {
    CommunicationPlan plan;
    plan.ranks = ranks;
    plan.expert_ranks = expert_ranks;
    plan.traffic = {.gradients_reduced = 300, .gathered = 200, .rows_to_experts = 70, .rows_back = 50, .sums = 20};
    plan.memory[0] = {.weights = 400, .gradients = 300, .moments = 800};
    plan.memory[1] = {.weights = 400, .gradients = 300, .moments = 200};
    return plan;
}

}  // namespace

TEST_CASE("Devices of one machine are joined by their link, others by the network of machines") {
    const Device device = two_in_a_machine();
    CHECK(path_between(device, 2)->name == "link");
    CHECK(path_between(device, 2)->bytes_per_second == 100);
    CHECK(path_between(device, 2)->source == "a sheet");
    CHECK(path_between(device, 3)->name == "net between box");
    CHECK(path_between(device, 3)->bytes_per_second == 10);
    CHECK(path_between(device, 3)->source == "a paper");
    Device alone = device;
    alone.links.clear();
    CHECK_FALSE(path_between(alone, 2));
    CHECK(path_between(alone, 3));
    alone.machine.reset();
    CHECK_FALSE(path_between(alone, 3));
}

TEST_CASE("Seconds beside the products by hand") {
    const Device device = two_in_a_machine();
    const BesideCompute wide = beside_compute(device, a_plan(4, 4), 0);
    CHECK(wide.rows == Approx((70 + 50) / 10.0));
    CHECK(wide.gradients == Approx((300 + 200 + 20) / 10.0));
    CHECK(wide.update == Approx((300 + 2 * 400 + 2 * 800) / 2000.0));
    CHECK(wide.seconds() == Approx(12 + 52 + 1.35));
    // Experts within a machine, gradients beyond it.
    const BesideCompute near = beside_compute(device, a_plan(4, 2), 0);
    CHECK(near.rows == Approx(120 / 100.0));
    CHECK(near.gradients == Approx(52));
    // A rank that has a quarter of the moments updates a quarter of the weights.
    CHECK(beside_compute(device, a_plan(4, 4), 1).update == Approx((0.25 * (300 + 2 * 400) + 2 * 200) / 2000.0));
    const BesideCompute one = beside_compute(device, a_plan(1, 1), 0);
    CHECK(one.rows == 0);
    CHECK(one.gradients == 0);
    CHECK(one.update == Approx(1.35));
}

TEST_CASE("A bandwidth that a device does not state is reported") {
    const Device device = two_in_a_machine();
    CHECK(lacks_bandwidth(device, 4, 2).empty());
    Device without_link = device;
    without_link.links.clear();
    CHECK(lacks_bandwidth(without_link, 4, 4).empty());
    CHECK_THAT(lacks_bandwidth(without_link, 4, 2),
               ContainsSubstring("X has no [[\"X\".link]]") && ContainsSubstring("the 2 of a machine"));
    CHECK_THAT(lacks_bandwidth(without_link, 2, 1), ContainsSubstring("link"));
    Device without_machine = device;
    without_machine.machine.reset();
    CHECK_THAT(lacks_bandwidth(without_machine, 4, 1), ContainsSubstring("X has no [\"X\".machine]"));
    CHECK(lacks_bandwidth(without_machine, 1, 1).empty());
    Device without_memory = device;
    without_memory.memory_bytes_per_second = 0;
    CHECK_THAT(lacks_bandwidth(without_memory, 4, 4), ContainsSubstring("X has no memory_bytes_per_second"));
}
