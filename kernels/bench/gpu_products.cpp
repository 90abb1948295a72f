#include "kernels/bench/gpu_products.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "kernels/cuda/exec.h"

namespace deft::kernels {

std::vector<CheckedProduct> check_gpu_products(std::vector<cuda::ProductShape> shapes) {
    std::sort(shapes.begin(), shapes.end());
    shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
    std::erase_if(shapes, [](const cuda::ProductShape& shape) { return shape.a != shape.b; });
    if constexpr (cuda::kBuilt) return cuda::check_products(shapes);
    throw Error(ErrorKind::missing, "this program was built without CUDA", "build it with ./deft --cuda");
}

Json to_json(const std::vector<CheckedProduct>& checked) {
    Json all = Json::array();
    for (const CheckedProduct& product : checked) {
        Json json = cuda::to_json(product.record);
        json["same_bits"] = product.same_bits;
        all.push_back(std::move(json));
    }
    return all;
}

}  // namespace deft::kernels
