// The table of op cases on the CUDA device, real or emulated: against the double reference, guard zones, determinism.

#include <cstdlib>
#include <random>

#include "kernels/cases/all.h"
#include "kernels/cases/run_cuda.h"
#include "tests/catch.h"
#include "tests/cuda/schedule.h"

namespace deft::kernels::cases {
namespace {

// Fresh every run; DEFT_TEST_SEED repeats one.
std::uint64_t test_seed() {
    if (const char* text = std::getenv("DEFT_TEST_SEED")) return std::strtoull(text, nullptr, 10);
    return std::random_device{}();
}

using RunCuda = RunResult (*)(const cuda::Exec&, const OpCase&, std::size_t);

void check_agreement(const OpCase& op, const RunResult& result, bool is_bf16) {
    const RunResult expected = run_reference(op);
    CHECK(result.broken_guards == "");
    for (std::size_t i = 0; i < op.buffers.size(); ++i) {
        const Buffer& buffer = op.buffers[i];
        if (buffer.role == Role::input) continue;
        INFO("buffer " << buffer.name);
        CHECK(normalised_error(result.values[i], expected.values[i], is_bf16 ? bf16_floor(buffer) : buffer.floor) <=
              (is_bf16 ? bf16_tolerance(op, buffer) : float_tolerance(op, buffer)));
    }
}

void check_same(const OpCase& op, const RunResult& first, const RunResult& again) {
    CHECK(again.broken_guards == "");
    for (std::size_t i = 0; i < op.buffers.size(); ++i) {
        INFO("buffer " << op.buffers[i].name);
        CHECK(same_bits(first.values[i], again.values[i]));
    }
}

// Every case against the reference; again under another schedule with the same bits; and with buffers that begin one
// item past a boundary, where nothing may be read in wide accesses.
void check_cases(RunCuda run, bool is_bf16) {
    const std::uint64_t seed = test_seed();
    const cuda::Context context;
    for (const OpCase& made : all_cases(seed)) {
        INFO(made.name << ", DEFT_TEST_SEED=" << seed);
        const OpCase op = is_bf16 ? rounded_to_bf16(made) : made;
        cuda::use_schedule(seed);
        const RunResult result = run(context.exec(), op, 0);
        check_agreement(op, result, is_bf16);
        cuda::use_schedule(seed + 1);
        check_same(op, result, run(context.exec(), op, 0));
        check_agreement(op, run(context.exec(), op, 1), is_bf16);
    }
}

TEST_CASE("every op agrees with the double reference in float, twice with the same bits") {
    check_cases(run_cuda_f32, false);
}

TEST_CASE("every op agrees with the double reference in bf16 within its stated bound, twice with the same bits") {
    check_cases(run_cuda_bf16, true);
}

TEST_CASE("the selection of kept tokens is the CPU's, bit for bit") {
    const std::uint64_t seed = test_seed();
    const cuda::Context context;
    std::vector<OpCase> selections;
    add_token_selection_cases(selections, seed);
    for (const OpCase& op : selections) {
        INFO(op.name << ", DEFT_TEST_SEED=" << seed);
        check_same(op, run_cpu(op, 2), run_cuda_f32(context.exec(), op));
    }
}

}  // namespace
}  // namespace deft::kernels::cases
