// Paths of products as deft profile prints and stores them.

#include "sweeps/cli/product_paths.h"
#include "base/json.h"
#include "tests/catch.h"

namespace deft::cli {
namespace {

using kernels::cuda::Epilogue, kernels::cuda::ProductPath, kernels::cuda::ProductRecord, kernels::cuda::ProductType;

constexpr ProductType kBf16 = ProductType::bf16;
const ProductRecord kLogits{{false, true, 1280, 50257, 768, kBf16, kBf16, ProductType::f32, Epilogue::none},
                            ProductPath::tiles,
                            {},
                            13,
                            13 * 9.88e10};
const ProductRecord kForward{{false, true, 16384, 2304, 768, kBf16, kBf16, kBf16, Epilogue::bias},
                             ProductPath::library,
                             {{}, 66, 20, 5, 4, 2},
                             12,
                             12 * 5.8e10};

}  // namespace

TEST_CASE("a profile names the path of each product, the costliest first") {
    engine::ProfiledOp forward, head, norm;
    forward.op = "linear_forward", forward.products = {kForward};
    head.op = "head_loss_train", head.products = {kLogits};
    const reporting::Table table = product_paths_table({forward, norm, head});
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0][0] == "head_loss_train");
    CHECK(table.rows[0][1] == "NT 1280x50257x768 bf16 bf16 -> f32");
    CHECK(table.rows[0].back() == "own tiles");
    CHECK(table.rows[1][1] == "NT 16384x2304x768 bf16 bf16 -> bf16, bias");
    CHECK(table.rows[1].back() == "library: algorithm 66, tile 20, stages 5, 4 splits, reduction in compute type");
}

TEST_CASE("a profile stores its products and its large fallbacks") {
    const Json json = product_paths_json({kForward, kLogits});
    CHECK(json.at("products").size() == 2);
    CHECK(json.at("fallbacks").at("calls") == 13);
    CHECK(json.at("fallbacks").at("products") == Json::array({"NT 1280x50257x768 bf16 bf16 -> f32"}));
}

}  // namespace deft::cli
