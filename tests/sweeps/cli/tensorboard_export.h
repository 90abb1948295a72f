#pragma once
// deft report --format tensorboard on a tiny sweep, and the files that it leaves.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "tests/sweeps/program.h"

namespace deft::test {

inline Ran export_to(const TinySweep& sweep, const std::filesystem::path& folder,
                     const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"--root", sweep.root.string(), "--format", "tensorboard",
                                      "--out",  folder.string()};
    words.insert(words.end(), more.begin(), more.end());
    return sweep.deft("report", words);
}

// All files below the folder, with their bytes.
inline std::map<std::string, std::string> files_below(const std::filesystem::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file())
            files[std::filesystem::relative(entry.path(), folder).string()] = read_file(entry.path());
    return files;
}

}  // namespace deft::test
