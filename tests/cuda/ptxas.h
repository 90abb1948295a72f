#pragma once
// What `ptxas -v` says of compiled kernels.

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
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
};

// "attend<float, Tile<32> >" of a symbol: without namespaces of this project and without parameters.
inline std::string kernel_name(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                      std::free);
    if (status != 0) return symbol;
    const std::regex namespaces(R"(deft::kernels::(cuda::)?|\(anonymous namespace\)::|_GLOBAL__N__\w+::|^void )");
    const std::string name = std::regex_replace(std::string(text.get()), namespaces, "");
    return name.substr(0, name.find('('));
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
        if (std::regex_search(line, match, entry)) kernels.push_back({kernel_name(match[1]), match[2]});
        if (kernels.empty()) continue;
        KernelUse& kernel = kernels.back();
        if (std::regex_search(line, match, spills)) kernel.spill_bytes += std::stoi(match[1]) + std::stoi(match[2]);
        if (!std::regex_search(line, match, registers)) continue;
        kernel.registers = std::stoi(match[1]);
        if (std::regex_search(line, match, shared)) kernel.shared_bytes = std::stoi(match[1]);
    }
    return kernels;
}

// Why a kernel is beyond what it may use; empty when it is not.
inline std::string beyond_budget(const KernelUse& kernel) {
    // Two blocks of 256 threads, our largest, share the 65536 registers of a multiprocessor.
    constexpr int kMostRegisters = 65536 / (2 * 256);
    constexpr int kMostShared = 48 << 10;
    if (kernel.spill_bytes != 0) return fmt::format("spills {} bytes of registers", kernel.spill_bytes);
    if (kernel.registers == 0) return "ptxas told no count of registers";
    if (kernel.registers > kMostRegisters)
        return fmt::format("uses {} registers, more than {}", kernel.registers, kMostRegisters);
    if (kernel.shared_bytes > kMostShared)
        return fmt::format("uses {} bytes of static shared memory, more than {}", kernel.shared_bytes, kMostShared);
    return {};
}

}  // namespace deft::test
