// The allocation of a Slurm job by its variables, the choice of a launcher, and workers on nodes.

#include "sweeps/driver/slurm_allocation.h"

#include <chrono>
#include <string>

#include "sweeps/driver/launchers.h"
#include "sweeps/driver/slots.h"
#include "sweeps/driver/slurm_here.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/sweeps/fake_slurm.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::sweeps;
using namespace deft::test;

namespace {

SlotRequest on_nodes(const std::string& text, const std::vector<int>& cores, int ranks = 1) {
    SlotRequest request = parse_slots(text);
    request.node_cores = cores;
    request.ranks = ranks;
    return request;
}

}  // namespace

TEST_CASE("Slurm's counts of nodes are expanded, and anything else gives none") {
    CHECK(slurm_counts("4") == std::vector<int>{4});
    CHECK(slurm_counts("4(x3)") == std::vector<int>{4, 4, 4});
    CHECK(slurm_counts("4(x2),2,16(x1)") == std::vector<int>{4, 4, 2, 16});
    for (const char* wrong : {"", "0", "-1", "4(x2", "4(x)", "4(x0)", "4(y2)", "4(x2),", ",4", "4 ", " 4", "four",
                              "4;2", "99999999999", "4(x99999999)", "4(x2)2"}) {
        CAPTURE(wrong);
        CHECK(slurm_counts(wrong).empty());
    }
}

