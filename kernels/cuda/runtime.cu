// A real device, implementing runtime.h and launch.h.

#include <cuda_runtime.h>

#include <cstring>
#include <memory>
#include <string>

#include "base/error.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/products.h"
#include "kernels/cuda/runtime.h"

namespace deft::kernels::cuda {

namespace {

// "12.2" of 12020.
std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string error_text(cudaError_t status) {
    return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
}

// How to fix a failure.
std::string advice(cudaError_t status) {
    switch (status) {
        case cudaErrorMemoryAllocation:
            return "lower the micro batch size or the sequence length, or use a GPU with more memory";
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        case cudaErrorHardwareStackError:
            return "the GPU itself is at fault: use another one, and ask nvidia-smi -q for its error counts";
        case cudaErrorIllegalAddress:
        case cudaErrorMisalignedAddress:
        case cudaErrorIllegalInstruction:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
        case cudaErrorAssert:
            return "a kernel went wrong, here or before: run the trial under compute-sanitizer, and report what it "
                   "finds";
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorUnsupportedPtxVersion:
        case cudaErrorInvalidDeviceFunction:
            return "this build has no code for this GPU: build again on this machine";
        case cudaErrorDevicesUnavailable:
            return "another process has the GPU for itself: wait for it, or set CUDA_VISIBLE_DEVICES to another one";
        case cudaErrorLaunchTimeout:
            return "the GPU also drives a display, which ended a long kernel: use another one";
        default:
            return {};
    }
}

[[noreturn]] void fail(cudaError_t status, const std::string& what) {
    cudaGetLastError();  // clears what is not sticky
    const bool out_of_memory = status == cudaErrorMemoryAllocation;
    throw Error(out_of_memory ? ErrorKind::memory : ErrorKind::device,
                "CUDA failed in " + what + ": " + error_text(status), advice(status),
                out_of_memory ? "" : "checkpoints written so far");
}

cudaStream_t stream_of(const Exec& exec) {
    return static_cast<cudaStream_t>(exec.stream);
}

// A recorded copy would read and write the host's memory in every later step. Errors: device, naming `what`, while a
// graph is recorded.
void refuse_while_recording(const Exec& exec, const char* what) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream_of(exec), &status), what);
    if (status != cudaStreamCaptureStatusNone)
        throw Error(ErrorKind::device, std::string(what) + " cannot be recorded in a graph");
}

// As nvidia-smi prints it: GPU-8-4-4-4-12 hexadecimal digits.
std::string uuid_text(const cudaUUID_t& uuid) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text = "GPU";
    for (int i = 0; i < 16; ++i) {
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

constexpr int kLeastComputeMajor = 8;  // bf16 products

DeviceInfo describe(int device) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return {properties.name, uuid_text(properties.uuid), static_cast<std::int64_t>(properties.totalGlobalMem)};
}

// Why a device of the list cannot be used; empty when it can.
std::string unusable_device_reason(int device) {
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (major >= kLeastComputeMajor) return {};
    return "GPU " + std::to_string(device) + " has compute capability " + std::to_string(major) + "." +
           std::to_string(minor) + ", deft needs " + std::to_string(kLeastComputeMajor) + ".0 (Ampere) or newer";
}

}  // namespace

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) fail(status, what);
}

Versions versions() {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    return {version_text(driver), version_text(runtime), blas_library_version()};
}

std::string unusable_reason() {
    int driver = 0, runtime = 0, count = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0) return "no NVIDIA driver is installed, or it is not running";
    const cudaError_t status = cudaGetDeviceCount(&count);
    cudaGetLastError();
    // Within a major version an older driver serves.
    if (status == cudaErrorInsufficientDriver || driver / 1000 < runtime / 1000)
        return "the driver supports CUDA " + version_text(driver) + ", this build needs " + version_text(runtime) +
               ": update the driver";
    if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0))
        return "no GPU is visible (CUDA_VISIBLE_DEVICES is heeded)";
    if (status != cudaSuccess) return "CUDA cannot start: " + error_text(status);
    std::string reason;
    for (int device = 0; device < count; ++device) {
        reason = unusable_device_reason(device);
        if (reason.empty()) return {};
    }
    return reason;
}

std::vector<DeviceInfo> devices() {
    std::vector<DeviceInfo> all;
    int count = 0;
    if (!unusable_reason().empty() || cudaGetDeviceCount(&count) != cudaSuccess) return all;
    for (int device = 0; device < count; ++device)
        if (unusable_device_reason(device).empty()) all.push_back(describe(device));
    return all;
}

