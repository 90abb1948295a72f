#pragma once
// Algorithms that were timed on one card with one version of the library: a file that users opt into by naming it.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/product.h"

namespace deft::kernels::cuda {

// Everything that a plan depends on. Distances between stored rows are those of row-major matrices; alignments are in
// bytes, 0 where nothing is there.
struct ProductKey {
    ProductShape shape;
    std::int64_t lda = 0, ldb = 0, ldc = 0;
    int a_alignment = 256, b_alignment = 256, c_alignment = 256, bias_alignment = 0, pre_alignment = 0;
    std::size_t workspace_bytes = 0;

    auto operator<=>(const ProductKey&) const = default;
};

struct TunedProduct {
    ProductKey bucket;  // its rows are the end of a bucket: see product_plans.h
    LibraryAlgorithm algorithm;
    double seconds = 0;  // as timed
};

struct ProductTable {
    std::string gpu;      // "NVIDIA H200"
    std::string library;  // cuBLASLt: "13.0.2"
    std::vector<TunedProduct> products;
};

// Null where the table has none.
const LibraryAlgorithm* find_tuned(const ProductTable& table, const ProductKey& bucket);

// Errors: io.
void write_product_table(const std::filesystem::path& file, const ProductTable& table);
// Errors: io, where it cannot be read; config, for a damaged table, or that of another card or version of the library.
ProductTable read_product_table(const std::filesystem::path& file, const std::string& gpu, const std::string& library);

// The variable that names the table of this process's device.
inline constexpr const char* kProductTableVariable = "DEFT_PRODUCT_TABLE";
// The table that the variable names; none where it is unset or empty. Errors: as above.
std::optional<ProductTable> chosen_product_table(const std::string& gpu, const std::string& library);

// The name of that table in a run's provenance: the sha256 of its file, "unreadable", or empty where none is chosen.
std::string product_table_identity();

}  // namespace deft::kernels::cuda
