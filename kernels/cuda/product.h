#pragma once
// A matrix product as plans, records and tables name it. No CUDA header is needed.

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kernels/bf16.h"

namespace deft::kernels::cuda {

enum class ProductType { f32, bf16 };
template <class Real>
inline constexpr ProductType product_type = std::is_same_v<Real, float> ? ProductType::f32 : ProductType::bf16;
const char* product_type_name(ProductType type);

// Work that the library does in the product's call.
enum class Epilogue { none, bias, gelu, gelu_keeping_pre, gelu_gradient };
const char* epilogue_name(Epilogue epilogue);

// c (m, n) = a (m, k) b (k, n), all row-major; transposed: of the stored matrix.
struct ProductShape {
    bool a_transposed = false, b_transposed = false;
    std::int64_t m = 0, n = 0, k = 0;
    ProductType a = ProductType::f32, b = ProductType::f32, c = ProductType::f32;
    Epilogue epilogue = Epilogue::none;
    bool grouped = false;  // rows, or k of a weight's gradient, are divided among experts

    auto operator<=>(const ProductShape&) const = default;
    double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
    // "NT 1024x2304x768 bf16 bf16 -> bf16, gelu": layout, m x n x k.
    std::string text() const;
};

// The dimension that counts rows of activations: k for the gradient of a weight, m for every other product. Curricula
// and token dropping change this one alone.
inline std::int64_t activation_rows(const ProductShape& shape) {
    return shape.a_transposed ? shape.k : shape.m;
}
inline ProductShape with_activation_rows(ProductShape shape, std::int64_t rows) {
    (shape.a_transposed ? shape.k : shape.m) = rows;
    return shape;
}

enum class ProductPath {
    library,       // cuBLASLt
    tensor_cores,  // our own mma.sync kernel
    tiles,         // our own FFMA kernel, some tens of times slower than tensor cores
};
const char* path_name(ProductPath path);

// An algorithm of the library, with its configuration.
struct LibraryAlgorithm {
    std::array<std::uint64_t, 8> words{};  // cublasLtMatmulAlgo_t, valid for one version of the library
    // The words' meaning, for readers; -1: unknown.
    int id = -1, tile = -1, stages = -1;
    int splits = 1;     // parts of k, each with partial sums of its own
    int reduction = 0;  // cublasLtReductionScheme_t

    auto operator<=>(const LibraryAlgorithm&) const = default;
    // "algorithm 66, tile 20, stages 5, 4 splits, reduction in compute type"
    std::string text() const;
};

}  // namespace deft::kernels::cuda
