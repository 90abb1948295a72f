#pragma once
// Variables of a Slurm job that srun reads as options of its own.

#include <string>
#include <vector>

#include "base/slurm.h"

namespace deft::sweeps {

// The names of those that are set and state the layout of the enclosing job: its tasks, cores, memory and cards. A step
// has a layout of its own, which these would change or contradict.
std::vector<std::string> layout_variables(const slurm::Variables& variables = slurm::own_variable);

}  // namespace deft::sweeps
