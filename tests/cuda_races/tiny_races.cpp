#include "tests/cuda_races/tiny_races.h"

#include <cstdint>
#include <vector>

#include "kernels/cuda/runtime.h"
#include "tests/cuda/emulator/tiny_kernels.h"

namespace deft::kernels::cuda::tiny {

namespace {

constexpr std::int64_t kBlocks = 3;

std::vector<std::int32_t> items() {
    return std::vector<std::int32_t>(kBlocks * kThreads, 1);
}

void block_sums(const std::vector<std::int32_t>& in) {
    Exec exec;
    std::vector<std::int64_t> out(kBlocks);
    launch(exec, {"block_sum", kBlocks, kThreads}, block_sum, out.data(), in.data(), kThreads);
}

void reversals(void (*kernel)(std::int32_t*), const char* name) {
    Exec exec;
    std::vector<std::int32_t> in = items();
    launch(exec, {name, kBlocks, kThreads}, kernel, in.data());
}

void add_ups(bool atomic) {
    Exec exec;
    std::int32_t total = 0;
    const std::vector<std::int32_t> in = items();
    launch(exec, {"add_up", kBlocks, kThreads}, add_up, &total, in.data(), atomic);
}

void last_block_adds_up() {
    Exec exec;
    std::int32_t total = 0;
    unsigned counter = 0;
    const std::vector<std::int32_t> in(kBlocks, 1);
    std::vector<std::int32_t> partial(kBlocks);
    launch(exec, {"add_up_last", kBlocks, kThreads}, add_up_last, &total, partial.data(), &counter, in.data());
}

// More blocks than have fibers of their own, and the same memory again in the next launch.
void many_blocks_twice() {
    constexpr std::int64_t kMany = 40;
    Exec exec;
    std::vector<std::int32_t> out(kMany * kThreads);
    for (int round = 0; round < 2; ++round) launch(exec, {"local_arrays", kMany, kThreads}, local_arrays, out.data());
}

// A buffer for one item less than the threads read.
void read_behind() {
    const Context context;
    Exec exec = context.exec();
    const std::vector<std::int32_t> values = items();
    const std::size_t bytes = (values.size() - 1) * sizeof values[0];
    const DeviceMemory in(allocate(bytes, "in")), total(allocate(sizeof values[0], "total"));
    copy_to_device(exec, in.get(), values.data(), bytes);
    launch(exec, {"add_up", kBlocks, kThreads}, add_up, static_cast<std::int32_t*>(total.get()),
           static_cast<const std::int32_t*>(in.get()), true);
}

}  // namespace

bool run_tiny(const std::string& name) {
    if (name == "block_sum")
        block_sums(items());
    else if (name == "reverse_in_warps")
        reversals(reverse_in_warps, "reverse_in_warps");
    else if (name == "reverse_without_order")
        reversals(reverse_without_order, "reverse_without_order");
    else if (name == "add_up_atomically")
        add_ups(true);
    else if (name == "add_up")
        add_ups(false);
    else if (name == "add_up_last")
        last_block_adds_up();
    else if (name == "read_behind")
        read_behind();
    else if (name == "many_blocks_twice")
        many_blocks_twice();
    else
        return false;
    return true;
}

}  // namespace deft::kernels::cuda::tiny
