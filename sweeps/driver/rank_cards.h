#pragma once
// The GPUs of a slot of several ranks: each rank sees all of them, as exchanges between them want it, and its own
// first, which is the one that it uses.

#include <cstddef>
#include <string>

#include "base/slurm.h"

namespace deft::sweeps {

// CUDA_VISIBLE_DEVICES as rank 0 has it, for another rank of this machine: "A,B,C" of rank 1 is "B,C,A".
std::string own_card_first(const std::string& visible, int rank);

// The cards of one of several shares of them: share 1 of "0,1,2,3" with two cards a share has "2,3". Empty where there
// are fewer.
std::string cards_of_share(const std::string& visible, std::size_t share, int cards);

// The number of this rank among those of its machine, as mpirun or srun states it; `rank` where neither does.
int rank_of_machine(int rank, const slurm::Variables& variables = slurm::own_variable);

// Names the first cards of this machine in the environment, where nothing does: each rank on the hosts of a hostfile
// uses one of its own. Before use_own_card().
void show_cards(int count);

// Puts it into this process's environment, where that names any GPU. Before CUDA is used. rank: of this machine.
void use_own_card(int rank);

}  // namespace deft::sweeps
