#include "sweeps/driver/provenance.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <omp.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "base/controls.h"
#include "base/error.h"
#include "base/process.h"
#include "base/sha256.h"
#include "base/usable_machine.h"
#include "engine/core/backend.h"
#include "kernels/cpu/gemm.h"
#include "sweeps/driver/foreign_json.h"
#include "sweeps/driver/redact.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDiffBytes = 1 << 20;
constexpr std::size_t kMostUntrackedFiles = 1000;
constexpr std::uintmax_t kMostUntrackedBytes = 16 << 20;

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\r' || text.back() == '\t'))
        text.pop_back();
    const std::size_t start = text.find_first_not_of(" \t");
    return start == std::string::npos ? "" : text.substr(start);
}

ProcessOutput git(const fs::path& folder, const std::vector<std::string>& arguments) {
    try {
        return run_process(git_command(folder, arguments));
    } catch (const Error&) {
        return {127, ""};
    }
}

// Cut between lines, since half a secret would not be recognised as one.
std::string_view first_lines(std::string_view text, std::size_t most_bytes) {
    if (text.size() <= most_bytes) return text;
    return text.substr(0, text.substr(0, most_bytes).rfind('\n') + 1);
}

std::string untracked_files_digest(const fs::path& folder, const std::string& names) {
    std::string digest;
    std::size_t count = 0;
    std::uintmax_t bytes = 0;
    std::istringstream in(names);
    for (std::string name; std::getline(in, name, '\0') && count < kMostUntrackedFiles; ++count) {
        std::error_code error;
        const std::uintmax_t size = fs::is_regular_file(folder / name, error) ? fs::file_size(folder / name, error) : 0;
        std::string content = "-";
        if (!error && bytes + size <= kMostUntrackedBytes) {
            bytes += size;
            try {
                content = sha256_file(folder / name);
            } catch (const Error&) {
            }
        }
        digest += fmt::format("{} {} {}\n", content, size, name);
    }
    return digest;
}

std::string field_of(const std::string& file, const std::string& key, char separator) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const std::size_t at = line.find(separator);
        if (at == std::string::npos || trimmed(line.substr(0, at)) != key) continue;
        std::string value = trimmed(line.substr(at + 1));
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
        return value;
    }
    return "";
}

std::int64_t physical_cores() {
    std::ifstream in("/proc/cpuinfo");
    std::set<std::pair<std::string, std::string>> cores;
    std::string package;
    for (std::string line; std::getline(in, line);) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::string key = trimmed(line.substr(0, colon));
        if (key == "physical id") package = trimmed(line.substr(colon + 1));
        if (key == "core id") cores.emplace(package, trimmed(line.substr(colon + 1)));
    }
    return cores.empty() ? usable_cores() : static_cast<std::int64_t>(cores.size());
}

// The file that the loader took a function from, links followed, as in "libgomp.so.1.0.0": OpenMP runtimes report no
// version.
std::string file_of(const void* function) {
    Dl_info info{};
    if (::dladdr(function, &info) == 0 || info.dli_fname == nullptr) return "unknown";
    std::error_code error;
    const fs::path file = fs::canonical(info.dli_fname, error);
    return error ? "unknown" : file.filename().string();
}

}  // namespace

std::string version_text() {
    return "deft " DEFT_VERSION " (" DEFT_COMPILER ", " DEFT_BUILD_TYPE ")";
}

