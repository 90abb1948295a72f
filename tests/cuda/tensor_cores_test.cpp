// Kernels on tensor cores: the instructions as the emulator has them, which heads they take, shared memory without bank
// conflicts, and mistakes in asynchronous copies that are seen.

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kernels/cases/all.h"
#include "kernels/cases/run_cuda.h"
#include "kernels/cuda/emulator/emulator.h"
#include "kernels/cuda/emulator/matrices.h"
#include "tests/catch.h"
#include "tests/cuda/emulator/tiny_matrices.h"
#include "tests/cuda/schedule.h"

namespace deft::kernels::cases {
namespace {

using cuda::emulator::CopyMistake;
using cuda::emulator::KernelRecord;

std::vector<OpCase> attention_cases(std::uint64_t seed) {
    CaseTable table(Sizes::odd);
    add_attention_cases(table);
    return made(table, seed);
}

// The kernels that a run of the case in bf16 launched.
std::map<std::string, KernelRecord> launched(const OpCase& op) {
    const cuda::Context context;
    cuda::emulator::forget_kernels();
    run_cuda(context.exec(), op, Activations::bf16);
    return cuda::emulator::kernels_run();
}

bool runs_on_tensor_cores(const std::map<std::string, KernelRecord>& kernels) {
    return std::any_of(kernels.begin(), kernels.end(),
                       [](const auto& one) { return one.first.find("_on_tensor_cores") != std::string::npos; });
}

TEST_CASE("a product of tensor cores is that of its matrices, and ldmatrix gives their fragments") {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    std::vector<bf16> a(16 * 16), b(8 * 16);
    for (bf16& value : a) value = to_bf16(normal(random));
    for (bf16& value : b) value = to_bf16(normal(random));
    for (const bool transposed : {false, true}) {
        // b is (8, 16) by rows of n, or (16, 8) by rows of k, which the transposed load reads.
        std::vector<float> c(16 * 8, 0.5f);
        cuda::tiny::multiply_once(c.data(), a.data(), b.data(), transposed);
        for (int row = 0; row < 16; ++row)
            for (int col = 0; col < 8; ++col) {
                double sum = 0.5;
                for (int k = 0; k < 16; ++k)
                    sum += static_cast<double>(to_float(a[static_cast<std::size_t>(row * 16 + k)])) *
                           static_cast<double>(
                               to_float(b[static_cast<std::size_t>(transposed ? k * 8 + col : col * 16 + k)]));
                INFO((transposed ? "transposed, row " : "row ") << row << ", column " << col);
                CHECK(c[static_cast<std::size_t>(row * 8 + col)] == Approx(sum).epsilon(1e-6));
            }
    }
}

TEST_CASE("a tile is read without bank conflicts, and one without its swizzle is not") {
    for (const int width : {32, 64, 128}) {
        INFO("rows of " << width << " values");
        CHECK(cuda::tiny::bank_conflicts_of_tile(width, true) == 0);
        CHECK(cuda::tiny::bank_conflicts_of_tile(width, false) > 0);
    }
}

TEST_CASE("attention in bf16 runs on tensor cores where heads and rows are a multiple of 8 values") {
    const std::uint64_t seed = std::random_device{}();
    int on_tensor_cores = 0, on_tiles = 0;
    for (const AttentionShape& shape : attention_shapes(Sizes::odd)) {
        if (cuda::device_is_slow() && shape.T > 100) continue;
        const OpCase op = attention_forward_case(Draw(seed, 0), shape);
        const bool fits = shape.d % 8 == 0 && (shape.is_fused() || shape.gap % 8 == 0);
        const std::map<std::string, KernelRecord> kernels = launched(op);
        INFO(op.name);
        CHECK(runs_on_tensor_cores(kernels) == fits);
        ++(fits ? on_tensor_cores : on_tiles);
        for (const auto& [name, record] : kernels) {
            CHECK(record.bank_conflicts == 0);
            CHECK((record.matrices > 0) == fits);
        }
    }
    CHECK(on_tensor_cores > 10);
    CHECK(on_tiles > 10);
}

TEST_CASE("gradients of attention are read from shared memory without bank conflicts") {
    for (const OpCase& op : attention_cases(7)) {
        if (op.bytes > 1 << 20 || op.name.find("backward") == std::string::npos) continue;
        INFO(op.name);
        for (const auto& [name, record] : launched(op)) CHECK(record.bank_conflicts == 0);
    }
}

// Which attention cases a mistake spoils.
std::vector<std::string> spoiled(const std::vector<OpCase>& cases, CopyMistake mistake) {
    const cuda::Context context;
    std::vector<std::string> names;
    cuda::emulator::plant(mistake);
    for (const OpCase& op : cases) {
        try {
            if (!disagreement(context.exec(), op, Activations::bf16).empty()) names.push_back(op.name);
        } catch (const cuda::emulator::Misuse&) {
            names.push_back(op.name);
        }
    }
    cuda::emulator::plant(CopyMistake::none);
    return names;
}

TEST_CASE("mistakes in asynchronous copies are seen in forward and backward kernels") {
    std::vector<OpCase> cases;
    for (OpCase& op : attention_cases(11))
        if (op.bytes < 256 << 10 && runs_on_tensor_cores(launched(op))) cases.push_back(std::move(op));
    REQUIRE(cases.size() > 10);
    CHECK(spoiled(cases, CopyMistake::none).empty());
    for (const CopyMistake mistake : {CopyMistake::no_wait, CopyMistake::no_commit, CopyMistake::one_group_too_few}) {
        const std::vector<std::string> names = spoiled(cases, mistake);
        INFO("mistake " << static_cast<int>(mistake));
        for (const char* op : {"attention_forward", "attention_backward"})
            CHECK(std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name.find(op) == 0; }));
    }
}

}  // namespace
}  // namespace deft::kernels::cases
