#pragma once
// Contents of the kernels' sources: found as text, so that nothing can be forgotten.

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/cuda/emulator/emulator.h"

namespace deft::test {

struct SourceFile {
    std::string path;  // in the tree
    std::vector<std::string> lines;
};

// The files below a folder of the tree (without their own subfolders where not `deep`) whose names end so.
inline std::vector<SourceFile> source_files(const std::string& folder, const std::set<std::string>& extensions,
                                            bool deep = false) {
    const std::filesystem::path root = DEFT_SOURCE_DIR;
    std::vector<SourceFile> files;
    for (auto entry = std::filesystem::recursive_directory_iterator(root / folder);
         entry != std::filesystem::recursive_directory_iterator(); ++entry) {
        if (!deep && entry->is_directory()) entry.disable_recursion_pending();
        if (extensions.count(entry->path().extension().string()) == 0) continue;
        SourceFile file{entry->path().lexically_relative(root).string(), {}};
        std::ifstream in(entry->path());
        for (std::string line; std::getline(in, line);) file.lines.push_back(line);
        files.push_back(std::move(file));
    }
    return files;
}

inline std::vector<SourceFile> kernel_sources() {
    return source_files("kernels/cuda", {".cu", ".h", ".cuh"});
}

inline std::string without_comment(const std::string& line) {
    return line.substr(0, line.find("//"));
}

// The name before the first '(' at or after text[from], of a function whose attributes may have arguments of their own.
inline std::string function_name(std::string text) {
    for (std::size_t at; (at = text.find("__launch_bounds__")) != std::string::npos;)
        text.erase(at, text.find(')', at) + 1 - at);
    const std::size_t paren = text.find('(');
    if (paren == std::string::npos) return {};
    std::size_t end = paren, begin;
    while (end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) --end;
    for (begin = end;
         begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '_');)
        --begin;
    return text.substr(begin, end - begin);
}

// Every __global__ function and the file that has it.
inline std::map<std::string, std::string> kernels_in_sources() {
    std::map<std::string, std::string> kernels;
    for (const SourceFile& file : kernel_sources())
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            const std::size_t at = without_comment(file.lines[i]).find("__global__");
            if (at == std::string::npos) continue;
            std::string text = file.lines[i].substr(at);
            for (std::size_t next = i + 1; function_name(text).empty() && next < file.lines.size(); ++next)
                text += " " + without_comment(file.lines[next]);
            kernels[function_name(text)] = file.path;
        }
    return kernels;
}

// Every __syncthreads, __syncwarp and __threadfence.
inline std::set<kernels::cuda::emulator::Barrier> barriers_in_sources() {
    std::set<kernels::cuda::emulator::Barrier> barriers;
    for (const SourceFile& file : kernel_sources())
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            const std::string line = without_comment(file.lines[i]);
            for (const char* word : {"__syncthreads(", "__syncwarp(", "__threadfence("})
                if (line.find(word) != std::string::npos) barriers.insert({file.path, static_cast<int>(i) + 1});
        }
    return barriers;
}

}  // namespace deft::test
