#pragma once
// deft doctor: what this machine and build offer, what they lack, and what that means.

#include <filesystem>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/slurm.h"
#include "kernels/cuda/product.h"
#include "sweeps/driver/cluster_probe.h"
#include "sweeps/spec/slurm_settings.h"

namespace deft::sweeps {

struct Finding {
    enum class State { ok, note, missing } state = State::ok;
    std::string subject;  // "CUDA toolkit"
    std::string found;    // "nvcc 13.0 at /usr/local/cuda/bin/nvcc"
    std::string meaning;  // the consequence and a fix; empty without a consequence
};

// `root`: where results would go. Looks only and writes nothing; a GPU runs a few products.
std::vector<Finding> examine(const std::filesystem::path& root);

// A GPU's path of these products, each of which runs twice: whether the library takes them, and repeats its bits.
Finding gpu_products(const std::vector<kernels::cuda::ProductShape>& shapes);

// Where trials can run, and where --launcher auto runs them. srun has 5 s to answer.
std::vector<Finding> launchers(const slurm::Variables& variables = slurm::own_variable);

// One job that tests the folder of results between this machine and a node; waits a minute for it.
std::vector<Finding> slurm_findings(const std::filesystem::path& root, const SlurmSettings& settings,
                                    const ProbeOptions& options = {});

std::string render(const std::vector<Finding>& findings);
// [{"state", "subject", "found", "meaning"}]
Json to_json(const std::vector<Finding>& findings);

}  // namespace deft::sweeps
