// The record of paths: calls, FLOPs, and fallbacks that are large.

#include "kernels/cuda/product_log.h"
#include "base/json.h"
#include "tests/catch.h"

namespace deft::kernels::cuda {
namespace {

constexpr ProductType kBf16 = ProductType::bf16;
const ProductShape kHead{.b_transposed = true, .m = 1280, .n = 50257, .k = 768, .a = kBf16, .b = kBf16};
const ProductShape kSmall{.m = 64, .n = 64, .k = 64};

}  // namespace

TEST_CASE("products are counted by shape, path and algorithm") {
    ProductLog log;
    const LibraryAlgorithm split{{1}, 66, 20, 5, 4, 2};
    log.add(kHead, ProductPath::tiles);
    log.add(kHead, ProductPath::tiles);
    log.add(kHead, ProductPath::library, &split);
    log.add(kSmall, ProductPath::tiles);
    CHECK(log.fallbacks() == 3);
    const Fallbacks large = large_fallbacks(log.records());
    CHECK(large.calls == 2);
    CHECK(large.flops == 2 * 2.0 * 1280 * 50257 * 768);
    CHECK(large.shapes == std::vector<std::string>{"NT 1280x50257x768 bf16 bf16 -> f32"});
    for (const ProductRecord& record : log.records())
        if (record.path == ProductPath::library) {
            CHECK(record.path_text() ==
                  "library: algorithm 66, tile 20, stages 5, 4 splits, reduction in compute type");
            CHECK(to_json(record).at("algorithm").at("splits") == 4);
        }
    log.forget();
    CHECK(log.records().empty());
}

TEST_CASE("a fallback is large from 1 GFLOP a call on, however many small ones there are") {
    ProductLog log;
    for (int i = 0; i < 10000; ++i) log.add(kSmall, ProductPath::tiles);
    CHECK(large_fallbacks(log.records()).calls == 0);
    CHECK(fallback_note(log.records()).empty());
    const ProductShape least{.m = 1000, .n = 1000, .k = 500};
    log.add(least, ProductPath::tiles);
    CHECK(large_fallbacks(log.records()).calls == 1);
    CHECK_THAT(fallback_note(log.records()),
               ContainsSubstring("1 product(s) of at least 1 GFLOP without tensor cores") &&
                   ContainsSubstring("NN 1000x1000x500 f32 f32 -> f32"));
    log.add(kHead, ProductPath::tensor_cores);
    CHECK(large_fallbacks(log.records()).calls == 1);
}

TEST_CASE("a trace has the calls in their order") {
    ProductLog log;
    log.add(kHead, ProductPath::tiles);
    log.trace(true);
    log.add(kSmall, ProductPath::tiles);
    const std::size_t first = log.traced();
    log.add(kHead, ProductPath::tiles);
    log.add(kSmall, ProductPath::tiles);
    const std::vector<ProductRecord> calls = log.calls_since(first);
    REQUIRE(calls.size() == 2);
    CHECK((calls[0].shape == kHead));
    CHECK((calls[1].shape == kSmall));
    CHECK(calls[1].calls == 1);
    CHECK(merged(log.calls_since(0)).size() == 2);
    log.trace(false);
    log.add(kSmall, ProductPath::tiles);
    CHECK(log.traced() == 0);
}

}  // namespace deft::kernels::cuda
