#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

void check_blas(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    check(cudaGetLastError(), what);  // of an earlier kernel, which the library would report as its own failure
    if (status == CUBLAS_STATUS_ALLOC_FAILED)
        throw Error(ErrorKind::memory, std::string("cuBLASLt has no memory for ") + what,
                    "lower the micro batch size, put fewer trials on the card, or use a GPU with more memory");
    throw Error(ErrorKind::device, std::string("cuBLASLt failed in ") + what + ": " + cublasLtGetStatusString(status));
}

template <class Real>
constexpr cudaDataType_t kDataType = std::is_same_v<Real, float> ? CUDA_R_32F : CUDA_R_16BF;

// A stored matrix as the library sees it: by columns, so that a row-major (r, c) is a (c, r).
struct Stored {
    cudaDataType_t type;
    std::int64_t rows, cols, leading;
    int alignment;  // of the data, in bytes
    auto operator<=>(const Stored&) const = default;
};

// What decides a plan: d (m, n) = op(a) op(b), by columns.
struct Shape {
    Stored a, b, d;
    bool a_transposed, b_transposed;
    std::int64_t k;
    cublasLtEpilogue_t epilogue;
    std::int64_t auxiliary_leading;  // 0: none
    int bias_alignment, auxiliary_alignment;
    std::size_t workspace_bytes;
    auto operator<=>(const Shape&) const = default;
};

// Where the matrices of one product are; bias and auxiliary as the epilogue wants them.
struct Places {
    const void *a, *b;
    void* d;
    const void* bias = nullptr;
    const void* auxiliary = nullptr;
};

struct DestroyOperation {
    void operator()(cublasLtMatmulDesc_t operation) const { cublasLtMatmulDescDestroy(operation); }
};
using Operation = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>, DestroyOperation>;

struct DestroyLayout {
    void operator()(cublasLtMatrixLayout_t layout) const { cublasLtMatrixLayoutDestroy(layout); }
};
using Layout = std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>, DestroyLayout>;

struct DestroyPreference {
    void operator()(cublasLtMatmulPreference_t preference) const { cublasLtMatmulPreferenceDestroy(preference); }
};
using Preference = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>, DestroyPreference>;

struct Plan {
    Operation operation;
    Layout a, b, d;
    std::optional<cublasLtMatmulAlgo_t> algorithm;  // none: the library has no such product
    bool refused = false;                           // by the algorithm, when it was to run
};

struct Library {
    cublasLtHandle_t handle = nullptr;
    std::map<Shape, Plan> plans;

    Library() { check_blas(cublasLtCreate(&handle), "cublasLtCreate"); }
    ~Library() {
        plans.clear();
        cublasLtDestroy(handle);
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
};

template <class Value>
void set(const Operation& operation, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    check_blas(cublasLtMatmulDescSetAttribute(operation.get(), attribute, &value, sizeof value),
               "setting up a product");
}

template <class Value>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
    check_blas(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
               "setting up a preference");
}

Operation make_operation(const Shape& shape) {
    cublasLtMatmulDesc_t made = nullptr;
    check_blas(cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing a product");
    Operation operation(made);
    set(operation, CUBLASLT_MATMUL_DESC_TRANSA, shape.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(operation, CUBLASLT_MATMUL_DESC_TRANSB, shape.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, shape.epilogue);
    if (shape.auxiliary_leading != 0) set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, shape.auxiliary_leading);
    return operation;
}

void set_places(const Operation& operation, const Places& places) {
    if (places.bias != nullptr) set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, places.bias);
    if (places.auxiliary != nullptr) set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, places.auxiliary);
}

Layout make_layout(const Stored& stored) {
    cublasLtMatrixLayout_t made = nullptr;
    check_blas(cublasLtMatrixLayoutCreate(&made, stored.type, static_cast<std::uint64_t>(stored.rows),
                                          static_cast<std::uint64_t>(stored.cols), stored.leading),
               "describing a matrix");
    return Layout(made);
}

