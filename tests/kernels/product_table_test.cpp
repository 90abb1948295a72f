// Tables of timed algorithms: written, read, and refused where they are damaged or another card's.

#include <string>

#include "base/files.h"
#include "base/sha256.h"
#include "kernels/cuda/product_table.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

namespace deft::kernels::cuda {
namespace {

ProductTable small_table() {
    ProductTable table{"NVIDIA H200", "13.0.2", {}};
    TunedProduct& weight = table.products.emplace_back();
    weight.bucket.shape = {.a_transposed = true,
                           .m = 768,
                           .n = 3072,
                           .k = 16384,
                           .a = ProductType::bf16,
                           .b = ProductType::bf16,
                           .c = ProductType::f32};
    weight.bucket.lda = 768, weight.bucket.ldb = weight.bucket.ldc = 3072;
    weight.bucket.workspace_bytes = 32 << 20;
    weight.algorithm = {{1, 2, 3, 0, 0xfedcba9876543210, 0, 0, 8}, 66, 20, 5, 4, 2};
    weight.seconds = 1.25e-4;
    TunedProduct& forward = table.products.emplace_back(weight);
    forward.bucket.shape = {.b_transposed = true,
                            .m = 1024,
                            .n = 3072,
                            .k = 768,
                            .a = ProductType::bf16,
                            .b = ProductType::bf16,
                            .c = ProductType::bf16,
                            .epilogue = Epilogue::gelu_keeping_pre};
    forward.bucket.bias_alignment = 16, forward.bucket.pre_alignment = 256;
    return table;
}

std::string refusal_of(const std::string& text, const std::string& says) {
    const test::TemporaryFolder folder;
    write_file_atomically(folder / "table.json", text);
    return test::refusal([&] { read_product_table(folder / "table.json", "NVIDIA H200", "13.0.2"); }, says);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a table of GPU products is read as it was written") {
    const test::TemporaryFolder folder;
    const ProductTable table = small_table();
    write_product_table(folder / "table.json", table);
    const ProductTable read = read_product_table(folder / "table.json", table.gpu, table.library);
    CHECK(read.gpu == table.gpu);
    CHECK(read.library == table.library);
    REQUIRE(read.products.size() == table.products.size());
    for (std::size_t i = 0; i < table.products.size(); ++i) {
        CHECK((read.products[i].bucket == table.products[i].bucket));
        CHECK((read.products[i].algorithm == table.products[i].algorithm));
        CHECK(read.products[i].seconds == table.products[i].seconds);
        CHECK((*find_tuned(read, table.products[i].bucket) == table.products[i].algorithm));
    }
    ProductKey other = table.products[0].bucket;
    other.shape.k += 128;
    CHECK(find_tuned(read, other) == nullptr);
}

TEST_CASE("a table of GPU products that is damaged, or is another card's or library's, is refused") {
    const test::TemporaryFolder folder;
    const auto file = folder / "table.json";
    write_product_table(file, small_table());
    const std::string whole = read_file(file);
    for (const std::string& text : {std::string(), std::string("[]"), whole.substr(0, whole.size() / 2),
                                    replaced(whole, "\"algorithm\": 66", "\"algorithm\": 67"),
                                    replaced(whole, "0000000000000008", "0000000000000009")}) {
        const std::string message = refusal_of(text, "damaged");
        CHECK_THAT(message, ContainsSubstring("table.json") && ContainsSubstring("unset DEFT_PRODUCT_TABLE") &&
                                ContainsSubstring("nothing was trained"));
    }
    refusal_of("{\"schema\": \"deft-profile/1\"}", "the schema is \"deft-profile/1\"");
    test::refusal([&] { read_product_table(file, "NVIDIA H100", "13.0.2"); },
                  "is for NVIDIA H200, and this card is NVIDIA H100");
    test::refusal([&] { read_product_table(file, "NVIDIA H200", "13.1.0"); },
                  "is for cuBLASLt 13.0.2, and this library is 13.1.0");
    CHECK_THROWS_AS(read_product_table(folder / "none.json", "NVIDIA H200", "13.0.2"), Error);
}

TEST_CASE("the variable alone opts into a table of GPU products") {
    const test::TemporaryFolder folder;
    write_product_table(folder / "table.json", small_table());
    {
        const test::WithVariable unset(kProductTableVariable, "");
        CHECK(!chosen_product_table("NVIDIA H200", "13.0.2"));
        CHECK(product_table_identity() == "");
    }
    const test::WithVariable set(kProductTableVariable, (folder / "table.json").string());
    CHECK(chosen_product_table("NVIDIA H200", "13.0.2")->products.size() == 2);
    CHECK(product_table_identity() == sha256_file(folder / "table.json"));
    CHECK_THROWS_AS(chosen_product_table("emulated", "emulated"), Error);
    const test::WithVariable gone(kProductTableVariable, (folder / "gone.json").string());
    CHECK(product_table_identity() == "unreadable");
}

}  // namespace deft::kernels::cuda
