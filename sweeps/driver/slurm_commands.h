#pragma once
// Slurm's commands, called by argument lists with a time limit, and their answers.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sweeps/driver/launcher.h"

namespace deft::sweeps {

struct SlurmReply {
    bool is_whole = false;  // the command ended well within its time
    bool is_late = false;   // it did not end in time
    std::vector<std::string> lines;
    std::string complaint;  // the last line of its standard error
};
// A command that cannot be started has a complaint.
SlurmReply call_slurm(const std::vector<std::string>& argv, double seconds);

// Whether the command may do better later: the controller is down, or does not answer.
bool may_answer_later(const SlurmReply& reply);

// Whether `sbatch --test-only` found no nodes for the job. Nodes that are down or drained may come back, so only the
// queue shows whether the job can ever start.
bool lacks_nodes(const SlurmReply& reply);

// The job's number in the answer of `sbatch --parsable`: "12", "12;cluster". Nothing where the answer is torn.
std::optional<std::string> submitted_job(const SlurmReply& reply);

struct QueuedJob {
    std::string id, name, state, reason, nodes;
};
// The command that lists this user's jobs, with those that ended within Slurm's MinJobAge, and its answer. Nothing
// where the answer is not whole, or has a torn line: a job that it lacks is then not known to have ended.
std::vector<std::string> queue_argv();
std::optional<std::vector<QueuedJob>> queued_jobs(const SlurmReply& reply);

// The command that asks accounting for a job, and the state in its answer, as in "TIMEOUT" or "CANCELLED by 0".
// Nothing where accounting has no job of that number and name: numbers are used again.
std::vector<std::string> accounting_argv(const std::string& id);
std::optional<std::string> accounted_state(const SlurmReply& reply, const std::string& id, const std::string& name);

// Whether a job in this state runs no more. An unknown state counts as a live one.
bool is_ended_state(const std::string& state);

// The end that a state names; none for one that is not an end of the batch system's making.
BatchEnd batch_end_of(const std::string& state);

// Whether a job that waits for this reason will never start, though sbatch accepted it.
bool is_permanent(const std::string& reason);

}  // namespace deft::sweeps
