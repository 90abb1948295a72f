// What linear layers do with a library that refuses products, and with one that offers GELU with them.

#include <string>
#include <vector>

#include "kernels/cuda/emulator/library_gemm.h"
#include "tests/catch.h"
#include "tests/cuda/emulated_cases.h"
#include "tests/engine/tiny.h"

namespace deft::kernels::cases {
namespace {

using cuda::emulator::LibraryRules;

struct WithLibrary {
    explicit WithLibrary(const LibraryRules& rules) {
        cuda::emulator::set_library(rules);
        cuda::emulator::forget_library_calls();
        cuda::emulator::forget_kernels();
    }
    ~WithLibrary() { cuda::emulator::set_library({}); }
    WithLibrary(const WithLibrary&) = delete;
    WithLibrary& operator=(const WithLibrary&) = delete;
};

void check_ops_with_products(Activations type, Placement placement) {
    const cuda::Context context;
    for (const OpCase& op : small_cases(7, 1 << 13)) {
        if (op.name.find("linear_") != 0 && op.name.find("head_loss") != 0) continue;
        INFO(op.name);
        CHECK(disagreement(op, run_cuda(context.exec(), op, type, placement), type) == "");
    }
}

TEST_CASE("a product that the library refuses runs on a kernel of ours") {
    const WithLibrary library({.takes_products = false});
    const auto launches = [] { return cuda::emulator::kernels_run()["multiply_tiles"].launches; };
    check_ops_with_products(Activations::f32, Placement::aligned);
    const auto in_float = launches();
    CHECK(in_float > 10);
    check_ops_with_products(Activations::bf16, Placement::unaligned);
    CHECK(launches() == 2 * in_float);
    CHECK(cuda::emulator::library_calls().products == 0);
}

TEST_CASE("in float GELU is ours, whatever the library offers") {
    const WithLibrary library({.takes_epilogues = true});
    check_ops_with_products(Activations::f32, Placement::aligned);
    CHECK(cuda::emulator::library_calls().float_gelu == 0);
    CHECK(cuda::emulator::library_calls().bias > 0);
    check_ops_with_products(Activations::bf16, Placement::aligned);
    CHECK(cuda::emulator::library_calls().bf16_gelu > 4);
}

TEST_CASE("activations computed again have the bits that a library's epilogue gave") {
    const WithLibrary library({.takes_epilogues = true});
    engine::TrainerConfig config = engine::tiny_config(3, 11, 3);
    const engine::TokenCorpus corpus = engine::tiny_corpus(900, config.model.vocab);
    const auto weights_with = [&](engine::Recompute recompute) {
        config.recompute = recompute;
        engine::Trainer trainer(config, corpus, engine::Backend{engine::Device::cuda, engine::DType::bf16, 1});
        for (int step = 0; step < 3; ++step) trainer.step();
        return engine::all_parameters<float>(trainer);
    };
    const auto kept = weights_with(engine::Recompute::none);
    CHECK(cuda::emulator::library_calls().bf16_gelu > 0);
    CHECK(weights_with(engine::Recompute::activation) == kept);
    CHECK(weights_with(engine::Recompute::block) == kept);
}

}  // namespace
}  // namespace deft::kernels::cases