Preference make_preference(const Shape& shape) {
    cublasLtMatmulPreference_t made = nullptr;
    check_blas(cublasLtMatmulPreferenceCreate(&made), "making a preference");
    Preference preference(made);
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(shape.workspace_bytes));
    // No split of k over blocks, whose partial sums would be added in any order.
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE});
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<std::uint32_t>(shape.a.alignment));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<std::uint32_t>(shape.b.alignment));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(shape.d.alignment));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(shape.d.alignment));
    return preference;
}

bool splits_k(const cublasLtMatmulAlgo_t& algorithm) {
    std::int32_t parts = 1;
    std::size_t written = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM,
                                                                       &parts, sizeof parts, &written);
    return status == CUBLAS_STATUS_SUCCESS && parts > 1;
}

// The library's first choice that does not split k.
std::optional<cublasLtMatmulAlgo_t> choose_algorithm(const Library& library, const Shape& shape, const Plan& plan) {
    const Preference preference = make_preference(shape);
    std::array<cublasLtMatmulHeuristicResult_t, 16> results{};
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library.handle, plan.operation.get(), plan.a.get(), plan.b.get(), plan.d.get(), plan.d.get(), preference.get(),
        static_cast<int>(results.size()), results.data(), &found);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED && status != CUBLAS_STATUS_INVALID_VALUE)
        check_blas(status, "choosing an algorithm");
    for (int i = 0; i < found; ++i) {
        const auto& result = results[static_cast<std::size_t>(i)];
        if (result.state == CUBLAS_STATUS_SUCCESS && !splits_k(result.algo)) return result.algo;
    }
    return std::nullopt;
}

// The plan of a shape, made at its first use. The places must be set already, since their alignment counts.
Plan& plan_of(Library& library, const Shape& shape, const Places& places) {
    if (const auto known = library.plans.find(shape); known != library.plans.end()) {
        set_places(known->second.operation, places);
        return known->second;
    }
    Plan plan{make_operation(shape), make_layout(shape.a), make_layout(shape.b), make_layout(shape.d), {}};
    set_places(plan.operation, places);
    plan.algorithm = choose_algorithm(library, shape, plan);
    return library.plans.emplace(shape, std::move(plan)).first->second;
}

// d = op(a) op(b) + beta d with the epilogue. False, with nothing done, where the library has no algorithm, or refuses
// the one that it chose.
bool multiply(Exec& exec, const Shape& shape, const Places& places, float beta) {
    Library& library = *static_cast<Library*>(exec.blas);
    Plan& plan = plan_of(library, shape, places);
    if (!plan.algorithm || plan.refused) return false;
    const float alpha = 1;
    const cublasStatus_t status =
        cublasLtMatmul(library.handle, plan.operation.get(), &alpha, places.a, plan.a.get(), places.b, plan.b.get(),
                       &beta, places.d, plan.d.get(), places.d, plan.d.get(), &*plan.algorithm,
                       exec.blas_workspace.data(), exec.blas_workspace.size(), static_cast<cudaStream_t>(exec.stream));
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) {
        plan.refused = true;
        return false;
    }
    check_blas(status, "cublasLtMatmul");
    return true;
}

// The largest power of two, up to 256, that divides the address.
int alignment_of(const void* data) {
    const auto address = reinterpret_cast<std::uintptr_t>(data) | 256;
    return static_cast<int>(address & (~address + 1));
}

// An operand of the product (r, c) = what is stored or its transpose.
template <class Real>
Stored stored(const Operand<Real>& operand, std::int64_t r, std::int64_t c) {
    const std::int64_t rows = operand.transposed ? c : r, cols = operand.transposed ? r : c;  // as stored, by rows
    return {kDataType<Real>, cols, rows, operand.leading == 0 ? cols : operand.leading, alignment_of(operand.data)};
}

// c (m, n) = a b by rows is c^T = b^T a^T by columns: the operands change places, and a row-major matrix read by
// columns is its own transpose.
template <class In, class Out>
Shape shape_of(const Exec& exec, const Out* c, const Operand<In>& a, const Operand<In>& b, std::int64_t m,
               std::int64_t n, std::int64_t k, std::int64_t ldc,
               cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT, const void* bias = nullptr,
               const void* auxiliary = nullptr, std::int64_t auxiliary_leading = 0) {
    return {stored(b, k, n),
            stored(a, m, k),
            {kDataType<Out>, n, m, ldc, alignment_of(c)},
            b.transposed,
            a.transposed,
            k,
            epilogue,
            auxiliary_leading,
            alignment_of(bias),
            alignment_of(auxiliary),
            exec.blas_workspace.size()};
}

