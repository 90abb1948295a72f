#pragma once
// Loops in the machine code of kernels, as nvdisasm prints it.

#include <algorithm>
#include <cstdio>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cuda/ptxas.h"

namespace deft::test {

struct SassLoop {
    int instructions = 0;
    int mma = 0;    // HMMA: products of tensor cores
    int ldsm = 0;   // fragments read from shared memory
    int local = 0;  // accesses of local memory: spilled registers

    double instructions_per_mma() const { return static_cast<double>(instructions) / mma; }
    double ldsm_per_mma() const { return static_cast<double>(ldsm) / mma; }
};

struct SassKernel {
    std::string kernel;
    std::vector<SassLoop> product_loops;  // that have products and no other such loop inside
    int wide_accesses = 0;                // of global memory, 128 bits each
};

// One kernel's instructions and labels.
struct SassText {
    std::vector<std::string> instructions;
    std::map<std::string, std::size_t> labels;  // to the instruction that follows
};

inline bool is_instruction(const std::string& text, const std::string& name) {
    return text.find(name) != std::string::npos;
}

inline SassLoop count_loop(const SassText& text, std::size_t first, std::size_t last) {
    SassLoop loop;
    for (std::size_t i = first; i <= last; ++i) {
        const std::string& one = text.instructions[i];
        ++loop.instructions;
        loop.mma += is_instruction(one, "HMMA.");
        loop.ldsm += is_instruction(one, "LDSM.");
        loop.local += is_instruction(one, "LDL") || is_instruction(one, "STL");
    }
    return loop;
}

inline std::vector<SassLoop> product_loops(const SassText& text) {
    static const std::regex branch(R"(\bBRA\b.*?(\.L_x_\d+))");
    std::vector<std::pair<std::size_t, std::size_t>> found;
    std::smatch match;
    for (std::size_t i = 0; i < text.instructions.size(); ++i)
        if (std::regex_search(text.instructions[i], match, branch)) {
            const auto label = text.labels.find(match[1]);
            if (label == text.labels.end() || label->second > i) continue;
            if (count_loop(text, label->second, i).mma > 0) found.emplace_back(label->second, i);
        }
    std::vector<SassLoop> loops;
    for (const auto& [first, last] : found) {
        const bool is_innermost =
            std::none_of(found.begin(), found.end(), [&, first = first, last = last](const auto& other) {
                return other.first >= first && other.second <= last && (other.first != first || other.second != last);
            });
        if (is_innermost) loops.push_back(count_loop(text, first, last));
    }
    return loops;
}

inline std::vector<SassKernel> read_sass(const std::string& printed) {
    static const std::regex section(R"(^\s*\.section\s+\.text\.(\w+))"), label(R"(^\s*(\.L_x_\d+):)");
    static const std::regex instruction(R"(^\s+/\*[0-9a-f]+\*/\s+(.*?);)");
    std::vector<SassKernel> kernels;
    SassText text;
    const auto finish = [&] {
        if (kernels.empty()) return;
        kernels.back().product_loops = product_loops(text);
        for (const std::string& one : text.instructions)
            kernels.back().wide_accesses +=
                (is_instruction(one, "LDG") || is_instruction(one, "STG")) && is_instruction(one, ".128");
        text = {};
    };
    std::istringstream lines(printed);
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_search(line, match, section)) {
            finish();
            kernels.push_back({kernel_name(match[1]), {}, 0});
        } else if (std::regex_search(line, match, label)) {
            text.labels[match[1]] = text.instructions.size();
        } else if (std::regex_search(line, match, instruction)) {
            text.instructions.push_back(match[1]);
        }
    }
    finish();
    return kernels;
}

}  // namespace deft::test
