// nvcc compiles every .cu, those of the real device too, and what its kernels use stays within budget.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/cuda/children.h"
#include "tests/cuda/kernel_sources.h"
#include "tests/cuda/ptxas.h"

namespace deft::test {
namespace {

// Version 12 or newer, or empty. CUDACXX names the only candidate where it is set.
std::string find_nvcc() {
    const char* named = std::getenv("CUDACXX");
    const std::vector<std::string> candidates =
        named != nullptr ? std::vector<std::string>{named} : std::vector<std::string>{"nvcc", "/usr/local/cuda/bin/nvcc"};
    for (const std::string& nvcc : candidates) {
        try {
            const std::string text = run_process({nvcc, "--version"}).out;
            std::smatch match;
            if (std::regex_search(text, match, std::regex(R"(release (\d+)\.)")) && std::stoi(match[1]) >= 12)
                return nvcc;
        } catch (const Error&) {
        }
    }
    return {};
}

// The headers of the runtime and of cuBLASLt come in packages of their own, beside nvcc's.
bool lacks_header(const std::string& nvcc, const std::string& header) {
    const TemporaryFolder folder;
    const std::string probe = (folder.path() / "probe.cu").string();
    std::ofstream(probe) << "#include <" << header << ">\n";
    return run_process({nvcc, "-E", probe}).exit_code != 0;
}

// Why nothing that includes these headers can be compiled here; empty when it can.
std::string lacking(const std::string& nvcc, const std::vector<std::string>& headers) {
    if (nvcc.empty()) return "there is no nvcc of version 12 or newer";
    for (const std::string& header : headers)
        if (lacks_header(nvcc, header)) return nvcc + " is here without " + header;
    return {};
}

constexpr const char* kBlasHeader = "cublasLt.h";

// The sources that call cuBLASLt, or the others.
std::vector<SourceFile> sources(bool calls_blas) {
    std::vector<SourceFile> chosen;
    for (const char* folder : {"kernels/cuda", "kernels/bench/cuda"})
        for (SourceFile& file : source_files(folder, {".cu"})) {
            const bool calls = std::any_of(file.lines.begin(), file.lines.end(), [](const std::string& line) {
                return line.find(std::string("#include <") + kBlasHeader) == 0;
            });
            if (calls == calls_blas) chosen.push_back(std::move(file));
        }
    return chosen;
}

// Compiles each for sm_80 and sm_90, and checks and prints what its kernels use. Their names, by architecture.
std::map<std::string, std::set<std::string>> compile(const std::string& nvcc, const std::vector<SourceFile>& files) {
    const TemporaryFolder objects;
    std::vector<Command> commands;
    for (const SourceFile& file : files) {
        const std::string object = (objects.path() / std::filesystem::path(file.path).stem()).string() + ".o";
        commands.push_back({nvcc, "-std=c++20", "-O3", "-DDEFT_CUDA", "-I", DEFT_SOURCE_DIR,
                            "-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90", "-Xptxas=-v",
                            "-Werror=all-warnings", "-c", DEFT_SOURCE_DIR "/" + file.path, "-o", object});
    }
    const std::vector<Ended> ended = run_children(commands);
    std::map<std::string, std::set<std::string>> compiled;
    std::printf("%-72s %6s %9s %6s\n", "kernel", "arch", "registers", "shared");
    for (std::size_t i = 0; i < ended.size(); ++i) {
        INFO(files[i].path << "\n" << ended[i].printed.substr(0, 4000));
        CHECK(ended[i].exit_code == 0);
        for (const KernelUse& kernel : read_ptxas(ended[i].printed)) {
            std::printf("%-72s %6s %9d %6d\n", kernel.kernel.c_str(), kernel.arch.c_str(), kernel.registers,
                        kernel.shared_bytes);
            INFO(kernel.kernel << " for " << kernel.arch);
            CHECK(beyond_budget(kernel) == "");
            compiled[kernel.arch].insert(kernel.kernel.substr(0, kernel.kernel.find('<')));
        }
    }
    return compiled;
}

TEST_CASE("nvcc compiles every kernel for sm_80 and sm_90 without warnings, spills, or use beyond its budget", "[surroundings]") {
    const std::string nvcc = find_nvcc();
    if (const std::string reason = lacking(nvcc, {"cuda_runtime.h"}); !reason.empty()) DEFT_SKIP(reason.c_str());
    std::map<std::string, std::set<std::string>> compiled = compile(nvcc, sources(false));
    for (const char* arch : {"sm_80", "sm_90"})
        for (const auto& [kernel, file] : kernels_in_sources()) {
            INFO(kernel << " of " << file << " was not compiled for " << arch);
            CHECK(compiled[arch].count(kernel) == 1);
        }
}

TEST_CASE("nvcc compiles what calls cuBLASLt without warnings", "[surroundings]") {
    const std::string nvcc = find_nvcc();
    if (const std::string reason = lacking(nvcc, {"cuda_runtime.h", kBlasHeader}); !reason.empty())
        DEFT_SKIP(reason.c_str());
    const std::vector<SourceFile> files = sources(true);
    REQUIRE(files.size() == 1);
    compile(nvcc, files);
}

TEST_CASE("what calls NCCL compiles without warnings", "[surroundings]") {
    const std::string nvcc = find_nvcc();
    if (const std::string reason = lacking(nvcc, {"cuda_runtime.h", "nccl.h"}); !reason.empty()) DEFT_SKIP(reason.c_str());
    const TemporaryFolder objects;
    const Command compile = {nvcc, "-std=c++20", "-O1", "-DDEFT_CUDA", "-I", DEFT_SOURCE_DIR,
                             "-Xcompiler=-Wall,-Wextra,-Werror", "-c", DEFT_SOURCE_DIR "/engine/comm/nccl.cpp", "-o",
                             (objects.path() / "nccl.o").string()};
    const Ended compiled = run_child(compile, objects.path() / "log");
    INFO(compiled.printed);
    CHECK(compiled.exit_code == 0);
}

TEST_CASE("a header that a toolkit lacks is named", "[surroundings]") {
    const std::string nvcc = find_nvcc();
    if (const std::string reason = lacking(nvcc, {"cuda_runtime.h"}); !reason.empty()) DEFT_SKIP(reason.c_str());
    CHECK(lacking(nvcc, {"cuda_runtime.h", "of_no_toolkit.h"}) == nvcc + " is here without of_no_toolkit.h");
    CHECK(lacking("", {}) == "there is no nvcc of version 12 or newer");
}

TEST_CASE("what ptxas prints is read, and what is beyond the budget refused", "[surroundings]") {
    const auto printed = [](int registers, int shared, int spilled) {
        return fmt::format(
            "ptxas info    : 0 bytes gmem\n"
            "ptxas info    : Compiling entry function '_ZN4deft7kernels4cuda3runIfLi4EEEvPT_' for 'sm_90'\n"
            "ptxas info    : Function properties for _ZN4deft7kernels4cuda3runIfLi4EEEvPT_\n"
            "    16 bytes stack frame, {} bytes spill stores, 0 bytes spill loads\n"
            "ptxas info    : Used {} registers, used 1 barriers, {} bytes smem, 432 bytes cmem[0]\n"
            "ptxas info    : Compiling entry function '_ZN4deft7kernels4cuda4idleEv' for 'sm_90'\n"
            "ptxas info    : Used 9 registers, used 0 barriers\n",
            spilled, registers, shared);
    };
    const std::vector<KernelUse> kernels = read_ptxas(printed(79, 1160, 0));
    REQUIRE(kernels.size() == 2);
    CHECK(kernels[0].kernel == "run<float, 4>");
    CHECK(kernels[0].arch == "sm_90");
    CHECK(kernels[0].registers == 79);
    CHECK(kernels[0].shared_bytes == 1160);
    CHECK(kernels[1].kernel == "idle");
    CHECK(kernels[1].registers == 9);
    CHECK(kernels[1].shared_bytes == 0);
    for (const KernelUse& kernel : kernels) CHECK(beyond_budget(kernel) == "");
    CHECK_THAT(beyond_budget(read_ptxas(printed(79, 0, 4))[0]), ContainsSubstring("spills 4 bytes"));
    CHECK_THAT(beyond_budget(read_ptxas(printed(129, 0, 0))[0]), ContainsSubstring("129 registers"));
    CHECK_THAT(beyond_budget(read_ptxas(printed(32, 49153, 0))[0]), ContainsSubstring("49153 bytes"));
    CHECK_THAT(beyond_budget({"unknown", "sm_90"}), ContainsSubstring("no count"));
}

}  // namespace
}  // namespace deft::test
