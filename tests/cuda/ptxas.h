#pragma once
// Registers of compiled kernels as `ptxas -v` prints them, and their launch bounds in PTX.

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace deft::test {

struct KernelUse {
    std::string kernel, arch;
    int registers = 0;     // a thread
    int shared_bytes = 0;  // static, a block
    int spill_bytes = 0;   // stores and loads
    std::string symbol;
};

// How many threads of a block and blocks of a multiprocessor a kernel states; 0 where it does not.
struct LaunchBounds {
    int threads = 0, blocks = 0;
};

// "attend<float, Tile<32> >" of a symbol: without namespaces of this project and without parameters.
inline std::string kernel_name(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                      std::free);
    if (status != 0) return symbol;
    const std::regex namespaces(R"(deft::kernels::(cuda::)?|\(anonymous namespace\)::|_GLOBAL__N__\w+::|^void )");
    const std::string name = std::regex_replace(std::string(text.get()), namespaces, "");
    int depth = 0;  // of template arguments, which may have parentheses
    std::size_t end = 0;
    while (end < name.size() && (depth > 0 || name[end] != '(')) {
        depth += (name[end] == '<' ? 1 : 0) - (name[end] == '>' ? 1 : 0);
        ++end;
    }
    return name.substr(0, end);
}

// One entry a kernel and architecture. Spills of functions that a kernel calls count as its own.
inline std::vector<KernelUse> read_ptxas(const std::string& printed) {
    const std::regex entry(R"(Compiling entry function '(\w+)' for '(\w+)')");
    const std::regex spills(R"((\d+) bytes spill stores, (\d+) bytes spill loads)");
    const std::regex registers(R"(Used (\d+) registers)"), shared(R"((\d+) bytes smem)");
    std::vector<KernelUse> kernels;
    std::istringstream lines(printed);
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_search(line, match, entry))
            kernels.push_back({.kernel = kernel_name(match[1]), .arch = match[2], .symbol = match[1]});
        if (kernels.empty()) continue;
        KernelUse& kernel = kernels.back();
        if (std::regex_search(line, match, spills)) kernel.spill_bytes += std::stoi(match[1]) + std::stoi(match[2]);
        if (!std::regex_search(line, match, registers)) continue;
        kernel.registers = std::stoi(match[1]);
        if (std::regex_search(line, match, shared)) kernel.shared_bytes = std::stoi(match[1]);
    }
    return kernels;
}

// Launch bounds by symbol.
inline std::map<std::string, LaunchBounds> read_launch_bounds(const std::string& ptx) {
    const std::regex entry(R"(\.entry (\w+))"), threads(R"(^\.maxntid (\d+))"), blocks(R"(^\.minnctapersm (\d+))");
    std::map<std::string, LaunchBounds> bounds;
    std::string symbol;
    std::istringstream lines(ptx);
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_search(line, match, entry)) symbol = match[1];
        if (std::regex_search(line, match, threads)) bounds[symbol].threads = std::stoi(match[1]);
        if (std::regex_search(line, match, blocks)) bounds[symbol].blocks = std::stoi(match[1]);
    }
    return bounds;
}

// The 65536 registers of a multiprocessor, shared by the threads that a kernel states; where it states none, by two
// blocks of 256 threads.
inline int most_registers(const LaunchBounds& bounds) {
    constexpr int kRegisters = 65536, kMostOfThread = 255, kGrain = 8;
    const int threads = bounds.threads == 0 ? 256 : bounds.threads;
    const int blocks = bounds.blocks != 0 ? bounds.blocks : bounds.threads == 0 ? 2 : 1;
    return std::min(kMostOfThread, kRegisters / (threads * blocks) / kGrain * kGrain);
}

// How many bytes a kernel may spill outside its loops of products, which spill none: the test of loops holds that.
inline int spills_outside_loops(const std::string& kernel) {
    const std::map<std::string, int> most = {{"key_gradients_on_tensor_cores", 160},
                                             {"query_gradients_on_tensor_cores", 64}};
    const auto found = most.find(kernel.substr(0, kernel.find('<')));
    return found == most.end() ? 0 : found->second;
}

// Why a kernel is beyond what it may use; empty when it is not.
inline std::string beyond_budget(const KernelUse& kernel, const LaunchBounds& bounds = {}) {
    constexpr int kMostShared = 48 << 10;
    if (kernel.spill_bytes > spills_outside_loops(kernel.kernel))
        return fmt::format("spills {} bytes of registers", kernel.spill_bytes);
    if (kernel.registers == 0) return "ptxas gave no count of registers";
    if (kernel.registers > most_registers(bounds))
        return fmt::format("uses {} registers, more than {}", kernel.registers, most_registers(bounds));
    if (kernel.shared_bytes > kMostShared)
        return fmt::format("uses {} bytes of static shared memory, more than {}", kernel.shared_bytes, kMostShared);
    return {};
}

}  // namespace deft::test
