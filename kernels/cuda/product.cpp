#include "kernels/cuda/product.h"

#include <fmt/format.h>

namespace deft::kernels::cuda {

const char* product_type_name(ProductType type) {
    return type == ProductType::f32 ? "f32" : "bf16";
}

const char* epilogue_name(Epilogue epilogue) {
    switch (epilogue) {
        case Epilogue::none:
            return "none";
        case Epilogue::bias:
            return "bias";
        case Epilogue::gelu:
            return "gelu";
        case Epilogue::gelu_keeping_pre:
            return "gelu keeping pre";
        case Epilogue::gelu_gradient:
            break;
    }
    return "gelu gradient";
}

const char* path_name(ProductPath path) {
    switch (path) {
        case ProductPath::library:
            return "library";
        case ProductPath::tensor_cores:
            return "own tensor cores";
        case ProductPath::tiles:
            break;
    }
    return "own tiles";
}

std::string ProductShape::text() const {
    const std::string with = epilogue == Epilogue::none ? "" : fmt::format(", {}", epilogue_name(epilogue));
    return fmt::format("{}{} {}x{}x{} {} {} -> {}{}{}", a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', m, n, k,
                       product_type_name(a), product_type_name(b), product_type_name(c), with,
                       grouped ? ", grouped" : "");
}

std::string LibraryAlgorithm::text() const {
    std::string text = fmt::format("algorithm {}, tile {}, stages {}", id, tile, stages);
    if (splits <= 1) return text;
    const char* const of = reduction == 2 ? " in compute type" : reduction == 4 ? " in output type" : "";
    return text + fmt::format(", {} splits, reduction{}", splits, *of == 0 ? fmt::format(" {}", reduction) : of);
}

}  // namespace deft::kernels::cuda
