#pragma once
// mpirun's messages on ranks and hosts, and those of the agent that reaches hosts, in the log of a trial.

#include <filesystem>
#include <istream>
#include <string>

namespace deft::sweeps {

// The first cause that the messages name, with the fix where there is one: "rank 1 on n2 was ended by signal 9
// (Killed)", "host n2 was lost: ...". Empty where they name none.
std::string failure_in_mpirun_log(std::istream& log);
std::string failure_in_mpirun_log(const std::filesystem::path& log);

// "rank 1", where mpirun has named the one that a signal ended; else "a rank".
std::string rank_named_in(const std::filesystem::path& log);

}  // namespace deft::sweeps
