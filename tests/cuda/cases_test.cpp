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

std::string difference(const OpCase& op, const RunResult& first, const RunResult& again) {
    if (!again.broken_guards.empty()) return "written outside or into an input:" + again.broken_guards;
    for (std::size_t i = 0; i < op.buffers.size(); ++i)
        if (!same_bits(first.values[i], again.values[i])) return op.buffers[i].name;
    return {};
}

// Every case against the reference; again under another schedule with the same bits; and with buffers that begin one
// item past a boundary, where nothing may be read in wide accesses.
void check_cases(Activations type) {
    constexpr double kMostBytesOfSlow = 64 << 10;
    const std::uint64_t seed = test_seed();
    const cuda::Context context;
    for (const OpCase& op : all_cases(seed)) {
        if (cuda::device_is_slow() && op.bytes > kMostBytesOfSlow) continue;
        INFO(op.name << ", DEFT_TEST_SEED=" << seed);
        cuda::use_schedule(seed);
        const RunResult result = run_cuda(context.exec(), op, type);
        CHECK(disagreement(op, result, type) == "");
        cuda::use_schedule(seed + 1);
        CHECK(difference(op, result, run_cuda(context.exec(), op, type)) == "");
        CHECK(disagreement(op, run_cuda(context.exec(), op, type, 1), type) == "");
    }
}

TEST_CASE("every op agrees with the double reference in float, twice with the same bits") {
    check_cases(Activations::f32);
}

TEST_CASE("every op agrees with the double reference in bf16 within its stated bound, twice with the same bits") {
    check_cases(Activations::bf16);
}

TEST_CASE("the selection of kept tokens is the CPU's, bit for bit") {
    const std::uint64_t seed = test_seed();
    const cuda::Context context;
    CaseTable selections(Sizes::odd);
    add_token_selection_cases(selections);
    for (const OpCase& op : made(selections, seed)) {
        INFO(op.name << ", DEFT_TEST_SEED=" << seed);
        CHECK(difference(op, run_cpu(op, 2), run_cuda(context.exec(), op, Activations::f32)) == "");
    }
}

}  // namespace
}  // namespace deft::kernels::cases
