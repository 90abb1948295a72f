// The table of op cases in three modes: against the reference, guard zones, determinism.

#include <cstdlib>
#include <random>

#include "kernels/cases/all.h"
#include "kernels/cases/run.h"
#include "tests/catch.h"

namespace deft::kernels::cases {
namespace {

// Fresh every run; DEFT_TEST_SEED repeats one.
std::uint64_t test_seed() {
    if (const char* text = std::getenv("DEFT_TEST_SEED")) return std::strtoull(text, nullptr, 10);
    return std::random_device{}();
}

TEST_CASE("every op agrees with the double reference and stays inside its buffers") {
    const std::uint64_t seed = test_seed();
    for (const OpCase& op : all_cases(seed)) {
        if (!op.cpu) continue;
        INFO(op.name << ", DEFT_TEST_SEED=" << seed);
        const RunResult result = run_cpu(op, 1);
        const RunResult expected = run_reference(op);
        CHECK(result.broken_guards == "");
        CHECK(expected.broken_guards == "");
        for (std::size_t i = 0; i < op.buffers.size(); ++i) {
            if (op.buffers[i].role == Role::input) continue;
            INFO("buffer " << op.buffers[i].name);
            CHECK(normalised_error(result.values[i], expected.values[i], op.buffers[i].floor) <=
                  float_tolerance(op, op.buffers[i]));
        }
    }
}

TEST_CASE("every op gives the same bits again and on one, two and three threads") {
    const std::uint64_t seed = test_seed();
    for (const OpCase& op : all_cases(seed)) {
        if (!op.cpu) continue;
        INFO(op.name << ", DEFT_TEST_SEED=" << seed);
        const RunResult first = run_cpu(op, 1);
        for (const int threads : {1, 2, 3}) {
            INFO(threads << " threads");
            const RunResult again = run_cpu(op, threads);
            CHECK(again.broken_guards == "");
            for (std::size_t i = 0; i < op.buffers.size(); ++i) {
                INFO("buffer " << op.buffers[i].name);
                CHECK(same_bits(first.values[i], again.values[i]));
            }
        }
    }
}

TEST_CASE("the comparison with the reference notices a flipped sign, a NaN and a small shift") {
    const OpCase op = norm_forward_case(Draw(test_seed(), 0), {2, 33, 33, 65}, false);
    const RunResult expected = run_reference(op);
    std::vector<double> y = run_cpu(op, 1).values[0];
    REQUIRE(normalised_error(y, expected.values[0]) <= op.tolerance);
    SECTION("flipped sign of one element") {
        y[7] = -y[7];
    }
    SECTION("NaN") {
        y[7] = std::numeric_limits<double>::quiet_NaN();
    }
    SECTION("shift of 1e-4") {
        for (double& value : y) value += 1e-4;
    }
    CHECK_FALSE(normalised_error(y, expected.values[0]) <= op.tolerance);
}

TEST_CASE("guard zones notice a write past either end and into an input") {
    OpCase op;
    op.buffers = {output("out", 3), {"in", Role::input, {1, 2, 3}}};
    SECTION("before") {
        op.cpu = [](cpu::Exec&, const Arguments<float>& b) { b[0][-1] = 0; };
        CHECK(run_cpu(op, 1).broken_guards == " out");
    }
    SECTION("after") {
        op.cpu = [](cpu::Exec&, const Arguments<float>& b) { b[0][3] = 0; };
        CHECK(run_cpu(op, 1).broken_guards == " out");
    }
    SECTION("input") {
        op.cpu = [](cpu::Exec&, const Arguments<float>& b) { b[1][0] = 7; };
        CHECK(run_cpu(op, 1).broken_guards == " in");
    }
}

}  // namespace
}  // namespace deft::kernels::cases
