#pragma once
// A trial on several ranks of this machine, or of the hosts of a hostfile. The process that the driver knows as the
// trial starts, watches and ends mpirun and its ranks.

#include <filesystem>

#include <optional>

#include "experiments/attempt.h"
#include "sweeps/driver/run_folder.h"
#include "sweeps/driver/signals.h"

namespace deft::sweeps {

// Starts this program on the trial's ranks, waits for their end and sees to it that the journal says how they ended,
// also where rank 0 could not: that of the rank which failed. Ends them all as timed out where a signal has stopped one
// while others wait for it, or where rank 0 breaks a promise of its journal. On several hosts, it sees the ranks of
// this one alone. There, it names a host that mpirun lost, and awaits journals that a network file system shows late.
// Returns an exit code, as run_attempt().
int run_ranks(const std::filesystem::path& run_folder, const TrialFile& trial, const SignalWatch& signals);

// The end that the journal of a rank above 0 records, with that rank's number; ranks write one only where they failed.
std::optional<journal::Ended> failure_of_another(const std::filesystem::path& run_folder, int ranks);
int exit_code_of(const journal::Ended& ended);

// Whether this process is one of the ranks that run_ranks() started for the trial. Errors: usage, where it was started
// as one and they are not its parents any more.
bool is_rank_of(const std::filesystem::path& run_folder, const TrialFile& trial);

// In one of those on the hosts of a hostfile, before the ranks meet: rank 0 claims the run folder.
void claim_as_rank_of_hosts(const std::filesystem::path& run_folder, const TrialFile& trial);

// In one of those, or in a task of a step of ranks (rank_step.h): joins the others, in a log of its own where it is not
// rank 0. Errors: config, where they are not as many as the trial has.
engine::Communicator join_ranks(const std::filesystem::path& run_folder, const TrialFile& trial);

}  // namespace deft::sweeps
