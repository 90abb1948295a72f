#include "sweeps/driver/libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <omp.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>

#include "base/json.h"
#include "kernels/cpu/gemm.h"

namespace deft::sweeps {

namespace {

// The file that the loader took a function from, links followed, as in "libgomp.so.1.0.0": OpenMP runtimes tell no
// version.
std::string file_of(const void* function) {
    Dl_info info{};
    if (::dladdr(function, &info) == 0 || info.dli_fname == nullptr) return "unknown";
    std::error_code error;
    const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
    return error ? "unknown" : file.filename().string();
}

}  // namespace

Json libraries_json() {
    const std::string gemm = kernels::cpu::gemm_library();  // "oneDNN 2.6.3"
    const std::size_t space = gemm.rfind(' ');
    return {{gemm.substr(0, space), space == std::string::npos ? "unknown" : gemm.substr(space + 1)},
            {"libc", fmt::format("glibc {}", gnu_get_libc_version())},
            {"OpenMP", fmt::format("{} ({})", file_of(reinterpret_cast<const void*>(&omp_get_max_threads)), _OPENMP)},
            {"compiler", DEFT_COMPILER},
            {"SQLite", sqlite3_libversion()},
            {"OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING)},
            {"zlib", zlibVersion()},
            {"zstd", ZSTD_versionString()},
            {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)}};
}

}  // namespace deft::sweeps
