#pragma once
// A job of a batch system: attempts that `deft job JOB_FOLDER` runs one after the other, or some side by side. The
// folder has job.json, which asks for them, job.jsonl, which says what the job had and how each ended, and its own log.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/slurm.h"

namespace deft::sweeps {

inline constexpr const char* kJobLines = "job.jsonl";

// The share of its nodes that each attempt takes, as in LaunchRequest.
struct JobShare {
    int nodes = 1, ranks = 1, cores = 1, gpus = 0;
};

struct BatchJob {
    std::string program;                      // absolute
    std::vector<std::filesystem::path> runs;  // absolute run folders, in their order
    std::vector<std::string> environment;     // of each attempt, "NAME=value"
    double grace_seconds = 0;                 // that each may take to save a checkpoint
    JobShare share = {};
    int at_once = 1;                       // attempts that run side by side
    int nodes = 1;                         // of the job
    std::vector<std::string> submit = {};  // the command that submits it
    std::string name = {};                 // at the batch system; that of the array, where it is a task of one
    int task = -1;                         // its number there; -1: a job of its own
};

void write_batch_job(const std::filesystem::path& folder, const BatchJob& job);
// Errors: io, config.
BatchJob read_batch_job(const std::filesystem::path& folder);

// The folders of the jobs that are the tasks of an array, in their order.
void write_job_array(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& jobs);
// The job folder of a task of the array; the folder itself where it has no array. Errors: io, config.
std::filesystem::path job_of_task(const std::filesystem::path& folder, const slurm::Variables& variables);

// Asks the job of an attempt on another machine to kill that attempt.
void write_kill_file(const std::filesystem::path& run_folder);
bool has_kill_file(const std::filesystem::path& run_folder);

// The cause that ended an attempt of a job. none: the attempt itself. signal: it stopped after the job had SIGTERM.
// overdue: it was killed, since it did not stop within the grace.
enum class RunEndCause { none, not_begun, out_of_memory, signal, overdue, kill_file };

struct RunEnd {
    int wait_status = 0;
    RunEndCause cause = RunEndCause::none;
};
// A file that cannot be written is a warning: the driver reads the journal in its place.
void append_job_line(const std::filesystem::path& job_folder, const Json& line);
// held_seconds: for which the attempt had its share of the job.
void note_run_end(const std::filesystem::path& job_folder, const std::filesystem::path& run_folder, const RunEnd& end,
                  double held_seconds = 0);
// Keys are names of run folders. A line that is torn or foreign is passed over.
std::map<std::string, RunEnd> read_run_ends(const std::filesystem::path& job_folder);

}  // namespace deft::sweeps
