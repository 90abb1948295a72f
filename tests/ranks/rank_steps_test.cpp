// The timings of deft bench ranks, on as many ranks as mpirun started.

#include "engine/bench/rank_steps.h"
#include "tests/catch.h"
#include "tests/ranks/all_ranks.h"
#include "tests/refusal.h"

using namespace deft::engine;
using deft::test::all_ranks;

TEST_CASE("timed steps are as many as were asked for, of the model that is meant") {
    const Communicator& ranks = all_ranks();
    const StepBench bench = bench_of_sizes({2, 16, 2, 40, 8, 12});
    RankSteps steps(bench, 1, ranks);
    CHECK(steps.first_loss() > 0.95 * expected_first_loss(bench.model));
    CHECK(steps.first_loss() < 1.05 * expected_first_loss(bench.model));
    const std::int64_t before = steps.bytes_sent();
    CHECK(steps.step(3) > 0);
    CHECK(steps.bytes_sent() - before == 3 * steps.bytes_of_step());
    const std::int64_t after = ranks.bytes_sent();
    CHECK(steps.reduce(2) > 0);
    // A step sends its gradients and some sums of losses.
    const std::int64_t of_sum = (ranks.bytes_sent() - after) / 2;
    CHECK(of_sum <= steps.bytes_of_step());
    CHECK(of_sum >= steps.bytes_of_step() - 1024);
    CHECK((of_sum > 0) == (ranks.size() > 1));
    CHECK(steps.step(1) > 0);  // sums without values spoil no step
}

TEST_CASE("a batch that ranks cannot share, and sizes of no model, are refused before anything is timed") {
    CHECK(rank_config(bench_of_sizes({2, 16, 2, 40, 8, 12}), 3).micro_batch_size == 4);
    deft::test::refusal(
        [] {
            rank_config(bench_of_sizes({2, 16, 2, 40, 8, 12}), 5);
        },
        "5 ranks cannot share a batch of 12");
    deft::test::refusal([] { bench_of_sizes({2, 16, 3, 40, 8, 12}); }, "3 heads do not divide a width of 16");
    deft::test::refusal([] { bench_of_sizes({2, 16}); }, "a model of 2 sizes");
    for (const StepBench& bench : standard_step_benches()) {
        const StepBench again = bench_of_sizes(sizes_of(bench));
        CHECK(sizes_of(again) == sizes_of(bench));
        CHECK(step_flops(trainer_config_of(again)) == step_flops(trainer_config_of(bench)));
    }
}
