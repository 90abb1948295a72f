#pragma once
// Products on a GPU as training asks for them: which path each takes, and whether two runs have the same bits.

#include <vector>

#include "kernels/cuda/product_log.h"

namespace deft::kernels {

struct CheckedProduct {
    cuda::ProductRecord record;  // of one call
    bool same_bits = false;      // of the output of two runs
};

// Each distinct shape once, of random matrices; shapes whose operands have different types are left out.
// Errors: missing, where this build or this machine has no device; memory, where it has no room.
std::vector<CheckedProduct> check_gpu_products(std::vector<cuda::ProductShape> shapes);

Json to_json(const std::vector<CheckedProduct>& checked);

namespace cuda {

// The same in builds with CUDA.
std::vector<CheckedProduct> check_products(const std::vector<ProductShape>& shapes);

}  // namespace cuda

}  // namespace deft::kernels
