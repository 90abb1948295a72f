// Linear layers and whole steps with a library that refuses products, offers GELU with them, or has several algorithms.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/sha256.h"
#include "engine/train/planned_products.h"
#include "kernels/cuda/emulator/library_gemm.h"
#include "kernels/cuda/products.h"
#include "sweeps/cli/doctor.h"
#include "tests/catch.h"
#include "tests/cuda/emulated_cases.h"
#include "tests/engine/tiny.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

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
    const auto launches = [] {
        auto kernels = cuda::emulator::kernels_run();
        return kernels["multiply_tiles"].launches + kernels["multiply_on_tensor_cores"].launches;
    };
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

using engine::Trainer;

constexpr engine::Backend kGpu{engine::Device::cuda, engine::DType::f32, 1};
constexpr engine::Backend kGpuBf16{engine::Device::cuda, engine::DType::bf16, 1};

cuda::Products& products_of(Trainer& trainer) {
    return *trainer.exec().cuda.products;
}

// Lengths of 48 to 64 tokens and kept ones of 24 to 32, of four samples: rows of 192 to 256 and of 96 to 128.
engine::TrainerConfig curriculum() {
    engine::TrainerConfig config = engine::tiny_config(3, 64, 4);
    config.techniques.seqtru = engine::Pacing{48, 64, 4, 5, 1};
    config.techniques.dropping = engine::random_ltd(config.model.layers(), engine::Pacing{24, 32, 4, 4, 1});
    return config;
}

std::set<int> algorithms_of(Trainer& trainer) {
    std::set<int> ids;
    for (const cuda::ProductRecord& record : products_of(trainer).log.records())
        ids.insert(record.path == cuda::ProductPath::library ? record.algorithm.id : -1);
    return ids;
}

TEST_CASE("with a library that refuses everything training stays correct and counts its fallbacks") {
    const engine::TrainerConfig config = engine::tiny_config(3, 11, 3);
    const engine::TokenCorpus corpus = engine::tiny_corpus(900, config.model.vocab);
    const std::size_t of_step = engine::planned_products(config, kGpu, engine::plan_step(config, 0)).size();
    for (const LibraryRules& rules : {LibraryRules{.takes_products = false}, LibraryRules{.algorithms = 0},
                                      LibraryRules{.algorithms = 3, .refused_at_start = 3}}) {
        const WithLibrary library(rules);
        Trainer cpu(config, corpus, 1), gpu(config, corpus, kGpu);
        for (int step = 0; step < 3; ++step) CHECK(gpu.step().loss == Approx(cpu.step().loss).epsilon(1e-5));
        CHECK(products_of(gpu).log.fallbacks() == static_cast<std::int64_t>(3 * of_step));
        CHECK(cuda::emulator::library_calls().products == 0);
    }
    const WithLibrary library({});
    Trainer gpu(config, corpus, kGpu);
    gpu.step();
    CHECK(products_of(gpu).log.fallbacks() == 0);
}

TEST_CASE("the next algorithm takes what the library's first choice does not, before any kernel of ours") {
    const engine::TrainerConfig config = engine::tiny_config(3, 11, 3);
    const engine::TokenCorpus corpus = engine::tiny_corpus(900, config.model.vocab);
    const auto algorithms_with = [&](const LibraryRules& rules) {
        const WithLibrary library(rules);
        Trainer gpu(config, corpus, kGpuBf16);
        for (int step = 0; step < 2; ++step) gpu.step();
        return algorithms_of(gpu);
    };
    CHECK(algorithms_with({}) == std::set<int>{0});
    CHECK(algorithms_with({.algorithms = 3, .refused_at_start = 2}) == std::set<int>{2});
    CHECK(algorithms_with({.algorithms = 2, .rows_of_first = 64}) == std::set<int>{1});  // 33 rows
}

