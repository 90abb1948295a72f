#pragma once
// Matrix products of a Context: the plans of the library's, and the path of every one.

#include "kernels/cuda/exec.h"
#include "kernels/cuda/product_log.h"
#include "kernels/cuda/product_plans.h"

namespace deft::kernels::cuda {

struct Products {
    ProductPlans plans;
    ProductLog log;
};

// algorithm: of the library's path, else null.
inline void record_product(Exec& exec, const ProductShape& shape, ProductPath path,
                           const LibraryAlgorithm* algorithm = nullptr) {
    if (exec.products != nullptr) exec.products->log.add(shape, path, algorithm);
}

}  // namespace deft::kernels::cuda
