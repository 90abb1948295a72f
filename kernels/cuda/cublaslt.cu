#include <cublasLt.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/product_key.h"
#include "kernels/cuda/products.h"

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

// The library's handle alone: its descriptors are made on the stack for each call, without allocations.
struct Library {
    cublasLtHandle_t handle = nullptr;

    Library() { check_blas(cublasLtCreate(&handle), "cublasLtCreate"); }
    ~Library() { cublasLtDestroy(handle); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
};

// Where the matrices of one product are; bias and pre as the epilogue wants them.
struct Places {
    const void *a, *b;
    void* c;
    const void* bias = nullptr;
    const void* pre = nullptr;
};

cudaDataType_t data_type(ProductType type) {
    return type == ProductType::f32 ? CUDA_R_32F : CUDA_R_16BF;
}

cublasLtEpilogue_t library_epilogue(Epilogue epilogue) {
    switch (epilogue) {
        case Epilogue::none:
            return CUBLASLT_EPILOGUE_DEFAULT;
        case Epilogue::bias:
            return CUBLASLT_EPILOGUE_BIAS;
        case Epilogue::gelu:
            return CUBLASLT_EPILOGUE_GELU_BIAS;
        case Epilogue::gelu_keeping_pre:
            return CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
        case Epilogue::gelu_gradient:
            break;
    }
    return CUBLASLT_EPILOGUE_DGELU;
}

// Partial sums of a split k go through our own workspace and are added in a second step, whose order is fixed for a
// plan. In a shorter output type they would be rounded before they are added.
std::uint32_t allowed_reductions(ProductType out) {
    std::uint32_t mask = CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    if (out == ProductType::f32) mask |= CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
    return mask;
}

template <class Value>
void set(cublasLtMatmulDescOpaque_t& operation, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    check_blas(cublasLtMatmulDescSetAttribute(&operation, attribute, &value, sizeof value), "setting up a product");
}

template <class Value>
void set(cublasLtMatmulPreferenceOpaque_t& preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const Value& value) {
    check_blas(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value),
               "setting up a preference");
}

// A row-major matrix (rows, cols) as the library sees it, by columns.
cublasLtMatrixLayoutOpaque_t layout_of(ProductType type, std::int64_t rows, std::int64_t cols, std::int64_t leading) {
    cublasLtMatrixLayoutOpaque_t layout{};
    check_blas(cublasLtMatrixLayoutInit(&layout, data_type(type), static_cast<std::uint64_t>(cols),
                                        static_cast<std::uint64_t>(rows), leading),
               "describing a matrix");
    return layout;
}

// The product in the library's terms: c (m, n) = a b by rows is c^T = b^T a^T by columns. Its operands change places,
// and a row-major matrix read by columns is its own transpose.
struct Described {
    cublasLtMatmulDescOpaque_t operation{};
    cublasLtMatrixLayoutOpaque_t left, right, out;

    Described(const ProductKey& key, const Places& places)
        : left(layout_of(key.shape.b, key.shape.b_transposed ? key.shape.n : key.shape.k,
                         key.shape.b_transposed ? key.shape.k : key.shape.n, key.ldb)),
          right(layout_of(key.shape.a, key.shape.a_transposed ? key.shape.k : key.shape.m,
                          key.shape.a_transposed ? key.shape.m : key.shape.k, key.lda)),
          out(layout_of(key.shape.c, key.shape.m, key.shape.n, key.ldc)) {
        check_blas(cublasLtMatmulDescInit(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing a product");
        set(operation, CUBLASLT_MATMUL_DESC_TRANSA, key.shape.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(operation, CUBLASLT_MATMUL_DESC_TRANSB, key.shape.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, library_epilogue(key.shape.epilogue));
        if (places.bias != nullptr) set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, places.bias);
        if (places.pre == nullptr) return;
        set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, key.shape.n);
        set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, places.pre);
    }
};

cublasLtMatmulPreferenceOpaque_t preference_of(const ProductKey& key) {
    cublasLtMatmulPreferenceOpaque_t preference{};
    check_blas(cublasLtMatmulPreferenceInit(&preference), "making a preference");
    const auto align = [&](cublasLtMatmulPreferenceAttributes_t attribute, int bytes) {
        set(preference, attribute, static_cast<std::uint32_t>(bytes));
    };
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(key.workspace_bytes));
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, allowed_reductions(key.shape.c));
    align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.b_alignment);
    align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.a_alignment);
    align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key.c_alignment);
    align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.c_alignment);
    return preference;
}

template <class Value>
Value attribute_of(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute,
                   Value missing) {
    Value value{};
    std::size_t written = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
    return status == CUBLAS_STATUS_SUCCESS ? value : missing;
}

