// Every kernel runs in the op cases, and host-or-device branches are in one file.

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>

#include "tests/catch.h"
#include "tests/cuda/emulated_cases.h"
#include "tests/cuda/kernel_sources.h"
#include "tests/cuda/schedule.h"

namespace deft::kernels::cases {
namespace {

TEST_CASE("every kernel has an op case under the emulator") {
    const std::uint64_t seed = std::random_device{}();
    struct Count {
        int cases = 0;
        std::int64_t launches = 0, blocks = 0, schedules = 0;
    };
    std::map<std::string, Count> counts;
    const std::vector<OpCase> cases = cuda::device_is_slow() ? small_cases(seed, 1 << 12) : small_cases(seed);
    for (const Activations type : {Activations::f32, Activations::bf16})  // kernels of tensor cores have no other
        for (const EmulatedCase& one : emulate(cases, type, {seed, seed + 1}))
            for (const auto& [kernel, record] : one.kernels) {
                Count& count = counts[kernel];
                ++count.cases;
                count.launches += record.launches;
                count.blocks += record.blocks;
                count.schedules += record.schedules;
            }

    const std::map<std::string, std::string> kernels = test::kernels_in_sources();
    CHECK(kernels.size() > 20);
    std::printf("%-32s %6s %9s %8s %9s\n", "kernel", "sizes", "launches", "blocks", "schedules");
    for (const auto& [kernel, file] : kernels) {
        INFO("__global__ " << kernel << " of " << file << " is launched under that name by no op case");
        CHECK(counts.count(kernel) == 1);
        const Count& count = counts[kernel];
        std::printf("%-32s %6d %9ld %8ld %9ld\n", kernel.c_str(), count.cases, static_cast<long>(count.launches),
                    static_cast<long>(count.blocks), static_cast<long>(count.schedules));
    }
    for (const auto& [kernel, count] : counts) {
        INFO("a launch names " << kernel << ", which is no __global__ function");
        CHECK(kernels.count(kernel) == 1);
    }
}

TEST_CASE("the kernels of a source text are found") {
    CHECK(test::function_name("__global__ void simple(int x) {") == "simple");
    CHECK(test::function_name("__global__ void __launch_bounds__(128) bounded(int x) {") == "bounded");
    CHECK(test::function_name("__global__ void __launch_bounds__(kThreads)   on_the_next_line (int x")
              .compare("on_the_next_line") == 0);
    CHECK(test::function_name("__global__ void").empty());
}

TEST_CASE("compilers are distinguished in one header") {
    const std::set<std::string> words = {"__CUDACC__", "__CUDA_ARCH__", "DEFT_CUDA_EMULATOR"};
    std::set<std::string> files;
    for (const char* folder : {"base", "kernels", "engine", "experiments", "results_db", "reporting", "sweeps"})
        for (const test::SourceFile& file : test::source_files(folder, {".cu", ".cuh", ".h", ".cpp"}, true))
            for (const std::string& line : file.lines)
                for (const std::string& word : words)
                    if (test::without_comment(line).find(word) != std::string::npos) files.insert(file.path);
    CHECK(files == std::set<std::string>{"kernels/device.h"});
}

}  // namespace
}  // namespace deft::kernels::cases
