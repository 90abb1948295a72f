// The policy of plans: buckets of rows, checks on real rows, refusals and counts. A fake library answers.

#include <set>
#include <vector>

#include "kernels/cuda/product_plans.h"
#include "tests/catch.h"

namespace deft::kernels::cuda {
namespace {

// Algorithms by number; the sets name those that fail.
struct FakeLibrary {
    std::vector<int> algorithms = {0, 1, 2}, algorithms_of_exact_rows = {};
    std::set<int> unfit = {}, refused = {};
    std::vector<ProductKey> searched = {};

    // The number of the algorithm that ran; -1 where none did.
    int run(ProductPlans& plans, const ProductKey& key) {
        const auto search = [&](const ProductKey& bucket) {
            searched.push_back(bucket);
            std::vector<LibraryAlgorithm> found;
            const std::vector<int>& ids = bucket == bucket_of(bucket) ? algorithms : algorithms_of_exact_rows;
            for (const int id : ids) found.push_back({.words = {}, .id = id});
            return found;
        };
        const auto fits = [&](const LibraryAlgorithm& algorithm) { return unfit.count(algorithm.id) == 0; };
        const auto starts = [&](const LibraryAlgorithm& algorithm) { return refused.count(algorithm.id) == 0; };
        const LibraryAlgorithm* const ran = plans.run(key, search, fits, starts);
        return ran == nullptr ? -1 : ran->id;
    }
};

ProductKey forward(std::int64_t rows) {
    return {{.b_transposed = true, .m = rows, .n = 768, .k = 256}, 256, 256, 768};
}

}  // namespace

TEST_CASE("rows of activations are k of a weight's gradient and m of every other product") {
    const ProductShape input{.m = 100, .n = 768, .k = 256}, weight{.a_transposed = true, .m = 768, .n = 256, .k = 100};
    CHECK(activation_rows(input) == 100);
    CHECK(activation_rows(weight) == 100);
    CHECK(bucket_of({input}).shape.m == 128);
    CHECK(bucket_of({weight}).shape.k == 128);
    CHECK(bucket_of({weight}).shape.m == 768);
    for (const auto& [rows, end] : {std::pair{1, 128}, {128, 128}, {129, 256}, {16384, 16384}})
        CHECK(bucket_of(forward(rows)).shape.m == end);
}

TEST_CASE("a bucket of rows is searched once, for its end, whichever length comes first") {
    for (const std::vector<std::int64_t>& lengths :
         {std::vector<std::int64_t>{130, 256, 200, 130}, {256, 130, 200, 130}}) {
        ProductPlans plans;
        FakeLibrary library;
        for (const std::int64_t rows : lengths) CHECK(library.run(plans, forward(rows)) == 0);
        REQUIRE(library.searched.size() == 1);
        CHECK(library.searched[0] == forward(256));
        CHECK(plans.counts().lookups == 4);
        CHECK(plans.counts().hits == 3);
        CHECK(plans.counts().searches == 1);
        CHECK(plans.counts().checks == 2);  // one a row count, but for the bucket's end
        CHECK(plans.keys().size() == 1);
    }
}

TEST_CASE("products that differ in anything but their rows have plans of their own") {
    ProductPlans plans;
    FakeLibrary library;
    const ProductKey key = forward(128);
    std::vector<ProductKey> keys(8, key);
    keys[1].shape.n = 776;
    keys[2].shape.k = 264;
    keys[3].shape.epilogue = Epilogue::bias;
    keys[4].shape.c = ProductType::bf16;
    keys[5].a_alignment = 16;
    keys[6].ldc = 776;
    keys[7].shape.a_transposed = true;
    for (const ProductKey& other : keys) library.run(plans, other);
    CHECK(plans.counts().searches == 8);
}

TEST_CASE("an algorithm that does not fit a row count, or is refused at its start, gives way to the next") {
    ProductPlans plans;
    FakeLibrary library;
    library.unfit = {0};
    library.refused = {1};
    CHECK(library.run(plans, forward(100)) == 2);
    CHECK(plans.counts().refused == 2);
    library.unfit = library.refused = {};
    CHECK(library.run(plans, forward(100)) == 2);  // as before, so that a step repeats its bits
    CHECK(library.run(plans, forward(101)) == 0);  // other rows are checked by themselves
    CHECK(plans.counts().searches == 1);
}

TEST_CASE("rows that no algorithm of their bucket takes get a search of their own, once") {
    ProductPlans plans;
    FakeLibrary library;
    library.algorithms_of_exact_rows = {5};
    library.unfit = {0, 1, 2, 5};  // an algorithm found for exactly these rows needs no check
    for (int i = 0; i < 3; ++i) CHECK(library.run(plans, forward(102)) == 5);
    CHECK((library.searched == std::vector<ProductKey>{forward(128), forward(102)}));
    CHECK(library.run(plans, forward(128)) == 0);
    library.refused = {0, 1, 2, 5};
    for (int i = 0; i < 3; ++i) CHECK(library.run(plans, forward(103)) == -1);
    CHECK(library.searched.size() == 3);
}

TEST_CASE("a library without an algorithm is asked once") {
    ProductPlans plans;
    FakeLibrary library;
    library.algorithms = {};
    for (int i = 0; i < 3; ++i) CHECK(library.run(plans, forward(128)) == -1);
    CHECK(library.searched.size() == 1);
}

TEST_CASE("a timed algorithm comes before the library's own choice, and costs no search") {
    ProductTable table;
    table.products.push_back({forward(128), {.words = {}, .id = 7}, 1e-3});
    ProductPlans plans(table);
    FakeLibrary library;
    CHECK(library.run(plans, forward(100)) == 7);
    CHECK(library.searched.empty());
    CHECK(library.run(plans, forward(200)) == 0);  // a bucket that the table lacks
    CHECK(plans.counts().tuned == 1);
    library.refused = {7};
    CHECK(library.run(plans, forward(99)) == 0);
    CHECK(plans.counts().searches == 2);
}

}  // namespace deft::kernels::cuda