TEST_CASE("An allocation has each node's cores, and the memory of a node as Slurm states it") {
    CHECK_FALSE(slurm_allocation(variables_of({{"SLURM_JOB_CPUS_PER_NODE", "4,2"}})));
    CHECK_FALSE(slurm_allocation(variables_of({{"SLURM_JOB_ID", "7"}})));
    CHECK_FALSE(slurm_allocation(variables_of({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_CPUS_PER_NODE", "torn("}})));
    const auto allocation = [](const Texts& more) { return slurm_allocation(variables_of(with(kTwoNodes, more))); };
    REQUIRE(allocation({}));
    CHECK(allocation({})->node_cores == std::vector<int>{4, 2});
    CHECK_FALSE(allocation({})->node_mib);
    CHECK(allocation({})->node_gpus == 0);
    CHECK(allocation({{"SLURM_MEM_PER_NODE", "1000"}})->node_mib == 1000);
    CHECK(allocation({{"SLURM_MEM_PER_CPU", "100"}})->node_mib == 400);  // of the node with most cores
    CHECK(allocation({{"SLURM_MEM_PER_NODE", "0"}})->node_mib > 0);      // all of it
    CHECK(allocation({{"SLURM_GPUS_ON_NODE", "3"}})->node_gpus == 3);
}

TEST_CASE("Steps are chosen in a job of several nodes that has srun, outside a step, or where they are asked for") {
    const test::TemporaryFolder folder;
    const auto in_job = variables_of(kTwoNodes);
    const auto in_small = variables_of(kOneNode);
    const auto in_step = variables_of(kInStep);
    {
        const test::WithVariable path("PATH", path_with_srun(folder, kSrunOfVersion));
        CHECK(choose_launcher("auto", {}, in_job).steps_of);
        CHECK(describe_launcher(choose_launcher("auto", {}, in_job)) == "as steps of Slurm on 2 nodes");
        CHECK_FALSE(choose_launcher("auto", {}, in_small).steps_of);
        CHECK_FALSE(choose_launcher("auto", {}, in_step).steps_of);
        CHECK_FALSE(choose_launcher("auto", {}, variables_of({})).steps_of);
        CHECK_FALSE(choose_launcher("local", {}, in_job).steps_of);
        CHECK(describe_launcher({}).empty());
        CHECK(choose_launcher("steps", {}, in_small).steps_of);
        CHECK_THAT(refusal(ErrorKind::missing, [&] { choose_launcher("steps", {}, variables_of({})); }),
                   ContainsSubstring("needs a Slurm job") && ContainsSubstring("salloc"));
        CHECK_THAT(refusal(ErrorKind::usage, [&] { choose_launcher("cloud", {}, in_job); }),
                   ContainsSubstring("use auto, local, steps or slurm"));
    }
}

TEST_CASE("A job whose srun cannot be used keeps its trials on this machine, with a warning") {
    const test::TemporaryFolder folder;
    const auto in_job = variables_of(kTwoNodes);
    const auto says = [&](const std::string& path, const std::string& problem) {
        const test::WithVariable changed("PATH", path);
        CHECK(steps_here(in_job, std::chrono::milliseconds(500)).problem == "needs srun, " + problem);
    };
    says("/nonexistent", "which is not on PATH");
    says(path_with_srun(folder, kFailingSrun), "and `srun --version` gave exit code 3");
    says(path_with_srun(folder, kHangingSrun), "which did not answer within 0.5 s");

    const test::WithVariable failing("PATH", path_with_srun(folder, kFailingSrun));
    const LauncherChoice choice = choose_launcher("auto", {}, in_job);
    CHECK_FALSE(choice.steps_of);
    CHECK_THAT(choice.warning, ContainsSubstring("the other nodes of this Slurm job stay idle"));
    CHECK_THAT(refusal(ErrorKind::missing, [&] { choose_launcher("steps", {}, in_job); }),
               ContainsSubstring("exit code 3") && ContainsSubstring("or use --launcher local"));
    CHECK(choose_launcher("local", {}, in_job).warning.empty());
}

TEST_CASE("A job whose nodes are not in its variables has no steps") {
    const SlurmHere here = steps_here(variables_of({{"SLURM_JOB_ID", "7"}}));
    CHECK_FALSE(here.allocation);
    CHECK_THAT(here.problem, ContainsSubstring("SLURM_JOB_CPUS_PER_NODE"));
}

TEST_CASE("Workers on nodes: a trial has its cores on one of them") {
    const auto count = [](const SlotRequest& request, int threads) {
        return make_slots(request, threads, {}, "none is here").size();
    };
    CHECK(count(on_nodes("auto", {4, 2}), 1) == 6);
    CHECK(count(on_nodes("auto", {4, 2}), 2) == 3);
    CHECK(count(on_nodes("auto", {4, 2}), 3) == 1);
    CHECK(count(on_nodes("auto", {4, 2}), 8) == 1);
    CHECK(count(on_nodes("auto", {4, 2}, 2), 1) == 3);
    CHECK(count(on_nodes("cpu:5", {4, 2}), 8) == 5);
}

TEST_CASE("Workers on nodes with GPUs leave the cards of each to Slurm") {
    const std::vector<engine::Gpu> three(3, {"NVIDIA H200", "GPU-a", std::int64_t{8} << 30});
    const auto made = [&](const SlotRequest& request) { return make_slots(request, 1, three, "none is here"); };
    const std::vector<Slot> slots = made(on_nodes("auto", {4, 4}));
    CHECK(slots.size() == 6);
    CHECK(slots.front().gpu_uuids.empty());
    CHECK(slots.front().device == engine::Device::cuda);
    CHECK(made(on_nodes("gpu", {4, 4}, 2)).size() == 2);
    CHECK(made(on_nodes("gpu:4", {4, 4})).size() == 4);
    CHECK(made(on_nodes("gpu:4", {4, 4}, 2)).size() == 2);
    CHECK(made(on_nodes("gpu:99", {4, 4})).size() == 6);
    CHECK_THAT(refusal(ErrorKind::usage,
                       [&] {
                           made(on_nodes("gpu:1/2", {4, 4}));
                       }),
               ContainsSubstring("cards of its own"));
    CHECK_THAT(refusal(ErrorKind::missing,
                       [&] {
                           made(on_nodes("gpu", {4, 4}, 4));
                       }),
               ContainsSubstring("a node has 3"));
}