std::vector<std::string> git_command(const fs::path& folder, const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = {
        "git", "-C", folder.string(), "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
}

results_db::Code describe_code(Diff keep, const std::optional<fs::path>& folder) {
    results_db::Code code;
    code.git_sha = "unknown";
    code.compiler = DEFT_COMPILER;
    code.cxx_flags = DEFT_CXX_FLAGS;
    code.build_type = DEFT_BUILD_TYPE;
    try {
        code.binary_sha256 = sha256_file("/proc/self/exe");
    } catch (const Error&) {
    }
    if (!folder) return code;
    if (std::ifstream installed(*folder / "commit"); installed) {  // as cmake --install left it: HASH or HASH-dirty
        std::getline(installed, code.git_sha);
        code.dirty = code.git_sha.ends_with("-dirty");
        code.git_sha = code.git_sha.substr(0, code.git_sha.find('-'));
        return code;
    }
    const ProcessOutput head = git(*folder, {"rev-parse", "HEAD"});
    if (head.exit_code != 0) return code;
    code.git_sha = trimmed(head.out);
    // A branch may have any bytes as its name.
    code.git_branch = without_controls(trimmed(git(*folder, {"rev-parse", "--abbrev-ref", "HEAD"}).out), '?');
    const std::string diff = git(*folder, {"diff", "--no-ext-diff", "--no-textconv", "HEAD"}).out;
    const std::string untracked =
        untracked_files_digest(*folder, git(*folder, {"ls-files", "-z", "--others", "--exclude-standard"}).out);
    code.dirty = !diff.empty() || !untracked.empty();
    if (code.dirty) {
        code.diff_sha256 = sha256(diff + '\0' + untracked);
        if (keep == Diff::text) code.diff = without_secrets(first_lines(diff, kMostDiffBytes));
    }
    return code;
}

std::string current_commit(const std::optional<fs::path>& folder) {
    if (!folder) return "unknown";
    std::string commit;
    if (std::ifstream installed(*folder / "commit"); std::getline(installed, commit))
        return commit.substr(0, commit.find('-'));
    const ProcessOutput head = git(*folder, {"rev-parse", "HEAD"});
    return head.exit_code == 0 ? trimmed(head.out) : "unknown";
}

results_db::Host describe_host() {
    results_db::Host host;
    struct utsname name {};
    if (::uname(&name) == 0) {
        host.hostname = name.nodename;
        host.arch = name.machine;
        host.kernel = fmt::format("{} {}", name.sysname, name.release);
    }
    host.cpu_model = field_of("/proc/cpuinfo", "model name", ':');
    if (host.cpu_model.empty()) host.cpu_model = "unknown";
    host.threads = usable_cores();
    host.cores = std::min(physical_cores(), host.threads);
    struct sysinfo info {};
    if (::sysinfo(&info) == 0)
        host.mem_bytes = static_cast<std::int64_t>(info.totalram) * static_cast<std::int64_t>(info.mem_unit);
    host.os = field_of("/etc/os-release", "PRETTY_NAME", '=');

    Json extra = Json::object();
    Json isa = Json::array();
    if (__builtin_cpu_supports("avx2")) isa.push_back("avx2");
    if (__builtin_cpu_supports("fma")) isa.push_back("fma");
    if (__builtin_cpu_supports("avx512f")) isa.push_back("avx512f");
    extra["isa"] = isa;
    for (const engine::Gpu& gpu : engine::usable_gpus()) extra["gpus"].push_back(gpu.name);
    if (extra.contains("gpus")) extra["cuda"] = engine::gpu_versions();
    host.extra_json = canonical_json(extra);
    return host;
}

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

Json code_json(const results_db::Code& code) {
    return {{"git_sha", code.git_sha},         {"git_branch", code.git_branch},      {"dirty", code.dirty},
            {"diff_sha256", code.diff_sha256}, {"compiler", code.compiler},          {"cxx_flags", code.cxx_flags},
            {"build_type", code.build_type},   {"binary_sha256", code.binary_sha256}};
}

Json host_json(const results_db::Host& host) {
    return {{"hostname", host.hostname}, {"arch", host.arch},       {"cpu_model", host.cpu_model},
            {"cores", host.cores},       {"threads", host.threads}, {"mem_bytes", host.mem_bytes},
            {"kernel", host.kernel},     {"os", host.os},           {"extra", parse_json(host.extra_json)}};
}

results_db::Code code_of(const Json& json) {
    results_db::Code code;
    code.git_sha = text_of(json, "git_sha");
    if (code.git_sha.empty()) code.git_sha = "unknown";
    code.git_branch = text_of(json, "git_branch");
    code.diff_sha256 = text_of(json, "diff_sha256");
    code.dirty = !code.diff_sha256.empty();
    code.binary_sha256 = text_of(json, "binary_sha256");
    code.compiler = text_of(json, "compiler");
    code.cxx_flags = text_of(json, "cxx_flags");
    code.build_type = text_of(json, "build_type");
    return code;
}

results_db::Host host_of(const Json& json) {
    results_db::Host host;
    host.hostname = text_of(json, "hostname", "unknown");
    host.arch = text_of(json, "arch", "unknown");
    host.cpu_model = text_of(json, "cpu_model", "unknown");
    host.cores = count_of(json, "cores");
    host.threads = count_of(json, "threads");
    host.mem_bytes = count_of(json, "mem_bytes");
    host.kernel = text_of(json, "kernel");
    host.os = text_of(json, "os");
    if (json.is_object() && json.contains("extra") && json["extra"].is_object())
        host.extra_json = canonical_json(json["extra"]);
    return host;
}

}  // namespace deft::sweeps
