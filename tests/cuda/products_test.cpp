// Matrix products of a device, real or emulated: those of a step, and checks of single ones.

#include <algorithm>
#include <string>
#include <vector>

#include "engine/train/planned_products.h"
#include "kernels/bench/gpu_products.h"
#include "kernels/cuda/products.h"
#include "tests/catch.h"
#include "tests/cuda/short_steps.h"

namespace deft::product_tests {

using namespace engine;
using namespace kernels::cuda;

namespace {

// Every call in order of its shape; without epilogues, which a library may refuse.
std::vector<std::string> sorted_texts(const std::vector<ProductShape>& shapes) {
    std::vector<std::string> texts;
    for (ProductShape shape : shapes) {
        shape.epilogue = Epilogue::none;
        texts.push_back(shape.text());
    }
    std::sort(texts.begin(), texts.end());
    return texts;
}

std::vector<ProductShape> calls_of(const ProductLog& log) {
    std::vector<ProductShape> calls;
    for (const ProductRecord& record : log.records())
        calls.insert(calls.end(), static_cast<std::size_t>(record.calls), record.shape);
    return calls;
}

// The products that a device was asked for in three steps are those of the dry runs.
void check_planned(const TrainerConfig& config, const TrainingData& data, const Backend& backend) {
    Trainer trainer(config, data, backend);
    std::vector<ProductShape> planned;
    for (std::int64_t step = 0; step < 3; ++step) {
        const ProductList of_step = planned_products(config, backend, plan_step(config, step));
        planned.insert(planned.end(), of_step.begin(), of_step.end());
        trainer.step();
    }
    CHECK(planned.size() > 30);
    CHECK(sorted_texts(calls_of(trainer.exec().cuda.products->log)) == sorted_texts(planned));
}

}  // namespace

TEST_CASE("a dry run lists the products that a device is asked for, of every family of models") {
    TrainerConfig gpt = short_steps();
    TrainerConfig llama = gpt, experts = gpt;
    llama.model = small_llama();
    llama.model.blocks.resize(4, llama.model.blocks[0]);
    llama.model.max_seqlen = 11;
    llama.model.vocab = 31;
    experts.model.blocks[1].experts = ExpertsConfig{.count = 3, .top = 2, .capacity_factor = 0};
    for (const DType dtype : {DType::f32, DType::bf16}) {
        INFO(dtype_name(dtype));
        const Backend backend{Device::cuda, dtype, 1};
        for (const TrainerConfig* config : {&gpt, &llama, &experts}) {
            check_planned(*config, tiny_corpus(900, config->model.vocab), backend);
            TrainerConfig recomputed = *config;
            recomputed.recompute = Recompute::block;
            check_planned(recomputed, tiny_corpus(900, config->model.vocab), backend);
        }
    }
}

TEST_CASE("a check of products runs each as training does") {
    using enum ProductType;
    const std::vector<ProductShape> shapes = {{false, true, 24, 16, 40, bf16, bf16, bf16, Epilogue::none},
                                              {false, true, 24, 16, 40, bf16, bf16, bf16, Epilogue::none},
                                              {false, true, 24, 31, 40, bf16, bf16, f32, Epilogue::none},
                                              {true, false, 31, 16, 24, bf16, bf16, f32, Epilogue::none},
                                              {false, false, 24, 16, 40, f32, f32, f32, Epilogue::none},
                                              {true, false, 8, 16, 24, f32, bf16, f32, Epilogue::none}};
    const std::vector<kernels::CheckedProduct> checked = kernels::check_gpu_products(shapes);
    REQUIRE(checked.size() == 4);  // without the repeated one, and that of different types
    for (const kernels::CheckedProduct& product : checked) {
        INFO(product.record.shape.text());
        CHECK(product.same_bits);
        CHECK(product.record.calls == 1);
        CHECK(std::count(shapes.begin(), shapes.end(), product.record.shape) >= 1);
    }
}

}  // namespace deft::product_tests
