#pragma once
// A trial whose ranks are the tasks of one Slurm step on several nodes: srun starts them, and each initializes MPI.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/slurm.h"
#include "sweeps/driver/run_folder.h"
#include "sweeps/driver/slurm_commands.h"

namespace deft::sweeps {

// Ranks that wait give their core away, since threads of others may want it.
inline constexpr const char* kYieldingRanks = "OMPI_MCA_mpi_yield_when_idle=1";

// The options of srun that make ranks of its tasks. A rank that fails ends the others, which would wait for it.
std::vector<std::string> rank_step_options(int tasks_of_node);

// Whether this process is a rank of such a step.
bool is_rank_of_step(const TrialFile& trial);
// Whether it is the one that claims the run folder.
bool is_first_of_step(const slurm::Variables& variables = slurm::own_variable);

// The command that asks for the number of nodes of this job, and the number. Nothing where the answer has none.
std::vector<std::string> job_nodes_argv();
std::optional<int> nodes_of_job(const SlurmReply& reply);

// The trial's wait status at the end of its step. Where rank 0 could not, it journals how the ranks ended: by the
// journal of another one, or by srun's words in the log. Nothing where neither names a rank that failed.
std::optional<int> end_of_rank_step(const std::filesystem::path& run_folder, int ranks);

}  // namespace deft::sweeps
