#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/bench/gpu_products.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/products.h"
#include "kernels/cuda/runtime.h"
#include "kernels/philox.h"

namespace deft::kernels::cuda {

namespace {

// A matrix on the device, of values in [-1, 1) that repeat after a million.
template <class Real>
DeviceMemory random_matrix(Exec& exec, std::int64_t count, std::uint64_t seed) {
    constexpr std::int64_t kMostDrawn = 1 << 20;
    std::vector<Real> drawn(static_cast<std::size_t>(std::min(count, kMostDrawn)));
    for (std::size_t i = 0; i < drawn.size(); ++i)
        drawn[i] = from_float<Real>(
            static_cast<float>(philox_u32(seed, RandomPurpose::tests, 0, 0, i, 0)) / 2147483648.0f - 1.0f);
    DeviceMemory memory(allocate(static_cast<std::size_t>(count) * sizeof(Real), "a matrix of a product"));
    for (std::int64_t first = 0; first < count; first += kMostDrawn)
        copy_to_device(exec, static_cast<Real*>(memory.get()) + first, drawn.data(),
                       static_cast<std::size_t>(std::min(kMostDrawn, count - first)) * sizeof(Real));
    synchronise(exec);
    return memory;
}

// Rows of logits and of their gradients start where products are fast, whatever the vocabulary is.
std::int64_t padded(std::int64_t columns) {
    return columns % 8 == 0 ? columns : padded_vocabulary(columns);
}

// The operands of a product, and its output; lda and ldc are the distances between rows.
template <class In, class Out>
struct Matrices {
    std::int64_t lda, ldc;
    DeviceMemory a, b, bias, pre, c;
    std::size_t bytes;  // of c

    Matrices(Exec& exec, const ProductShape& s)
        : lda(padded(s.a_transposed ? s.m : s.k)),
          ldc(s.epilogue == Epilogue::none ? padded(s.n) : s.n),
          a(random_matrix<In>(exec, (s.a_transposed ? s.k : s.m) * lda, 1)),
          b(random_matrix<In>(exec, s.k * s.n, 2)),
          bias(random_matrix<In>(exec, s.n, 3)),
          pre(random_matrix<In>(exec, s.m * s.n, 4)),
          c(random_matrix<Out>(exec, s.m * ldc, 5)),
          bytes(static_cast<std::size_t>(s.m * ldc) * sizeof(Out)) {}
};

// As training calls it.
template <class In, class Out>
void multiply(Exec& exec, const ProductShape& s, const Matrices<In, Out>& at) {
    const In *const a = static_cast<const In*>(at.a.get()), *const b = static_cast<const In*>(at.b.get());
    const In* const bias = static_cast<const In*>(at.bias.get());
    In* const pre = static_cast<In*>(at.pre.get());
    Out* const c = static_cast<Out*>(at.c.get());
    if constexpr (std::is_same_v<In, Out>) {
        const Activation act = s.epilogue == Epilogue::bias ? Activation::none : Activation::gelu_tanh;
        if (s.epilogue == Epilogue::gelu_gradient)
            return linear_backward_input(exec, c, a, b, pre, s.m, s.n, s.k, act, Accumulate::no);
        if (s.epilogue != Epilogue::none)
            return linear_forward(exec, c, s.epilogue == Epilogue::gelu_keeping_pre ? pre : nullptr, a, b, bias, s.m,
                                  s.k, s.n, act);
    }
    gemm<In, Out>(exec, c, {a, s.a_transposed, at.lda}, {b, s.b_transposed}, s.m, s.n, s.k, 0.0f, at.ldc);
}

template <class In, class Out>
CheckedProduct check_product(Exec& exec, const ProductShape& shape) {
    const Matrices<In, Out> at(exec, shape);
    ProductLog& log = exec.products->log;
    log.trace(true);
    std::vector<std::byte> outputs[2];
    for (std::vector<std::byte>& output : outputs) {
        fill_bytes(exec, at.c.get(), 0xff, at.bytes);  // NaN: what is not written is seen
        multiply(exec, shape, at);
        output.resize(at.bytes);
        copy_to_host(exec, output.data(), at.c.get(), at.bytes);
    }
    const std::vector<ProductRecord> calls = log.calls_since(0);
    log.trace(false);
    if (calls.empty()) throw std::logic_error("no path is recorded of the product " + shape.text());
    return {calls.front(), outputs[0] == outputs[1]};
}

}  // namespace

std::vector<CheckedProduct> check_products(const std::vector<ProductShape>& shapes) {
    const Context context;
    Exec exec = context.exec();
    std::vector<CheckedProduct> checked;
    for (const ProductShape& shape : shapes) {
        if (shape.grouped) continue;  // no product of its shape alone takes its path
        const bool is_float = shape.a == ProductType::f32, keeps = shape.c == shape.a;
        checked.push_back(is_float ? check_product<float, float>(exec, shape)
                          : keeps  ? check_product<bf16, bf16>(exec, shape)
                                   : check_product<bf16, float>(exec, shape));
    }
    return checked;
}

}  // namespace deft::kernels::cuda