TEST_CASE("a curriculum searches for algorithms once a bucket of rows") {
    const WithLibrary library({.takes_epilogues = true});
    const engine::TrainerConfig config = curriculum();
    const engine::TokenCorpus corpus = engine::tiny_corpus(4000, config.model.vocab);
    Trainer gpu(config, corpus, kGpuBf16);
    const cuda::ProductPlans& plans = products_of(gpu).plans;
    std::set<cuda::ProductShape> buckets, shapes;
    std::int64_t planned = 0, searches = 0;
    for (int step = 0; step < 6; ++step) {
        for (const cuda::ProductShape& shape :
             engine::planned_products(config, kGpuBf16, engine::plan_step(config, step))) {
            shapes.insert(shape);
            buckets.insert(cuda::bucket_of({shape}).shape);
            ++planned;
        }
        gpu.step();
        if (step == 0) searches = plans.counts().searches;
    }
    CHECK(searches >= static_cast<std::int64_t>(buckets.size()));  // buffers are aligned differently
    CHECK(shapes.size() > 3 * buckets.size());
    CHECK(plans.counts().searches == searches);
    CHECK(plans.counts().lookups == planned);
    CHECK(plans.counts().hits == planned - searches);
    CHECK(plans.counts().checks >= static_cast<std::int64_t>(shapes.size() - buckets.size()));
    CHECK(plans.counts().refused == 0);
    CHECK(plans.keys().size() == static_cast<std::size_t>(searches));
}

TEST_CASE("a table of timed products decides algorithms, is named by provenance, and is refused when damaged") {
    const WithLibrary library({.algorithms = 3});
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder / "table.json";
    const engine::TrainerConfig config = engine::tiny_config(3, 11, 3);
    const engine::TokenCorpus corpus = engine::tiny_corpus(900, config.model.vocab);
    cuda::ProductTable table{"emulated", "emulated", {}};
    {
        Trainer gpu(config, corpus, kGpuBf16);
        gpu.step();
        for (const cuda::ProductKey& key : products_of(gpu).plans.keys())
            table.products.push_back({key, {.words = {}, .id = 2}, 1e-6});
        CHECK(engine::gpu_versions().count("product_table") == 0);
    }
    cuda::write_product_table(file, table);
    const test::WithVariable chosen(cuda::kProductTableVariable, file.string());
    Trainer gpu(config, corpus, kGpuBf16);
    gpu.step();
    CHECK(algorithms_of(gpu) == std::set<int>{2});
    CHECK(products_of(gpu).plans.counts().searches == 0);
    CHECK(products_of(gpu).plans.counts().tuned == static_cast<std::int64_t>(table.products.size()));
    CHECK(engine::gpu_versions().at("product_table") == sha256_file(file));

    table.gpu = "NVIDIA H200";
    cuda::write_product_table(file, table);
    const auto train = [&] { Trainer(config, corpus, kGpuBf16).step(); };
    test::refusal(train, "is for NVIDIA H200, and this card is emulated");
    write_file_atomically(file, "{");
    test::refusal(train, "damaged");
    CHECK(sweeps::gpu_products({}).state == sweeps::Finding::State::missing);
}

TEST_CASE("deft doctor names the products that fall back") {
    using sweeps::Finding;
    const engine::TrainerConfig config = engine::tiny_config(2, 16, 2);
    const cuda::ProductList products = engine::planned_products(config, kGpuBf16, engine::plan_step(config, 0));
    {
        const WithLibrary library({});
        const Finding finding = sweeps::gpu_products(products);
        CHECK(finding.state == Finding::State::ok);
        CHECK_THAT(finding.found, ContainsSubstring("no fallbacks, all bit-identical in two runs"));
    }
    const WithLibrary library({.takes_products = false});
    CHECK(sweeps::gpu_products(products).state == Finding::State::ok);  // our tensor cores take them
    constexpr cuda::ProductType kBf16 = cuda::ProductType::bf16;
    const Finding finding =
        sweeps::gpu_products({{false, true, 32, 72, 20, kBf16, kBf16, kBf16, cuda::Epilogue::none}});
    CHECK(finding.state == Finding::State::note);
    CHECK_THAT(finding.found, ContainsSubstring("fallbacks without tensor cores: ") &&
                                  ContainsSubstring("NT 32x72x20 bf16 bf16 -> bf16"));
}

}  // namespace
}  // namespace deft::kernels::cases