Context::Context(int device) {
    std::string reason = unusable_reason();
    int count = 0;
    if (reason.empty()) check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    if (reason.empty() && (device < 0 || device >= count))
        reason = "no GPU " + std::to_string(device) + " among the " + std::to_string(count) + " visible";
    if (reason.empty()) reason = unusable_device_reason(device);
    if (!reason.empty()) throw Error(ErrorKind::missing, "CUDA cannot be used: " + reason);

    check(cudaSetDevice(device), "cudaSetDevice");
    std::optional<ProductTable> table = chosen_product_table(describe(device).name, blas_library_version());
    auto products = std::make_unique<Products>(Products{ProductPlans(std::move(table)), {}});
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    const auto destroy = [](cudaStream_t made) { cudaStreamDestroy(made); };
    std::unique_ptr<std::remove_pointer_t<cudaStream_t>, decltype(destroy)> owned_stream(stream, destroy);
    std::unique_ptr<void, decltype(&close_blas_library)> owned_blas(open_blas_library(), &close_blas_library);
    constexpr std::size_t kBlasWorkspace = 32 << 20;  // what NVIDIA recommends for Hopper
    exec_.blas_workspace = {static_cast<std::byte*>(allocate(kBlasWorkspace, "the workspace of cuBLASLt")),
                            kBlasWorkspace};
    DeviceMemory owned_workspace(exec_.blas_workspace.data());
    exec_.counters = {static_cast<std::uint32_t*>(allocate(kCounters * sizeof(std::uint32_t), "counters of blocks")),
                      kCounters};
    owned_workspace.release();
    exec_.stream = owned_stream.release();
    exec_.blas = owned_blas.release();
    exec_.products = products.release();
}

Context::~Context() {
    cudaStreamSynchronize(stream_of(exec_));
    release(exec_.counters.data());
    release(exec_.blas_workspace.data());
    close_blas_library(exec_.blas);
    delete exec_.products;
    cudaStreamDestroy(stream_of(exec_));
}

bool faults_past_end() {
    return false;
}

void* allocate(std::size_t bytes, const char* name) {
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes == 0 ? 1 : bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        std::size_t free = 0, total = 0;
        cudaMemGetInfo(&free, &total);
        throw Error(ErrorKind::memory,
                    "the GPU has no room for the " + std::to_string(bytes) + " bytes of " + name + ": " +
                        std::to_string(free) + " of " + std::to_string(total) + " are free",
                    advice(status));
    }
    check(status, "cudaMalloc");
    // The memory is zero before any stream can use it.
    cudaError_t zeroed = cudaMemset(memory, 0, bytes);
    if (zeroed == cudaSuccess) zeroed = cudaDeviceSynchronize();
    if (zeroed != cudaSuccess) {
        release(memory);
        fail(zeroed, "cudaMemset");
    }
    return memory;
}

void release(void* memory) {
    cudaFree(memory);
}

void* allocate_pinned(std::size_t bytes, const char* name) {
    void* memory = nullptr;
    const cudaError_t status = cudaHostAlloc(&memory, bytes == 0 ? 1 : bytes, cudaHostAllocDefault);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        throw Error(ErrorKind::memory,
                    "no " + std::to_string(bytes) + " bytes of host memory could be page-locked for " + name,
                    "raise the limit of locked memory (ulimit -l), or lower the batch size");
    }
    check(status, "cudaHostAlloc");
    std::memset(memory, 0, bytes);
    return memory;
}

void release_pinned(void* memory) {
    cudaFreeHost(memory);
}

void copy_to_device(Exec& exec, void* to, const void* from, std::size_t bytes) {
    refuse_while_recording(exec, "a copy from the host");
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_of(exec)), "a copy to the GPU");
}

void copy_to_host(Exec& exec, void* to, const void* from, std::size_t bytes) {
    refuse_while_recording(exec, "a copy to the host");
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_of(exec)), "a copy from the GPU");
    synchronise(exec);
}

void start_copy_to_host(Exec& exec, void* to, const void* from, std::size_t bytes) {
    refuse_while_recording(exec, "a copy to the host");
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_of(exec)), "a copy from the GPU");
}

void synchronise(Exec& exec) {
    refuse_while_recording(exec, "a wait");
    check(cudaStreamSynchronize(stream_of(exec)), "waiting for the GPU");
}

Event::Event() {
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "cudaEventCreate");
    event_ = event;
}

Event::~Event() {
    cudaEventDestroy(static_cast<cudaEvent_t>(event_));
}

void Event::record(Exec& exec) {
    check(cudaEventRecord(static_cast<cudaEvent_t>(event_), stream_of(exec)), "cudaEventRecord");
}

void Event::wait() const {
    check(cudaEventSynchronize(static_cast<cudaEvent_t>(event_)), "waiting for the GPU");
}

double seconds_between(const Event& first, const Event& last) {
    first.wait();
    last.wait();
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(first.event_),
                               static_cast<cudaEvent_t>(last.event_)),
          "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
}

std::int64_t l2_cache_bytes() {
    int device = 0, bytes = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
    return bytes;
}

void copy_on_device(Exec& exec, void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_of(exec)), "a copy on the GPU");
}

void fill_bytes(Exec& exec, void* memory, unsigned char value, std::size_t bytes) {
    check(cudaMemsetAsync(memory, value, bytes, stream_of(exec)), "cudaMemsetAsync");
}

}  // namespace deft::kernels::cuda
