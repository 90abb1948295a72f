// Matrix products of GPT-2 124M on a real card: the bits and the path of each. The emulated device skips them.

#include "engine/bench/step.h"
#include "engine/train/planned_products.h"
#include "kernels/bench/gpu_products.h"
#include "kernels/cuda/products.h"
#include "tests/catch.h"
#include "tests/cuda/schedule.h"

namespace deft::product_tests {

using namespace engine;
using namespace kernels::cuda;

namespace {

constexpr Backend kGpuBf16{Device::cuda, DType::bf16, 1};
constexpr const char* kNoCard = "the emulated device has no library";

}  // namespace

TEST_CASE("two runs of each product that training asks for have the same bits", "[bare]") {
    if (device_is_emulated()) DEFT_SKIP(kNoCard);
    const TrainerConfig config = trainer_config_of(gpt2_124m_bench(1));
    const ProductList products = planned_products(config, kGpuBf16, plan_step(config, 0));
    for (const kernels::CheckedProduct& product : kernels::check_gpu_products(products)) {
        INFO(product.record.shape.text() << ", " << product.record.path_text());
        CHECK(product.same_bits);
    }
}

TEST_CASE("no product of at least 1 GFLOP falls back to a kernel without tensor cores", "[bare]") {
    if (device_is_emulated()) DEFT_SKIP(kNoCard);
    const StepBench bench = gpt2_124m_bench(1);
    Trainer trainer(trainer_config_of(bench), random_training_data(bench), kGpuBf16);
    trainer.step();
    const Fallbacks fallbacks = large_fallbacks(trainer.exec().cuda.products->log.records());
    for (const std::string& shape : fallbacks.shapes) UNSCOPED_INFO(shape);
    CHECK(fallbacks.calls == 0);
}

}  // namespace deft::product_tests
