#pragma once
// Nodes of Slurm that the ranks of a trial span: where that works, and for how many trials at once.

#include <string>
#include <vector>

#include "base/slurm.h"
#include "sweeps/spec/slot_request.h"

namespace deft::sweeps {

// The number of trials at once, where each takes these cores on each of nodes_of_trial different nodes.
int trials_on_nodes(const std::vector<int>& node_cores, int cores_of_node, int nodes_of_trial);

// Errors: missing, where the job has too few nodes for a trial, or too few of them have the cores of its ranks there.
void require_room_for_ranks(const SlotRequest& request, int threads);

// Errors: missing, where no step or job of Slurm would start the ranks: on this machine alone, without MPI, or where
// srun has no pmix.
void require_ranks_on_nodes(const SlotRequest& request, const slurm::Variables& variables = slurm::own_variable);

}  // namespace deft::sweeps
