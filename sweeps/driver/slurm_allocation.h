#pragma once
// The allocation of a Slurm job: its nodes, and what each has for the job.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/slurm.h"

namespace deft::sweeps {

struct SlurmAllocation {
    std::vector<int> node_cores;  // of each node, in Slurm's order
    std::optional<std::int64_t>
        node_mib;       // memory of the job on the node with most cores; nothing: Slurm does not count it
    int node_gpus = 0;  // of this node
};

// Nothing outside a job, or where its variables do not state its nodes.
std::optional<SlurmAllocation> slurm_allocation(const slurm::Variables& variables = slurm::own_variable);

// "4(x2),2" as {4, 4, 2}. Empty where it is anything else.
std::vector<int> slurm_counts(std::string_view text);

}  // namespace deft::sweeps
