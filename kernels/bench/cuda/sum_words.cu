#include "kernels/bench/cuda/sum_words.h"

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

using Words = Vector<std::uint32_t, 4>;
constexpr int kInFlight = 4;  // loads of a thread that do not wait for each other

__global__ void __launch_bounds__(256, 6) sum_all_words(std::uint32_t* total, const Words* memory, std::int64_t items) {
    std::uint32_t sum = 0;
    for (std::int64_t i = first_item(); i < items; i += kInFlight * item_stride()) {
        Words words[kInFlight];
        for (int j = 0; j < kInFlight; ++j) {
            const std::int64_t at = i + j * item_stride();
            words[j] = at < items ? memory[at] : Words{};
        }
        for (const Words& four : words)
            for (const std::uint32_t word : four.item) sum += word;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

// Chains of a thread that do not wait for each other; exp2f(-x) stays near 0.64.
constexpr int kChains = 4;

__global__ void __launch_bounds__(256, 6) exponentials(float* out, std::int64_t items) {
    for (std::int64_t i = first_item(); i < items; i += item_stride()) {
        float chain[kChains];
        for (int j = 0; j < kChains; ++j) chain[j] = static_cast<float>(i % 64) / 64 + static_cast<float>(j) / 8;
        for (int round = 0; round < kExponentialsOfItem / kChains; ++round)
            for (float& x : chain) x = exp2f(-x);
        float sum = 0;
        for (const float x : chain) sum += x;
        out[i] = sum / kChains;
    }
}

__global__ void do_nothing() {}

}  // namespace

void sum_words(Exec& exec, std::uint32_t* total, const void* memory, std::size_t bytes) {
    const auto items = static_cast<std::int64_t>(bytes / sizeof(Words));
    launch(exec, over_items("sum_all_words", ceil_div(items, kInFlight)), sum_all_words, total,
           static_cast<const Words*>(memory), items);
}

void run_exponentials(Exec& exec, float* out, std::int64_t items) {
    launch(exec, over_items("exponentials", items), exponentials, out, items);
}

void launch_nothing(Exec& exec) {
    launch(exec, {"do_nothing", 1, kWarpSize}, do_nothing);
}

}  // namespace deft::kernels::cuda
