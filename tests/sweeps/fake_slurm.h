#pragma once
// Slurm's variables for one call, and an srun of a few shell lines.

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "base/files.h"
#include "base/slurm.h"
#include "tests/temporary_folder.h"

namespace deft::test {

using Texts = std::map<std::string, std::string>;

inline slurm::Variables variables_of(const Texts& texts) {
    return [texts](const char* name) -> const char* {
        const auto found = texts.find(name);
        return found == texts.end() ? nullptr : found->second.c_str();
    };
}

inline Texts with(Texts texts, const Texts& others) {
    for (const auto& [name, text] : others) texts[name] = text;
    return texts;
}

inline const Texts kTwoNodes = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_CPUS_PER_NODE", "4,2"}};
inline const Texts kOneNode = with(kTwoNodes, {{"SLURM_JOB_CPUS_PER_NODE", "4"}});
inline const Texts kInStep =
    with(kTwoNodes, {{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}});

// A PATH with this program first.
inline std::string path_with(const TemporaryFolder& folder, const std::string& program, const std::string& script) {
    write_file_atomically(folder.path() / program, script);
    std::filesystem::permissions(folder.path() / program, std::filesystem::perms::owner_all);
    return folder.path().string() + ":" + std::getenv("PATH");
}

inline std::string path_with_srun(const TemporaryFolder& folder, const std::string& script) {
    return path_with(folder, "srun", script);
}

inline constexpr const char *kSrunOfVersion = "#!/bin/bash\necho slurm-wlm 22.05.8\n",
                            *kFailingSrun = "#!/bin/bash\nexit 3\n", *kHangingSrun = "#!/bin/bash\nsleep 60\n";

}  // namespace deft::test
