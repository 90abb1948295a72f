// The table of op cases on the CUDA device, real or emulated: against the double reference, guard zones, determinism.

#include <cstdlib>
#include <random>

#include "kernels/cases/all.h"
#include "kernels/cases/run_cuda.h"
#include "kernels/cuda/column_sums.h"
#include "tests/catch.h"
#include "tests/cuda/schedule.h"
#include "tests/cuda/small_cases.h"

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

// Describes the error in a run, also where the device or the emulator refuses it: later cases are run all the
// same.
template <class Run>
std::string problem(const Run& run) {
    try {
        return run();
    } catch (const std::exception& error) {
        return error.what();
    }
}

// Every case against the reference; again under another schedule with the same bits; and with buffers where nothing may
// be read in wide accesses and nothing past their ends.
void check_cases(Activations type) {
    constexpr double kMostBytesOfSlow = 64 << 10;
    const std::uint64_t seed = test_seed();
    const cuda::Context context;
    for (const OpCase& op : all_cases(seed)) {
        if (cuda::device_is_slow() && op.bytes > kMostBytesOfSlow) continue;
        INFO(op.name << ", DEFT_TEST_SEED=" << seed);
        RunResult result;
        cuda::use_schedule(seed);
        CHECK(problem([&] { return disagreement(op, result = run_cuda(context.exec(), op, type), type); }) == "");
        if (result.values.empty()) continue;
        cuda::use_schedule(seed + 1);
        CHECK(problem([&] { return difference(op, result, run_cuda(context.exec(), op, type)); }) == "");
        const auto unaligned = [&] { return run_cuda(context.exec(), op, type, Placement::unaligned); };
        CHECK(problem([&] { return disagreement(op, unaligned(), type); }) == "");
    }
}

TEST_CASE("every op agrees with the double reference in float, twice with the same bits") {
    check_cases(Activations::f32);
}

TEST_CASE("every op agrees with the double reference in bf16 within its stated bound, twice with the same bits") {
    check_cases(Activations::bf16);
}

// The first cases of tests/gpu/run; the tests above have these cases too.
TEST_CASE("every kernel once, in the small cases", "[.]") {
    const std::uint64_t seed = test_seed();
    const cuda::Context context;
    constexpr std::size_t kMostItems = 4096;
    for (const OpCase& op : small_cases(seed, kMostItems))
        for (const Activations type : {Activations::f32, Activations::bf16}) {
            INFO(op.name << (type == Activations::f32 ? " in f32" : " in bf16") << ", DEFT_TEST_SEED=" << seed);
            CHECK(problem([&] { return disagreement(context.exec(), op, type); }) == "");
        }
}

// sums (cols) of y (rows, cols), by a run that may believe in more rows.
OpCase column_sums_case(Draw draw, std::int64_t rows, std::int64_t cols, std::int64_t believed_rows) {
    OpCase op;
    op.name = shape_text("column_sums", rows, cols);
    op.buffers = {gradient(draw, "sums", cols, Accumulate::no), draw.input("y", rows * cols)};
    op.reference = [=](reference::Exec&, const Arguments<double>& b) {
        for (std::int64_t i = 0; i < cols; ++i) b.sum(0)[i] = 0;
        for (std::int64_t i = 0; i < rows * cols; ++i) b.sum(0)[i % cols] += b[1][i];
    };
    const auto run = [=](cuda::Exec& exec, const auto& b) {
        cuda::column_sums(exec, b.sum(0), b[1], believed_rows, cols, Accumulate::no);
    };
    op.cuda_f32 = run;
    op.cuda_bf16 = run;
    op.set_cuda_workspace([=](auto) { return cuda::column_sums_workspace(believed_rows, cols); });
    return op;
}

TEST_CASE("a kernel that reads a row more than its input has fails its case") {
    const cuda::Context context;
    for (const std::int64_t cols : {1, 5, 64})  // some inputs end at a multiple of 256 bytes, some before
        for (const Activations type : {Activations::f32, Activations::bf16})
            for (const Placement placement : {Placement::aligned, Placement::unaligned}) {
                const auto wrong = [&](std::int64_t believed_rows) {
                    const OpCase op = column_sums_case(Draw(1, 0), 8, cols, believed_rows);
                    return problem(
                        [&] { return disagreement(op, run_cuda(context.exec(), op, type, placement), type); });
                };
                INFO(cols << " columns");
                CHECK(wrong(8) == "");
                CHECK(wrong(9) != "");
            }
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