LibraryAlgorithm described(const cublasLtMatmulAlgo_t& algorithm) {
    LibraryAlgorithm own;
    static_assert(sizeof own.words == sizeof algorithm.data);
    std::memcpy(own.words.data(), algorithm.data, sizeof algorithm.data);
    own.id = attribute_of<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID, -1);
    own.tile = static_cast<int>(attribute_of<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, 0));
    own.stages = static_cast<int>(attribute_of<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID, 0));
    own.splits = attribute_of<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 1);
    own.reduction = static_cast<int>(attribute_of<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 0));
    return own;
}

cublasLtMatmulAlgo_t library_algorithm(const LibraryAlgorithm& own) {
    cublasLtMatmulAlgo_t algorithm;
    std::memcpy(algorithm.data, own.words.data(), sizeof algorithm.data);
    return algorithm;
}

// Refusals of a product, as distinct from faults.
bool is_refusal(cublasStatus_t status) {
    return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
           status == CUBLAS_STATUS_ARCH_MISMATCH;
}

// The library's choices for a key, the best first.
std::vector<LibraryAlgorithm> search(const Library& library, const ProductKey& key, const Places& places) {
    Described product(key, places);
    cublasLtMatmulPreferenceOpaque_t preference = preference_of(key);
    std::array<cublasLtMatmulHeuristicResult_t, 16> results{};
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library.handle, &product.operation, &product.left, &product.right, &product.out, &product.out, &preference,
        static_cast<int>(results.size()), results.data(), &found);
    if (!is_refusal(status)) check_blas(status, "choosing an algorithm");
    std::vector<LibraryAlgorithm> algorithms;
    for (std::size_t i = 0; i < static_cast<std::size_t>(found); ++i)
        if (results[i].state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(described(results[i].algo));
    return algorithms;
}

// c = a b + beta c with the epilogue. False, with nothing done, where the library has no algorithm for it, or refuses
// each one that it has.
bool multiply(Exec& exec, const ProductKey& key, const Places& places, float beta) {
    const Library& library = *static_cast<Library*>(exec.blas);
    Described product(key, places);
    const auto fits = [&](const LibraryAlgorithm& own) {
        const cublasLtMatmulAlgo_t algorithm = library_algorithm(own);
        cublasLtMatmulHeuristicResult_t result{};
        const cublasStatus_t status =
            cublasLtMatmulAlgoCheck(library.handle, &product.operation, &product.left, &product.right, &product.out,
                                    &product.out, &algorithm, &result);
        return status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= key.workspace_bytes;
    };
    const auto starts = [&](const LibraryAlgorithm& own) {
        const cublasLtMatmulAlgo_t algorithm = library_algorithm(own);
        const float alpha = 1;
        const cublasStatus_t status = cublasLtMatmul(
            library.handle, &product.operation, &alpha, places.b, &product.left, places.a, &product.right, &beta,
            places.c, &product.out, places.c, &product.out, &algorithm, exec.blas_workspace.data(),
            exec.blas_workspace.size(), static_cast<cudaStream_t>(exec.stream));
        if (is_refusal(status)) {
            cudaGetLastError();  // clears the refusal's error, which the next kernel would report as its own
            return false;
        }
        check_blas(status, "cublasLtMatmul");
        return true;
    };
    const LibraryAlgorithm* const ran = exec.products->plans.run(
        key, [&](const ProductKey& bucket) { return search(library, bucket, places); }, fits, starts);
    if (ran == nullptr) return false;
    record_product(exec, key.shape, ProductPath::library, ran);
    return true;
}

// Whether vectors read by an epilogue are aligned: no preference of the heuristics states their alignment.
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
    return multiply(exec, product_key(exec, c, a, b, m, n, k, ldc), {a.data, b.data, c}, beta);
}

template <class Real>
bool library_bias_activation(Exec& exec, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias,
                             std::int64_t rows, std::int64_t in, std::int64_t out, Activation act) {
    const bool is_gelu = act == Activation::gelu_tanh, keeps_pre = pre != nullptr;
    if (rows == 0 || in == 0 || out == 0 || bias == nullptr || (keeps_pre && !is_gelu)) return false;
    if (!fits_epilogue(bias) || (keeps_pre && !fits_epilogue(pre, out))) return false;
    const Epilogue epilogue = !is_gelu ? Epilogue::bias : keeps_pre ? Epilogue::gelu_keeping_pre : Epilogue::gelu;
    const ProductKey key = product_key<Real, Real>(exec, y, {x}, {w, true}, rows, out, in, out, epilogue, bias, pre);
    return multiply(exec, key, {x, w, y, bias, pre}, 0.0f);
}

template <class Real>
bool library_activation_gradient(Exec& exec, Real* dx, const Real* dy, const Real* w, const Real* pre,
                                 std::int64_t rows, std::int64_t in, std::int64_t out, Activation act) {
    if (rows == 0 || in == 0 || out == 0 || act != Activation::gelu_tanh || !fits_epilogue(pre, in)) return false;
    const ProductKey key =
        product_key<Real, Real>(exec, dx, {dy}, {w}, rows, in, out, in, Epilogue::gelu_gradient, nullptr, pre);
    return multiply(exec, key, {dy, w, dx, nullptr, pre}, 0.0f);
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
