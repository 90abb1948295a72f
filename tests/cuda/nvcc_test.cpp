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
#include "tests/cuda/sass.h"

namespace deft::test {
namespace {

// Version 12 or newer, or empty. CUDACXX names the only candidate where it is set.
std::string find_nvcc() {
    const char* named = std::getenv("CUDACXX");
    const std::vector<std::string> candidates = named != nullptr
                                                    ? std::vector<std::string>{named}
                                                    : std::vector<std::string>{"nvcc", "/usr/local/cuda/bin/nvcc"};
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
    if (nvcc.empty()) return "no nvcc of version 12 or newer";
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

// The launch bounds that the PTX files of a folder have.
std::map<std::string, LaunchBounds> bounds_in(const std::filesystem::path& folder) {
    std::map<std::string, LaunchBounds> bounds;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".ptx") bounds.merge(read_launch_bounds(read_text(entry.path())));
    return bounds;
}

// Compiles each for sm_80 and sm_90, and checks and prints what its kernels use. Their names, by architecture.
std::map<std::string, std::set<std::string>> compile(const std::string& nvcc, const std::vector<SourceFile>& files) {
    const TemporaryFolder objects;
    std::vector<Command> commands;
    for (const SourceFile& file : files) {
        const std::filesystem::path kept = objects.path() / std::filesystem::path(file.path).stem();
        std::filesystem::create_directory(kept);
        commands.push_back({nvcc, "-std=c++20", "-O3", "-DDEFT_CUDA", "-I", DEFT_SOURCE_DIR,
                            "-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90", "-Xptxas=-v",
                            "-Werror=all-warnings", "-keep", "-keep-dir", kept.string(), "-c",
                            DEFT_SOURCE_DIR "/" + file.path, "-o", (kept / "object.o").string()});
    }
    const std::vector<Ended> ended = run_children(commands);
    std::map<std::string, std::set<std::string>> compiled;
    std::printf("%-72s %6s %9s %6s\n", "kernel", "arch", "registers", "shared");
    for (std::size_t i = 0; i < ended.size(); ++i) {
        INFO(files[i].path << "\n" << ended[i].printed.substr(0, 4000));
        CHECK(ended[i].exit_code == 0);
        const auto bounds = bounds_in(objects.path() / std::filesystem::path(files[i].path).stem());
        for (const KernelUse& kernel : read_ptxas(ended[i].printed)) {
            std::printf("%-72s %6s %9d %6d\n", kernel.kernel.c_str(), kernel.arch.c_str(), kernel.registers,
                        kernel.shared_bytes);
            INFO(kernel.kernel << " for " << kernel.arch);
            const auto stated = bounds.find(kernel.symbol);
            CHECK(beyond_budget(kernel, stated == bounds.end() ? LaunchBounds{} : stated->second) == "");
            compiled[kernel.arch].insert(kernel.kernel.substr(0, kernel.kernel.find('<')));
        }
    }
    return compiled;
}

TEST_CASE("nvcc compiles every kernel for sm_80 and sm_90 without warnings, spills, or use beyond its budget",
          "[slow][bare]") {
    const std::string nvcc = find_nvcc();
    if (const std::string reason = lacking(nvcc, {"cuda_runtime.h"}); !reason.empty()) DEFT_SKIP(reason.c_str());
    std::map<std::string, std::set<std::string>> compiled = compile(nvcc, sources(false));
    for (const char* arch : {"sm_80", "sm_90"})
        for (const auto& [kernel, file] : kernels_in_sources()) {
            INFO(kernel << " of " << file << " was not compiled for " << arch);
            CHECK(compiled[arch].count(kernel) == 1);
        }
}

// The disassembler of NVIDIA's package nvidia-cuda-nvdisasm or a toolkit. DEFT_NVDISASM names the only candidate where
// it is set. Empty: none was found.
std::string find_nvdisasm() {
    const char* named = std::getenv("DEFT_NVDISASM");
    const std::vector<std::string> candidates =
        named != nullptr ? std::vector<std::string>{named}
                         : std::vector<std::string>{"nvdisasm", "/usr/local/cuda/bin/nvdisasm"};
    for (const std::string& candidate : candidates) {
        try {
            if (run_process({candidate, "--version"}).exit_code == 0) return candidate;
        } catch (const Error&) {
        }
    }
    return {};
}

// Kernels whose loops of products are held to a count: all instructions and fragment loads per product of the loop that
// has the fewest, for sm_90. It is the loop without masks, where a long sequence spends its time.
struct HotLoop {
    const char* kernel;
    double instructions, fragments;
};
constexpr HotLoop kHotLoops[] = {
    {"attend_on_tensor_cores<TensorTile<64, 2, 64, 4, false, (RowsOfTile)0> >", 4.82, 0.25},
    {"attend_on_tensor_cores<TensorTile<128, 1, 64, 8, false, (RowsOfTile)0> >", 3.72, 0.50},
    {"attend_on_tensor_cores<TensorTile<64, 1, 64, 4, true, (RowsOfTile)0> >", 14.30, 0.50},
    {"attend_on_tensor_cores<TensorTile<128, 1, 32, 4, true, (RowsOfTile)0> >", 13.92, 0.50},
    {"key_gradients_on_tensor_cores<TensorTile<64, 1, 64, 4, false, (RowsOfTile)0> >", 3.36, 0.50},
    {"key_gradients_on_tensor_cores<TensorTile<128, 1, 32, 4, false, (RowsOfTile)1> >", 2.94, 0.62},
    {"key_gradients_on_tensor_cores<TensorTile<64, 1, 32, 4, true, (RowsOfTile)1> >", 8.91, 0.62},
    {"key_gradients_on_tensor_cores<TensorTile<128, 1, 32, 4, true, (RowsOfTile)1> >", 5.53, 0.62},
    {"query_gradients_on_tensor_cores<TensorTile<64, 2, 64, 4, false, (RowsOfTile)1> >", 2.96, 0.33},
    {"query_gradients_on_tensor_cores<TensorTile<128, 1, 32, 4, false, (RowsOfTile)0> >", 2.80, 0.50},
    {"query_gradients_on_tensor_cores<TensorTile<64, 1, 64, 4, true, (RowsOfTile)1> >", 9.26, 0.58},
    {"query_gradients_on_tensor_cores<TensorTile<128, 1, 32, 4, true, (RowsOfTile)1> >", 9.02, 0.67},
    {"multiply_on_tensor_cores<(Along)0, (Along)0, float>", 2.27, 0.25},
    {"multiply_on_tensor_cores<(Along)0, (Along)1, float>", 2.23, 0.25},
    {"multiply_on_tensor_cores<(Along)1, (Along)1, float>", 2.30, 0.25},
    {"multiply_on_tensor_cores<(Along)0, (Along)0, bf16>", 2.27, 0.25},
    {"multiply_on_tensor_cores<(Along)0, (Along)1, bf16>", 2.23, 0.25},
    {"multiply_on_tensor_cores<(Along)1, (Along)1, bf16>", 2.30, 0.25},
    {"grouped_products_on_tensor_cores", 2.36, 0.25},
    {"grouped_input_gradients_on_tensor_cores", 2.41, 0.25},
    {"grouped_weight_gradients_on_tensor_cores", 2.42, 0.25},
};

TEST_CASE("loops of products on tensor cores keep their instructions, and none spills registers", "[slow][bare]") {
    const std::string nvcc = find_nvcc(), nvdisasm = find_nvdisasm();
    if (const std::string reason = lacking(nvcc, {"cuda_runtime.h"}); !reason.empty()) DEFT_SKIP(reason.c_str());
    if (nvdisasm.empty()) DEFT_SKIP("nvdisasm was not found");
    const TemporaryFolder folder;
    std::vector<Command> compilations, disassemblies;
    for (const SourceFile& file : sources(false)) {
        const std::string name = std::filesystem::path(file.path).stem().string();
        if (name.find("tensor") == std::string::npos) continue;
        const std::string cubin = (folder.path() / (name + ".cubin")).string();
        compilations.push_back({nvcc, "-std=c++20", "-O3", "-DDEFT_CUDA", "-I", DEFT_SOURCE_DIR, "-arch=sm_90",
                                "-cubin", DEFT_SOURCE_DIR "/" + file.path, "-o", cubin});
        disassemblies.push_back({nvdisasm, cubin});
    }
    for (const Ended& one : run_children(compilations)) REQUIRE(one.exit_code == 0);
    std::map<std::string, std::vector<SassLoop>> loops;
    for (const Ended& one : run_children(disassemblies)) {
        REQUIRE(one.exit_code == 0);
        for (const SassKernel& kernel : read_sass(one.printed))
            if (!kernel.product_loops.empty()) loops[kernel.kernel] = kernel.product_loops;
    }
    std::printf("%-84s %6s %12s %6s\n", "kernel", "HMMA", "instructions", "LDSM");
    for (const auto& [kernel, of_kernel] : loops) {
        INFO(kernel);
        for (const SassLoop& loop : of_kernel) CHECK(loop.local == 0);
        const SassLoop& fewest = *std::min_element(
            of_kernel.begin(), of_kernel.end(),
            [](const auto& a, const auto& b) { return a.instructions_per_mma() < b.instructions_per_mma(); });
        std::printf("%-84s %6d %12.2f %6.2f\n", kernel.c_str(), fewest.mma, fewest.instructions_per_mma(),
                    fewest.ldsm_per_mma());
        const auto held = std::find_if(std::begin(kHotLoops), std::end(kHotLoops),
                                       [&, &kernel = kernel](const HotLoop& one) { return one.kernel == kernel; });
        CHECK(held != std::end(kHotLoops));
        if (held == std::end(kHotLoops)) continue;
        CHECK(fewest.instructions_per_mma() == Approx(held->instructions).epsilon(0.05));
        CHECK(fewest.ldsm_per_mma() == Approx(held->fragments).epsilon(0.05));
    }
    for (const HotLoop& held : kHotLoops) {
        INFO(held.kernel << " has no loop of products");
        CHECK(loops.count(held.kernel) == 1);
    }
}

TEST_CASE("loops of machine code are found, the innermost with products", "[bare]") {
    const std::vector<SassKernel> kernels = read_sass(
        "\t.section\t.text._ZN4deft7kernels4cuda4idleEv,\"ax\"\n"
        "        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;\n"
        "\t.section\t.text._ZN4deft7kernels4cuda3runIfLi4EEEvPT_,\"ax\"\n"
        "        /*0000*/                   STL [R1], R0 ;\n"
        ".L_x_1:\n"
        "        /*0010*/                   IADD3 R0, R0, 0x1, RZ ;\n"
        ".L_x_0:\n"
        "        /*0020*/                   LDSM.16.M88.4 R4, [R8] ;\n"
        "        /*0030*/                   HMMA.16816.F32.BF16 R12, R4, R8, R12 ;\n"
        "        /*0040*/                   HMMA.16816.F32.BF16 R16, R4, R9, R16 ;\n"
        "        /*0050*/              @!P0 BRA `(.L_x_0) ;\n"
        "        /*0060*/                   LDL R0, [R1] ;\n"
        "        /*0070*/               @P1 BRA `(.L_x_1) ;\n"
        "        /*0080*/                   BRA `(.L_x_9) ;\n");
    REQUIRE(kernels.size() == 2);
    CHECK(kernels[0].kernel == "idle");
    CHECK(kernels[0].product_loops.empty());
    CHECK(kernels[0].wide_accesses == 1);
    CHECK(kernels[1].kernel == "run<float, 4>");
    REQUIRE(kernels[1].product_loops.size() == 1);
    const SassLoop& loop = kernels[1].product_loops[0];
    CHECK(loop.instructions == 4);
    CHECK(loop.mma == 2);
    CHECK(loop.ldsm == 1);
    CHECK(loop.local == 0);
}

TEST_CASE("nvcc compiles what calls cuBLASLt without warnings", "[bare]") {
    const std::string nvcc = find_nvcc();
    if (const std::string reason = lacking(nvcc, {"cuda_runtime.h", kBlasHeader}); !reason.empty())
        DEFT_SKIP(reason.c_str());
    const std::vector<SourceFile> files = sources(true);
    REQUIRE(files.size() == 1);
    compile(nvcc, files);
}

TEST_CASE("what calls NCCL compiles without warnings", "[bare]") {
    const std::string nvcc = find_nvcc();
    if (const std::string reason = lacking(nvcc, {"cuda_runtime.h", "nccl.h"}); !reason.empty())
        DEFT_SKIP(reason.c_str());
    const TemporaryFolder objects;
    const Command compile = {nvcc,
                             "-std=c++20",
                             "-O1",
                             "-DDEFT_CUDA",
                             "-I",
                             DEFT_SOURCE_DIR,
                             "-Xcompiler=-Wall,-Wextra,-Werror",
                             "-c",
                             DEFT_SOURCE_DIR "/engine/comm/nccl.cpp",
                             "-o",
                             (objects.path() / "nccl.o").string()};
    const Ended compiled = run_child(compile, objects.path() / "log");
    INFO(compiled.printed);
    CHECK(compiled.exit_code == 0);
}

TEST_CASE("a header that a toolkit lacks is named", "[bare]") {
    const std::string nvcc = find_nvcc();
    if (const std::string reason = lacking(nvcc, {"cuda_runtime.h"}); !reason.empty()) DEFT_SKIP(reason.c_str());
    CHECK(lacking(nvcc, {"cuda_runtime.h", "of_no_toolkit.h"}) == nvcc + " is here without of_no_toolkit.h");
    CHECK(lacking("", {}) == "no nvcc of version 12 or newer");
}

TEST_CASE("what ptxas prints is read, and what is beyond the budget refused", "[bare]") {
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
    CHECK_THAT(beyond_budget({.kernel = "unknown", .arch = "sm_90", .symbol = ""}), ContainsSubstring("no count"));
    // Launch bounds replace the common limit.
    const std::map<std::string, LaunchBounds> bounds = read_launch_bounds(
        ".visible .entry _ZN3oneEv(\n)\n.maxntid 128, 1, 1\n.minnctapersm 2\n{\n"
        ".visible .entry _ZN3twoEv(\n)\n.maxntid 512, 1, 1\n{\n.entry _ZN5threeEv(\n)\n{\n");
    REQUIRE(bounds.size() == 2);
    CHECK(most_registers(bounds.at("_ZN3oneEv")) == 255);
    CHECK(most_registers(bounds.at("_ZN3twoEv")) == 128);
    CHECK(most_registers({}) == 128);
    CHECK(most_registers({256, 4}) == 64);
    CHECK_THAT(beyond_budget(read_ptxas(printed(65, 0, 0))[0], {256, 4}), ContainsSubstring("65 registers"));
    CHECK(beyond_budget(read_ptxas(printed(250, 0, 0))[0], {128, 2}) == "");
}

}  // namespace
}  // namespace deft::test
