// The emulated device's memory and matrix products.

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/runtime.h"
#include "tests/catch.h"

namespace deft::kernels::cuda {
namespace {

TEST_CASE("there is one emulated device") {
    CHECK(unusable_reason().empty());
    REQUIRE(devices().size() == 1);
    CHECK(devices()[0].name == "emulated");
    CHECK(devices()[0].memory_bytes > 0);
    CHECK_NOTHROW(Context(0));
    CHECK_THROWS_AS(Context(1), Error);
}

TEST_CASE("memory is aligned, zero at first, and copied whole") {
    Context context;
    Exec exec = context.exec();
    std::vector<char> host(1000, 'x'), back(1000);
    void* const first = allocate(1000);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
    CHECK(std::vector<char>(static_cast<char*>(first), static_cast<char*>(first) + 1000) == back);
    copy_to_device(exec, first, host.data(), 1000);
    copy_to_host(exec, back.data(), first, 1000);
    synchronise(exec);
    CHECK(back == host);
    release(first);
    release(nullptr);
}

// A matrix (rows, cols) stored as it is or transposed, `gap` items between stored rows.
template <class Item>
struct Matrix {
    std::int64_t rows, cols, gap;
    bool transposed;
    std::vector<Item> items;

    Matrix(std::mt19937& random, std::int64_t rows_, std::int64_t cols_, std::int64_t gap_, bool transposed_ = false)
        : rows(rows_), cols(cols_), gap(gap_), transposed(transposed_) {
        std::uniform_real_distribution<float> uniform(-1, 1);
        items.resize(static_cast<std::size_t>((transposed ? cols : rows) * leading()));
        for (Item& item : items) item = from_float<Item>(uniform(random));
    }
    std::int64_t leading() const { return (transposed ? rows : cols) + gap; }
    Operand<Item> operand() const { return {items.data(), transposed, gap == 0 ? 0 : leading()}; }
    double at(std::int64_t r, std::int64_t c) const {
        const std::int64_t i = transposed ? c * leading() + r : r * leading() + c;
        return static_cast<double>(to_float(items[static_cast<std::size_t>(i)]));
    }
};

// gemm against sums in double, for every way to store the operands.
template <class In, class Out>
void check_products(double tolerance) {
    const auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    constexpr std::int64_t m = 5, n = 7, k = 33;
    const Context context;
    Exec exec = context.exec();
    for (int form = 0; form < 16; ++form) {
        INFO("form " << form);
        const std::int64_t gap = (form & 1) != 0 ? 3 : 0;
        const float beta = (form & 2) != 0 ? 1.0f : 0.0f;
        const Matrix<In> a(random, m, k, gap, (form & 4) != 0), b(random, k, n, gap, (form & 8) != 0);
        const Matrix<Out> before(random, m, n, gap);
        Matrix<Out> c = before;
        gemm<In, Out>(exec, c.items.data(), a.operand(), b.operand(), m, n, k, beta, c.operand().leading);
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                double sum = static_cast<double>(beta) * before.at(i, j);
                for (std::int64_t p = 0; p < k; ++p) sum += a.at(i, p) * b.at(p, j);
                CHECK(c.at(i, j) == Approx(sum).margin(tolerance));
            }
            for (std::int64_t j = n; j < n + gap; ++j) CHECK(c.at(i, j) == before.at(i, j));
        }
    }
}

TEST_CASE("products in float, in bf16, and of bf16 into float") {
    check_products<float, float>(1e-5);
    check_products<bf16, float>(1e-5);
    check_products<bf16, bf16>(0.03);  // half a unit of the last place at 8
}

TEST_CASE("what a product without beta overwrites is not read") {
    const float a = 2, b = 3;
    float c = std::numeric_limits<float>::quiet_NaN();
    const Context context;
    Exec exec = context.exec();
    gemm<float, float>(exec, &c, {&a}, {&b}, 1, 1, 1, 0.0f);
    CHECK(c == 6);
}

}  // namespace
}  // namespace deft::kernels::cuda
