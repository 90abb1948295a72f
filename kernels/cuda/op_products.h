#pragma once
// The matrix products of each op on a GPU, from its shapes alone: what a dry run of a step lists without a device. Each
// function follows its op's .cu source; a test compares the list of a whole step with what a device records.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/cuda/product.h"
#include "kernels/cuda/workspace.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// Appended to in the order of the calls. real: the type of activations and of the weights that kernels read.
using ProductList = std::vector<ProductShape>;

// How exact the library's GELU is, its manual does not say; by the device's tanh instruction it has some 11 bits,
// enough for bf16 alone. It is the tanh form.
constexpr bool library_may_activate(ProductType real, Activation act) {
    return act == Activation::none || (act == Activation::gelu_tanh && real != ProductType::f32);
}

inline void list_linear_forward(ProductList& list, ProductType real, std::int64_t rows, std::int64_t in,
                                std::int64_t out, bool has_bias, bool keeps_pre, Activation act) {
    ProductShape shape{false, true, rows, out, in, real, real, real, Epilogue::none};
    const bool is_gelu = act == Activation::gelu_tanh;
    if (has_bias && library_may_activate(real, act) && (is_gelu || !keeps_pre))
        shape.epilogue = !is_gelu ? Epilogue::bias : keeps_pre ? Epilogue::gelu_keeping_pre : Epilogue::gelu;
    list.push_back(shape);
}

inline void list_linear_backward_input(ProductList& list, ProductType real, std::int64_t rows, std::int64_t in,
                                       std::int64_t out, Activation act, Accumulate accumulate) {
    ProductShape shape{false, false, rows, in, out, real, real, real, Epilogue::none};
    if (act == Activation::none || accumulate == Accumulate::no) {
        if (act != Activation::none && library_may_activate(real, act)) shape.epilogue = Epilogue::gelu_gradient;
        list.push_back(shape);
        return;
    }
    shape.c = ProductType::f32;  // it waits for the derivative
    const std::int64_t chunk = product_chunk_rows(rows, in);
    for (std::int64_t first = 0; first < rows; first += chunk)
        list.push_back(with_activation_rows(shape, std::min(chunk, rows - first)));
}

inline void list_linear_backward_weight(ProductList& list, ProductType real, std::int64_t rows, std::int64_t in,
                                        std::int64_t out) {
    list.push_back({true, false, out, in, rows, real, real, ProductType::f32, Epilogue::none});
}

// trains: with the gradients of w and x.
inline void list_head_loss(ProductList& list, ProductType real, std::int64_t target_rows, std::int64_t C,
                           std::int64_t V, std::int64_t weight_rows, bool trains) {
    const ProductType logits = trains ? real : ProductType::f32;
    const std::int64_t most =
        head_chunk_rows(target_rows, V, logits == ProductType::f32 ? sizeof(float) : sizeof(bf16));
    const std::int64_t columns = std::max(V, weight_rows);
    for (std::int64_t first = 0; first < target_rows; first += most) {
        const std::int64_t chunk = std::min(most, target_rows - first);
        list.push_back({false, true, chunk, columns, C, real, real, logits, Epilogue::none});
        if (!trains) continue;
        list_linear_backward_weight(list, real, chunk, C, columns);
        list_linear_backward_input(list, real, chunk, C, columns, Activation::none, Accumulate::no);
    }
}

// A gate's weights, logits and their gradients are f32 beside activations of any type.
inline void list_gate_logits(ProductList& list, ProductType real, std::int64_t N, std::int64_t C, std::int64_t E) {
    list.push_back({false, true, N, E, C, real, ProductType::f32, ProductType::f32, Epilogue::none});
}
inline void list_gate_backward_input(ProductList& list, ProductType real, std::int64_t N, std::int64_t C,
                                     std::int64_t E) {
    list.push_back({false, false, N, C, E, ProductType::f32, ProductType::f32, real, Epilogue::none});
}
inline void list_gate_backward_weight(ProductList& list, ProductType real, std::int64_t N, std::int64_t C,
                                      std::int64_t E) {
    list.push_back({true, false, E, C, N, ProductType::f32, real, ProductType::f32, Epilogue::none});
}

// All experts together, whose rows are slots: each slot meets the weight of one of them.
inline void list_grouped_forward(ProductList& list, ProductType real, std::int64_t slots, std::int64_t in,
                                 std::int64_t out) {
    list.push_back({false, true, slots, out, in, real, real, real, Epilogue::none, true});
}
inline void list_grouped_backward_input(ProductList& list, ProductType real, std::int64_t slots, std::int64_t in,
                                        std::int64_t out) {
    list.push_back({false, false, slots, in, out, real, real, real, Epilogue::none, true});
}
inline void list_grouped_backward_weight(ProductList& list, ProductType real, std::int64_t slots, std::int64_t in,
                                         std::int64_t out) {
    list.push_back({true, false, out, in, slots, real, real, ProductType::f32, Epilogue::none, true});
}

}  // namespace deft::kernels::cuda
