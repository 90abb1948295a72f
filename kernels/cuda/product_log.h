#pragma once
// Which path every matrix product of a device took: no product is slow in silence.

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/json_fwd.h"
#include "kernels/cuda/product.h"

namespace deft::kernels::cuda {

// All calls of one shape on one path.
struct ProductRecord {
    ProductShape shape;
    ProductPath path = ProductPath::tiles;
    LibraryAlgorithm algorithm;  // of the library's path
    std::int64_t calls = 0;
    double flops = 0;  // of all calls

    // "library: algorithm 66, tile 20, stages 5"
    std::string path_text() const;
};

// Products of at least this many FLOPs that took our FFMA kernel.
inline constexpr double kLargeFallbackFlops = 1e9;
bool is_large_fallback(const ProductRecord& record);
struct Fallbacks {
    std::int64_t calls = 0;
    double flops = 0;
    std::vector<std::string> shapes;  // the costliest first
};
Fallbacks large_fallbacks(const std::vector<ProductRecord>& records);
// A sentence about them for users; empty where there are none.
std::string fallback_note(const std::vector<ProductRecord>& records);

// Records of the same shape and path become one; in the order of their shapes.
std::vector<ProductRecord> merged(const std::vector<ProductRecord>& records);

Json to_json(const ProductRecord& record);
Json to_json(const Fallbacks& fallbacks);

class ProductLog {
 public:
    // algorithm: of the library's path, else null.
    void add(const ProductShape& shape, ProductPath path, const LibraryAlgorithm* algorithm = nullptr);

    // Calls that a graph repeats, which are not traced.
    void add(const std::vector<ProductRecord>& repeated);

    std::vector<ProductRecord> records() const;
    // The calls since `before`, earlier records of this log.
    std::vector<ProductRecord> records_since(const std::vector<ProductRecord>& before) const;
    std::int64_t fallbacks() const;  // calls on our FFMA kernel, of any size
    void forget();                   // all records

    // Traces name each call, for profiles: off at first, since they grow with every call.
    void trace(bool on);
    std::size_t traced() const { return trace_.size(); }
    // Calls of the trace from number `first` on, each as a record of one call.
    std::vector<ProductRecord> calls_since(std::size_t first) const;

 private:
    using Key = std::tuple<ProductShape, ProductPath, LibraryAlgorithm>;
    std::map<Key, std::int64_t> calls_;
    std::vector<const Key*> trace_;
    bool traces_ = false;
};

}  // namespace deft::kernels::cuda