// What an epilogue reads beside the product, in vectors: no preference of the heuristics tells them its alignment.
bool fits_epilogue(const void* beside) {
    return alignment_of(beside) >= 16;
}
// A matrix beside an epilogue also has rows of a multiple of 8.
bool fits_epilogue(const void* auxiliary, std::int64_t leading) {
    return leading % 8 == 0 && fits_epilogue(auxiliary);
}

}  // namespace

void* open_blas_library() {
    return new Library;
}

void close_blas_library(void* library) {
    delete static_cast<Library*>(library);
}

// As cublasLt.h counts: 10000 major + 100 minor + patch.
std::string blas_library_version() {
    const std::size_t version = cublasLtGetVersion();
    return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
           std::to_string(version % 100);
}

template <class In, class Out>
bool library_gemm(Exec& exec, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k,
                  float beta, std::int64_t ldc) {
    return multiply(exec, shape_of(exec, c, a, b, m, n, k, ldc), {b.data, a.data, c}, beta);
}

template <class Real>
bool library_bias_activation(Exec& exec, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias,
                             std::int64_t rows, std::int64_t in, std::int64_t out, Activation act) {
    const bool is_gelu = act == Activation::gelu_tanh, keeps_pre = pre != nullptr;
    if (rows == 0 || in == 0 || out == 0 || bias == nullptr || (keeps_pre && !is_gelu)) return false;
    if (!fits_epilogue(bias) || (keeps_pre && !fits_epilogue(pre, out))) return false;
    const cublasLtEpilogue_t epilogue = !is_gelu    ? CUBLASLT_EPILOGUE_BIAS
                                        : keeps_pre ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS
                                                    : CUBLASLT_EPILOGUE_GELU_BIAS;
    const Operand<Real> a{x}, b{w, true};
    const Shape shape = shape_of(exec, y, a, b, rows, out, in, out, epilogue, bias, pre, keeps_pre ? out : 0);
    return multiply(exec, shape, {w, x, y, bias, pre}, 0.0f);
}

template <class Real>
bool library_activation_gradient(Exec& exec, Real* dx, const Real* dy, const Real* w, const Real* pre,
                                 std::int64_t rows, std::int64_t in, std::int64_t out, Activation act) {
    if (rows == 0 || in == 0 || out == 0 || act != Activation::gelu_tanh || !fits_epilogue(pre, in)) return false;
    const Operand<Real> a{dy}, b{w};
    const Shape shape = shape_of(exec, dx, a, b, rows, in, out, in, CUBLASLT_EPILOGUE_DGELU, nullptr, pre, in);
    return multiply(exec, shape, {w, dy, dx, nullptr, pre}, 0.0f);
}

template bool library_gemm<float, float>(Exec&, float*, Operand<float>, Operand<float>, std::int64_t, std::int64_t,
                                         std::int64_t, float, std::int64_t);
template bool library_gemm<bf16, bf16>(Exec&, bf16*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t,
                                       std::int64_t, float, std::int64_t);
template bool library_gemm<bf16, float>(Exec&, float*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t,
                                        std::int64_t, float, std::int64_t);
template bool library_bias_activation<float>(Exec&, float*, float*, const float*, const float*, const float*,
                                             std::int64_t, std::int64_t, std::int64_t, Activation);
template bool library_bias_activation<bf16>(Exec&, bf16*, bf16*, const bf16*, const bf16*, const bf16*, std::int64_t,
                                            std::int64_t, std::int64_t, Activation);
template bool library_activation_gradient<float>(Exec&, float*, const float*, const float*, const float*, std::int64_t,
                                                 std::int64_t, std::int64_t, Activation);
template bool library_activation_gradient<bf16>(Exec&, bf16*, const bf16*, const bf16*, const bf16*, std::int64_t,
                                                std::int64_t, std::int64_t, Activation);

}  // namespace deft::kernels::cuda
